//! Compares searches of `plimsoll line`, which have no summary: one search with another by their intervals.

use plimsoll_history::{History, counts_back};
use plimsoll_line::report::{Change, ChangeVerdict, Kept};

use super::lookup::{LINE, kinds, one, one_among};
use crate::exit::{Failure, Status};

/// Whether searches are compared. The first id or tag of all sides decides, and without one the newest run. Of a tag with
/// several runs, the newest decides.
pub(super) fn are_meant(history: &History, sides: &[&str]) -> Result<bool, Failure> {
    let mut names = sides.iter().flat_map(|side| side.split(','));
    let decisive = names.find(|name| !counts_back(name)).unwrap_or("latest");
    Ok(one(history, decisive)?.kind == LINE)
}

/// Compares each candidate with the baseline.
///
/// # Errors
/// A name stands for something other than one search.
pub(super) fn changes(
    history: &History,
    baseline: &str,
    candidates: &[&str],
) -> Result<Vec<Change>, Failure> {
    let baseline = search(history, baseline)?;
    let changes = candidates
        .iter()
        .map(|name| Ok(Change::new(&baseline, &search(history, name)?)));
    changes.collect()
}

/// The worst of all changes.
pub(super) fn status(changes: &[Change]) -> Status {
    let has = |verdict| changes.iter().any(|change| change.verdict == verdict);
    if has(ChangeVerdict::Worse) {
        Status::BadResult
    } else if has(ChangeVerdict::Inconclusive) {
        Status::CannotTell
    } else if has(ChangeVerdict::Better) {
        Status::Better
    } else {
        Status::Success
    }
}

fn search(history: &History, name: &str) -> Result<Kept, Failure> {
    if name.contains(',') {
        let problem =
            "a search of plimsoll line is compared with one other search; expected one name on each side";
        return Err(Failure::Usage(format!("{name}: {problem}")));
    }
    let run = one_among(history, name, kinds(true))?;
    let id = &run.id;
    if run.kind != LINE {
        let problem =
            "is no search of plimsoll line, but another side is one; compare a search with a search";
        return Err(Failure::Runtime(format!("run {id} {problem}").into()));
    }
    let kept = Kept::read(&history.document(id)?);
    kept.map_err(|error| Failure::Runtime(format!("run {id} {error}").into()))
}
