//! `plimsoll runs`: the runs of this machine, kept in a database: listed, shown, compared, tagged, exported, removed.

mod compare;
mod entry;
mod export;
mod list;
mod place;
mod rm;
mod saving;
mod show;
mod tag;

use std::path::PathBuf;

use clap::{Parser, Subcommand};
use plimsoll_history::{History, Run};
use plimsoll_report::Summary;

pub(crate) use self::{
    compare::status,
    list::{ago, object},
    saving::{Keeper, SaveFlags},
};
use crate::{
    exit::{Failure, Status},
    surroundings::Surroundings,
};

/// The kind of a search of `plimsoll line`, which has no summary.
pub(crate) const LINE: &str = "line";

const EXAMPLES: &str = "\
Examples:
  plimsoll runs list                        the newest runs
  plimsoll runs show latest                 the summary of the newest one
  plimsoll runs compare latest~1 latest     is it better than the run before?
  plimsoll runs tag latest main             tag a run; several runs may have the same tag
  plimsoll runs compare --baseline main latest
  plimsoll runs rm --older-than 30d

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
    Tag(tag::Options),
    Rm(rm::Options),
    Export(export::Options),
}

impl Options {
    pub(crate) fn execute(self, surroundings: &Surroundings<'_>) -> Result<Status, Failure> {
        match self.command {
            Command::List(options) => options.execute(surroundings),
            Command::Show(options) => options.execute(surroundings),
            Command::Compare(options) => options.execute(surroundings),
            Command::Tag(options) => options.execute(surroundings),
            Command::Rm(options) => options.execute(surroundings),
            Command::Export(options) => options.execute(surroundings),
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

/// The history; an error when there is none yet.
fn history(surroundings: &Surroundings<'_>) -> Result<History, Failure> {
    let folder = place::folder(surroundings)?;
    History::open_existing(&folder)?.ok_or_else(|| {
        let message = format!(
            "there are no runs in {} yet; every load command saves its run there, for example: plimsoll demo",
            folder.display()
        );
        Failure::Runtime(message.into())
    })
}

/// The one run that is meant; of a tag that several bear the newest.
fn one(history: &History, reference: &str) -> Result<Run, Failure> {
    let found = history.find(reference)?;
    // A search that finds nothing is an error.
    found
        .into_iter()
        .next()
        .ok_or_else(|| Failure::Runtime(format!("there is no run `{reference}`").into()))
}

/// The summary of a run.
fn summary(history: &History, run: &Run) -> Result<Summary, Failure> {
    let id = &run.id;
    if run.kind == LINE {
        return Err(Failure::Runtime(
            format!("run {id} is a search of plimsoll line, which has no summary to compare; plimsoll runs show {id}")
                .into(),
        ));
    }
    let text = history.document(id)?;
    Summary::read(&text)
        .map_err(|error| Failure::Runtime(format!("the summary of run {id} cannot be read: {error}").into()))
}
