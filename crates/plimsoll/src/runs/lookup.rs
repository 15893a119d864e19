//! Finds the runs that the user names, and reads their summaries.

use plimsoll_history::{History, HistoryError, Kinds, Run, counts_back};
use plimsoll_report::Summary;

use super::{imported::IMPORTED, place};
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

/// Searches of `plimsoll line` alone, or all other runs.
pub(super) fn kinds(are_searches: bool) -> Kinds<'static> {
    if are_searches {
        Kinds::Only(LINE)
    } else {
        Kinds::Except(LINE)
    }
}

/// Finds the run that `reference` names. If several runs have that tag, it is the newest.
pub(super) fn one(history: &History, reference: &str) -> Result<Run, Failure> {
    one_among(history, reference, Kinds::All)
}

/// Finds the run that `reference` names. `latest` and tags count only runs of these kinds.
pub(super) fn one_among(history: &History, reference: &str, kinds: Kinds<'_>) -> Result<Run, Failure> {
    let found = several(history, reference, kinds)?;
    // A search that finds nothing is an error.
    found
        .into_iter()
        .next()
        .ok_or_else(|| Failure::Runtime(format!("there is no run `{reference}`").into()))
}

/// Finds the runs that `reference` names. `latest` and tags count only runs of these kinds.
pub(super) fn several(history: &History, reference: &str, kinds: Kinds<'_>) -> Result<Vec<Run>, Failure> {
    let among = match kinds {
        Kinds::Only(_) => "searches of plimsoll line",
        Kinds::Except(_) | Kinds::All => "runs, without searches of plimsoll line",
    };
    history.find_among(reference, kinds).map_err(|error| match error {
        HistoryError::Unknown { .. } if kinds != Kinds::All && counts_back(reference) => {
            let hint = "searches are compared with searches only; plimsoll runs list shows all, to be named by their ids";
            Failure::Runtime(format!("there is no `{reference}` among {among}: {hint}").into())
        }
        error => error.into(),
    })
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
    if run.kind == IMPORTED {
        return Err(Failure::Runtime(
            format!(
                "run {id} was imported and has figures without samples, which cannot be compared; plimsoll runs show {id} \
                 and plimsoll runs trend show them"
            )
            .into(),
        ));
    }
    let text = history.document(id)?;
    Summary::read(&text)
        .map_err(|error| Failure::Runtime(format!("the summary of run {id} cannot be read: {error}").into()))
}
