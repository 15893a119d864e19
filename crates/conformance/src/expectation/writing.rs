//! Expectations written anew from results, with the sentences that are there.

use std::{collections::BTreeMap, fmt};

use super::{Expectation, Expectations, Verdicts};
use crate::{Case, CaseId, Outcome, Pattern, Verdict};

/// The known verdicts of a case, and the sentence in the file.
type Known = (Verdicts, String);

/// A case with its expectation, if it is known.
type Entry<'a> = (&'a CaseId, Option<Known>);

impl Expectations {
    /// The text of a file that makes `outcomes` expected. The sentence of an unchanged verdict stays; a new verdict
    /// gets the explanation of its case. Expectations of cases that were not run stay, too.
    #[must_use]
    pub fn updated(&self, all: &[Case], outcomes: &[Outcome]) -> Self {
        let outcomes: BTreeMap<_, _> = outcomes
            .iter()
            .map(|outcome| (&outcome.case.id, outcome))
            .collect();
        let known = |id: &CaseId| match (outcomes.get(id), self.of(id)) {
            (Some(outcome), old) => Some(known(outcome, old)),
            (None, Some(old)) => Some((old.verdicts(), old.reason.clone())),
            (None, None) => None,
        };
        let mut families: Vec<(&str, Vec<Entry<'_>>)> = Vec::new();
        for case in all {
            let name = case.id.family();
            let entry = (&case.id, known(&case.id));
            match families.iter_mut().find(|(family, _)| *family == name) {
                Some((_, cases)) => cases.push(entry),
                None => families.push((name, vec![entry])),
            }
        }
        let entries = families
            .iter()
            .flat_map(|(name, cases)| family(name, cases, all))
            .collect();
        Self {
            header: self.header.clone(),
            entries,
        }
    }
}

fn known(outcome: &Outcome, old: Option<&Expectation>) -> Known {
    let found = Verdicts::of(outcome);
    let reason = match old {
        Some(old) if old.verdicts() == found => old.reason.clone(),
        _ if found.worst() == Verdict::Pass => String::new(),
        _ => sentence(&outcome.explanation),
    };
    (found, reason)
}

/// On one line, and never empty.
fn sentence(explanation: &str) -> String {
    let words: Vec<_> = explanation.split_whitespace().collect();
    match words.as_slice() {
        [] => "the case gives no reason".to_owned(),
        _ => words.join(" "),
    }
}

/// One line for the common verdict of a family, then lines for the cases that differ from it.
fn family(name: &str, cases: &[Entry<'_>], all: &[Case]) -> Vec<Expectation> {
    let common = common(name, cases, all);
    let mut entries = Vec::new();
    if let Some((pattern, known)) = &common {
        entries.push(entry(pattern.clone(), known));
    }
    for (id, known) in cases {
        let Some(known) = known else { continue };
        if common.as_ref().is_none_or(|(_, common)| common != known) {
            entries.push(entry(Pattern::new(id.as_str()), known));
        }
    }
    entries
}

/// The pattern of a whole family, if it matches no other case and all cases of the family are known, and the verdicts
/// that several of them share.
fn common(name: &str, cases: &[Entry<'_>], all: &[Case]) -> Option<(Pattern, Known)> {
    let separator = if cases.iter().any(|(id, _)| id.as_str().contains('/')) {
        '/'
    } else {
        '.'
    };
    let pattern = Pattern::new(format!("{name}{separator}*"));
    let is_all = cases
        .iter()
        .all(|(id, known)| known.is_some() && pattern.matches(id));
    let is_only = all.iter().filter(|case| pattern.matches(&case.id)).count() == cases.len();
    if !is_all || !is_only {
        return None;
    }
    let mut counts: Vec<(&Known, usize)> = Vec::new();
    for known in cases.iter().filter_map(|(_, known)| known.as_ref()) {
        match counts.iter_mut().find(|(other, _)| *other == known) {
            Some((_, n)) => *n += 1,
            None => counts.push((known, 1)),
        }
    }
    // Of several that are equally common, the first one.
    let most = counts.iter().rev().max_by_key(|(_, n)| n);
    most.filter(|(_, n)| *n > 1)
        .map(|(known, _)| (pattern, (*known).clone()))
}

fn entry(pattern: Pattern, (Verdicts(verdict, closing), reason): &Known) -> Expectation {
    Expectation {
        pattern,
        verdict: *verdict,
        closing: *closing,
        reason: reason.clone(),
    }
}

impl fmt::Display for Expectations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for line in &self.header {
            writeln!(f, "{line}")?;
        }
        if !self.header.is_empty() {
            writeln!(f)?;
        }
        let widths = self
            .entries
            .iter()
            .map(|entry| entry.pattern.as_str().chars().count());
        let width = widths.max().unwrap_or(0);
        for entry in &self.entries {
            let (pattern, verdicts) = (&entry.pattern, entry.verdicts());
            let line = format!("{pattern:width$}  {verdicts:14}  {}", entry.reason);
            writeln!(f, "{}", line.trim_end())?;
        }
        Ok(())
    }
}
