//! Results laid beside expectations: a change in either direction is a change.

use plimsoll_report::Style;

use super::{Expectation, Expectations, Verdicts};
use crate::{Case, CaseId, Outcome};

/// How results differ from what was expected.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// In the order of the cases; patterns without cases come last.
    pub changes: Vec<Change>,
    /// How many outcomes are as expected.
    pub n_same: usize,
}

/// One difference.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// The verdict is another one.
    Verdict {
        /// Whose.
        id: CaseId,
        /// What was known of it.
        expected: Expectation,
        /// What it is now.
        found: Verdicts,
        /// What the case says of it.
        explanation: String,
    },
    /// Nothing is known of the case.
    New {
        /// Which.
        id: CaseId,
        /// What it is now.
        found: Verdicts,
    },
    /// The suite has no such case.
    NoCase {
        /// As the file has it.
        pattern: String,
    },
}

impl Expectations {
    /// What is different in `outcomes` of some of `all` cases that the suite has.
    pub fn compare(&self, all: &[Case], outcomes: &[Outcome]) -> Comparison {
        let mut comparison = Comparison {
            changes: Vec::new(),
            n_same: 0,
        };
        for outcome in outcomes {
            let id = &outcome.case.id;
            let found = Verdicts::of(outcome);
            match self.of(id) {
                Some(expected) if expected.verdicts() == found => comparison.n_same += 1,
                Some(expected) => comparison.changes.push(Change::Verdict {
                    id: id.clone(),
                    expected: expected.clone(),
                    found,
                    explanation: outcome.explanation.clone(),
                }),
                None => comparison.changes.push(Change::New {
                    id: id.clone(),
                    found,
                }),
            }
        }
        let is_known = |entry: &&Expectation| !all.iter().any(|case| entry.pattern.matches(&case.id));
        let unknown = self.entries.iter().filter(is_known);
        comparison.changes.extend(unknown.map(|entry| Change::NoCase {
            pattern: entry.pattern.to_string(),
        }));
        comparison
    }
}

impl Comparison {
    /// In words, a line for each change.
    pub fn text(&self, style: Style) -> String {
        let same = match self.n_same {
            1 => "1 verdict".to_owned(),
            n => format!("{n} verdicts"),
        };
        if self.changes.is_empty() {
            return format!("{}: {same}\n", style.good("as expected"));
        }
        let n = self.changes.len();
        let noun = if n == 1 { "change" } else { "changes" };
        let head = style.bad(&format!("{n} {noun} against the expectations"));
        let mut text = format!("{head}; as expected: {same}\n");
        for change in &self.changes {
            text.push_str(&change.line(style));
        }
        text
    }
}

impl Change {
    fn line(&self, style: Style) -> String {
        match self {
            Self::Verdict {
                id,
                expected,
                found,
                explanation,
            } => {
                let was = expected.verdicts();
                let direction = if *found > was {
                    style.bad("worse ")
                } else {
                    style.good("better")
                };
                let why = match expected.reason.as_str() {
                    "" => String::new(),
                    reason => format!(" ({reason})"),
                };
                format!("  {direction}  {id}: expected {was}{why}, got {found}: {explanation}\n")
            }
            Self::New { id, found } => format!("  new     {id}: {found}, without an expectation\n"),
            Self::NoCase { pattern } => format!("  gone    {pattern}: the suite has no such case\n"),
        }
    }
}
