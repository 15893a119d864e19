//! Every run is kept at its end. Whatever goes wrong with that is one warning: results and exit code stay as they are.

use std::{
    io::{self, Write},
    path::PathBuf,
};

use clap::Args;
use plimsoll_history::History;
use plimsoll_report::Summary;

use super::{
    entry,
    place::{self, NoPlace},
};
use crate::{exit::Failure, surroundings::Surroundings};

/// Whether a run is kept.
#[derive(Clone, Copy, Debug, Default, Args)]
pub(crate) struct SaveFlags {
    /// Do not keep this run for `plimsoll runs`; the variable PLIMSOLL_NO_SAVE does the same.
    #[arg(long)]
    no_save: bool,
}

impl SaveFlags {
    /// Who keeps the run when it is over. `is_quiet`: nothing is said of it unless it fails.
    pub(crate) fn keeper(self, is_quiet: bool, surroundings: &Surroundings<'_>) -> Keeper {
        let is_refused = self.no_save || surroundings.variable("PLIMSOLL_NO_SAVE").is_some();
        Keeper {
            folder: (!is_refused).then(|| place::folder(surroundings)),
            is_quiet,
        }
    }
}

/// Keeps a run.
#[derive(Debug)]
pub(crate) struct Keeper {
    /// `None` when nothing is to be kept.
    folder: Option<Result<PathBuf, NoPlace>>,
    is_quiet: bool,
}

impl Keeper {
    /// Keeps a run, and says on stderr under which id, or why not.
    pub(crate) fn keep(self, summary: &Summary) {
        let Some(folder) = self.folder else { return };
        let line = match save(summary, folder) {
            Ok(()) if self.is_quiet => return,
            Ok(()) => format!("saved as {}; plimsoll runs show latest", summary.metadata.id),
            Err(failure) => format!("warning: the run is not kept: {}", failure.message()),
        };
        // If stderr is closed there is nobody to tell.
        let _nobody_reads = writeln!(io::stderr(), "{line}");
    }
}

fn save(summary: &Summary, folder: Result<PathBuf, NoPlace>) -> Result<(), Failure> {
    let mut history = History::open(&folder?)?;
    let document = plimsoll_report::json(summary)?;
    history.save(&entry::of(summary), &document)?;
    Ok(())
}
