//! Finds the runs that the user names, and reads their summaries.

use plimsoll_history::{History, Run};
use plimsoll_report::Summary;

use super::place;
use crate::{exit::Failure, surroundings::Surroundings};

/// The kind of a search of `plimsoll line`, which has no summary.
pub(crate) const LINE: &str = "line";

/// Opens the history. An error when no run is saved yet.
pub(super) fn history(surroundings: &Surroundings<'_>) -> Result<History, Failure> {
    let folder = place::folder(surroundings)?;
    History::open_existing(&folder)?.ok_or_else(|| {
        let message = format!(
            "there are no runs in {} yet; every load command saves its run there, for example: plimsoll demo",
            folder.display()
        );
        Failure::Runtime(message.into())
    })
}

/// Finds the run that `reference` names. If several runs have that tag, it is the newest.
pub(super) fn one(history: &History, reference: &str) -> Result<Run, Failure> {
    let found = history.find(reference)?;
    // A search that finds nothing is an error.
    found
        .into_iter()
        .next()
        .ok_or_else(|| Failure::Runtime(format!("there is no run `{reference}`").into()))
}

/// Reads the summary of a run.
pub(super) fn summary(history: &History, run: &Run) -> Result<Summary, Failure> {
    let id = &run.id;
    if run.kind == LINE {
        return Err(Failure::Runtime(
            format!("run {id} is a search of plimsoll line, which is compared with another search only; plimsoll runs show {id}")
                .into(),
        ));
    }
    let text = history.document(id)?;
    Summary::read(&text)
        .map_err(|error| Failure::Runtime(format!("the summary of run {id} cannot be read: {error}").into()))
}
