//! `plimsoll runs export`: the summary of a run as a file, for `plimsoll report` and other machines.

use std::{
    fs,
    io::{self, Write},
    path::PathBuf,
};

use clap::{Parser, ValueHint};

use super::lookup::{history, one};
use crate::{
    exit::{Failure, Status},
    surroundings::Surroundings,
};

/// Write the summary of a run as JSON.
#[derive(Debug, Parser)]
pub(super) struct Options {
    /// Run: the beginning of its id, a tag, latest or latest~1.
    #[arg(value_name = "RUN")]
    run: String,
    /// Output file. Default: standard output.
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath)]
    output: Option<PathBuf>,
}

impl Options {
    pub(super) fn execute(self, surroundings: &Surroundings<'_>) -> Result<Status, Failure> {
        let history = history(surroundings)?;
        let run = one(&history, &self.run)?;
        let mut text = history.document(&run.id)?;
        text.push('\n');
        match &self.output {
            None => io::stdout().write_all(text.as_bytes())?,
            Some(path) => fs::write(path, text)
                .map_err(|error| io::Error::other(format!("cannot write {}: {error}", path.display())))?,
        }
        Ok(Status::Success)
    }
}
