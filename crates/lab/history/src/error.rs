//! Why the history cannot be read or written.

use std::{
    io,
    path::{Path, PathBuf},
};

use rusqlite::ErrorCode;
use thiserror::Error;

use crate::schema;

/// Why the history cannot be read or written. None of it can harm a run.
#[derive(Debug, Error)]
pub enum HistoryError {
    /// The folder cannot be made.
    #[error("cannot create the folder {folder}: {error}")]
    Folder {
        /// Which one.
        folder: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// Nobody knows whether there is a history.
    #[error("cannot look for {path}: {error}")]
    Hidden {
        /// The database.
        path: PathBuf,
        /// Why not.
        error: io::Error,
    },
    /// The file is not what it should be.
    #[error(
        "{path} is damaged, or no history of Plimsoll's ({problem}); move it away, and the next run begins a new one"
    )]
    Damaged {
        /// The database.
        path: PathBuf,
        /// How that is known.
        problem: String,
    },
    /// The file is of a later version of this program.
    #[error(
        "{path} was written by a newer version of Plimsoll: its format is {found}, and this version knows formats up to \
         {known}; run the newer version, or keep the runs of this one in another folder",
        known = schema::VERSION
    )]
    Newer {
        /// The database.
        path: PathBuf,
        /// Its format.
        found: i64,
    },
    /// Another process writes, for longer than is waited.
    #[error("{path} is locked by another process")]
    Locked {
        /// The database.
        path: PathBuf,
    },
    /// SQLite could not do it: no permission, no space.
    #[error("cannot use {path}: {error}")]
    Database {
        /// The database.
        path: PathBuf,
        /// Why.
        error: rusqlite::Error,
    },
    /// There is no such run.
    #[error(
        "there is no run `{reference}`; valid are the beginning of an id, a tag, `latest`, and `latest~1` for the one \
         before; `plimsoll runs list` shows them"
    )]
    Unknown {
        /// As it was given.
        reference: String,
    },
    /// The beginning of several ids.
    #[error("`{prefix}` is the beginning of several runs: {}; write more of the id", ids.join(", "))]
    Ambiguous {
        /// As it was given.
        prefix: String,
        /// Some of them.
        ids: Vec<String>,
    },
}

impl HistoryError {
    /// What SQLite says of the database at `path`.
    pub(crate) fn of_sqlite(path: &Path, error: rusqlite::Error) -> Self {
        let path = path.to_owned();
        match error.sqlite_error_code() {
            Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => Self::Damaged {
                path,
                problem: error.to_string(),
            },
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Locked { path },
            _ => Self::Database { path, error },
        }
    }
}
