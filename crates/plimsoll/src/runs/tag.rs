//! `plimsoll runs tag`: names for runs, and notes.

use std::io::{self, Write};

use clap::Parser;
use plimsoll_history::check_tag;

use super::lookup::{history, one};
use crate::{
    exit::{Failure, Status},
    surroundings::Surroundings,
};

const EXAMPLES: &str = "\
Examples:
  plimsoll runs tag latest main release-1.2
  plimsoll runs tag latest --note 'after the index was added'
  plimsoll runs tag 20261122T1003 --remove main";

/// Add tags to a run, or remove them.
#[derive(Debug, Parser)]
#[command(after_help = EXAMPLES)]
pub(super) struct Options {
    /// Run: the beginning of its id, a tag, latest or latest~1.
    #[arg(value_name = "RUN")]
    run: String,
    /// Tags to add.
    #[arg(value_name = "TAG", value_parser = valid_tag)]
    tags: Vec<String>,
    /// Remove this tag; may be given several times.
    #[arg(long, value_name = "TAG")]
    remove: Vec<String>,
    /// Set the note of the run; an empty text removes it.
    #[arg(long, value_name = "TEXT")]
    note: Option<String>,
}

/// A tag, if it is valid.
pub(super) fn valid_tag(text: &str) -> Result<String, String> {
    check_tag(text)
        .map(|()| text.to_owned())
        .map_err(|error| error.to_string())
}

impl Options {
    pub(super) fn execute(self, surroundings: &Surroundings<'_>) -> Result<Status, Failure> {
        if self.tags.is_empty() && self.remove.is_empty() && self.note.is_none() {
            return Err(Failure::Usage(
                "nothing to do: expected a tag, --remove TAG or --note TEXT, for example: plimsoll runs tag latest main"
                    .to_owned(),
            ));
        }
        let mut history = history(surroundings)?;
        let run = one(&history, &self.run)?;
        history.tag(&run.id, &self.tags, &self.remove)?;
        if let Some(note) = &self.note {
            history.note(&run.id, note)?;
        }
        let run = one(&history, &run.id)?;
        let more = run.tags.iter().map(|tag| format!("[{tag}]")).chain(run.note);
        writeln!(
            io::stderr(),
            "{}  {}",
            run.id,
            more.collect::<Vec<_>>().join("  ")
        )?;
        Ok(Status::Success)
    }
}
