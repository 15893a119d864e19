//! `plimsoll runs`: the runs of this machine, kept in a database: listed, shown, compared, tagged, exported, removed.

mod columns;
mod compare;
mod entry;
mod export;
mod import;
mod imported;
mod list;
mod lookup;
mod place;
mod rm;
mod saving;
mod searches;
mod show;
mod tag;
mod trend;

use std::path::PathBuf;

use clap::{Parser, Subcommand};

pub(crate) use self::{
    imported::Imported,
    list::{ago, object},
    lookup::LINE,
    saving::{Keeper, Marks, SaveFlags},
    trend::{MOST_RUNS, Trend, trends},
};
use crate::{
    exit::{Failure, Status},
    surroundings::Surroundings,
};

const EXAMPLES: &str = "\
Examples:
  plimsoll runs list                        the newest runs
  plimsoll runs show latest                 the summary of the newest one
  plimsoll runs compare latest~1 latest     is it better than the run before?
  plimsoll runs trend chat.js               its p95, losses and failures, run by run
  plimsoll runs tag latest main             tag a run; several runs may have the same tag
  plimsoll runs compare --baseline main latest
  plimsoll runs rm --older-than 30d
  plimsoll runs import summary.json         what k6 or Artillery measured

Name a run by the beginning of its id, by a tag, or as latest, latest~1, latest~2 and so on.
Runs are saved in $PLIMSOLL_DATA_DIR, or else in $XDG_DATA_HOME/plimsoll or ~/.local/share/plimsoll.";

/// Show saved runs, and compare them.
#[derive(Debug, Parser)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Options {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    List(list::Options),
    Show(show::Options),
    Compare(compare::Options),
    Trend(trend::Options),
    Tag(tag::Options),
    Rm(rm::Options),
    Export(export::Options),
    Import(import::Options),
}

impl Options {
    pub(crate) fn execute(self, surroundings: &Surroundings<'_>) -> Result<Status, Failure> {
        match self.command {
            Command::List(options) => options.execute(surroundings),
            Command::Show(options) => options.execute(surroundings),
            Command::Compare(options) => options.execute(surroundings),
            Command::Trend(options) => options.execute(surroundings),
            Command::Tag(options) => options.execute(surroundings),
            Command::Rm(options) => options.execute(surroundings),
            Command::Export(options) => options.execute(surroundings),
            Command::Import(options) => options.execute(surroundings),
        }
    }
}

/// The folder of saved runs.
///
/// # Errors
/// When there is no such place.
pub(crate) fn folder(surroundings: &Surroundings<'_>) -> Result<PathBuf, Failure> {
    Ok(place::folder(surroundings)?)
}
