//! Saved runs: one embedded SQLite database in one folder.
//!
//! A run is saved as the text of its summary and a few columns for searching. This crate does not know the contents of
//! the text, executors, terminals, or the location of the folder. Several processes may write at once.
//!
//! ```
//! # let folder = std::env::temp_dir().join(format!("plimsoll-history-doc-{}", std::process::id()));
//! use plimsoll_history::{Filter, History, Run};
//!
//! let mut history = History::open(&folder)?;
//! let run = Run { id: "01JD0".to_owned(), name: "chat.js".to_owned(), ..Run::default() };
//! history.save(&run, r#"{"version": 2}"#)?;
//! let found = history.find("latest")?;
//! assert_eq!(found, history.list(&Filter::default())?);
//! assert_eq!(history.document(&found[0].id)?, r#"{"version": 2}"#);
//! # std::fs::remove_dir_all(&folder)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod document;
mod error;
mod history;
mod reference;
mod run;
mod schema;

pub use self::{
    error::HistoryError,
    history::{DATABASE, History},
    reference::{NoTag, check_tag, counts_back},
    run::{Choices, Filter, Kinds, Run},
};
