//! The rows of the matrix: every case of any target, with the verdicts of all targets.

use std::collections::BTreeMap;

use crate::{Case, CaseId, Outcome, Results, Verdict};

/// The row of a case.
pub(super) struct Row<'a> {
    /// The number of the row on the page, for links.
    pub(super) number: usize,
    pub(super) case: &'a Case,
    /// The outcomes by target; `None` where the case was not run.
    pub(super) outcomes: Vec<Option<&'a Outcome>>,
}

impl Row<'_> {
    pub(super) fn is_passed(&self) -> bool {
        let mut outcomes = self.outcomes.iter();
        outcomes.all(|outcome| outcome.is_some_and(|outcome| outcome.worst() == Verdict::Pass))
    }
}

/// The rows by family, both ordered by the cases' ids: files may be from several runs with different selections.
pub(super) fn families(results: &[Results]) -> Vec<(String, Vec<Row<'_>>)> {
    let mut by_id: BTreeMap<&CaseId, Row<'_>> = BTreeMap::new();
    for (at, result) in results.iter().enumerate() {
        for outcome in &result.outcomes {
            let row = by_id.entry(&outcome.case.id).or_insert_with(|| Row {
                number: 0,
                case: &outcome.case,
                outcomes: vec![None; results.len()],
            });
            row.outcomes[at] = Some(outcome);
        }
    }
    let mut families: Vec<(String, Vec<Row<'_>>)> = Vec::new();
    for (number, mut row) in by_id.into_values().enumerate() {
        row.number = number;
        let name = row.case.id.family();
        match families.iter_mut().find(|(known, _)| known == name) {
            Some((_, rows)) => rows.push(row),
            None => families.push((name.to_owned(), vec![row])),
        }
    }
    families
}
