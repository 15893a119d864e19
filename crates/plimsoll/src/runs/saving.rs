//! Saves every run at its end. A failure is one warning: results and exit code stay unchanged.

use std::{
    io::{self, Write},
    path::PathBuf,
};

use clap::Args;
use plimsoll_history::{History, Run};
use plimsoll_report::Summary;

use super::{
    entry,
    place::{self, NoPlace},
};
use crate::{exit::Failure, surroundings::Surroundings};

/// Whether a run is kept.
#[derive(Clone, Copy, Debug, Default, Args)]
pub(crate) struct SaveFlags {
    /// Save this run for `plimsoll runs` (the default), even if the variable PLIMSOLL_NO_SAVE is set.
    #[arg(long, overrides_with = "no_save")]
    save: bool,
    /// Do not save this run for `plimsoll runs`; the variable PLIMSOLL_NO_SAVE has the same effect.
    #[arg(long, overrides_with = "save")]
    no_save: bool,
}

impl SaveFlags {
    /// Prepares to save the run at its end. With `is_quiet` only failures are reported.
    pub(crate) fn keeper(self, is_quiet: bool, surroundings: &Surroundings<'_>) -> Keeper {
        let is_unwanted = surroundings.variable("PLIMSOLL_NO_SAVE").is_some() && !self.save;
        let is_refused = self.no_save || is_unwanted;
        Keeper {
            folder: (!is_refused).then(|| place::folder(surroundings)),
            is_quiet,
            marks: Marks::default(),
        }
    }
}

/// The marks that a run has from its beginning. `plimsoll runs tag` changes them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Marks {
    /// Valid tags.
    pub(crate) tags: Vec<String>,
    pub(crate) note: Option<String>,
}

/// Keeps a run.
#[derive(Debug)]
pub(crate) struct Keeper {
    /// `None` when nothing is to be kept.
    folder: Option<Result<PathBuf, NoPlace>>,
    is_quiet: bool,
    marks: Marks,
}

impl Keeper {
    /// Keeps the run with these marks.
    pub(crate) fn mark(&mut self, marks: Marks) {
        self.marks = marks;
    }

    /// Keeps a run, and says on stderr under which id, or why not.
    pub(crate) fn keep(self, summary: &Summary) {
        let run = Run {
            tags: self.marks.tags.clone(),
            note: self.marks.note.clone(),
            ..entry::of(summary)
        };
        self.keep_as(&run, || Ok(plimsoll_report::json(summary)?));
    }

    /// Keeps a run that has no summary, by its columns and its JSON, and says on stderr under which id, or why not.
    pub(crate) fn keep_as(self, run: &Run, json: impl FnOnce() -> Result<String, Failure>) {
        let Some(folder) = self.folder else { return };
        let line = match save(run, json, folder) {
            Ok(()) if self.is_quiet => return,
            Ok(()) => format!("saved as {}; plimsoll runs show latest", run.id),
            Err(failure) => format!("warning: the run is not saved: {}", failure.message()),
        };
        // A closed stderr has no reader, so the error is ignored.
        let _nobody_reads = writeln!(io::stderr(), "{line}");
    }
}

fn save(
    run: &Run,
    json: impl FnOnce() -> Result<String, Failure>,
    folder: Result<PathBuf, NoPlace>,
) -> Result<(), Failure> {
    let mut history = History::open(&folder?)?;
    history.save(run, &json()?)?;
    Ok(())
}
