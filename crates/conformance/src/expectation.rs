//! Expectations: a committed file with the verdicts that a target is known to get, and why they are not passes.
//!
//! A line is a pattern of case ids, a verdict, and a sentence, which every verdict but `pass` needs:
//!
//! ```text
//! # What the file is about.
//! 6.*     pass
//! 6.4.1   non-strict         fails at the end of the message, not at the first wrong byte
//! 7.1.5   pass/fail          answers rightly, and drops the connection without a close frame
//! ```
//!
//! Of several lines about a case the last one counts. A second verdict after `/` is that on the connection's end.

use std::fmt;

use crate::{CaseId, Outcome, Pattern, Verdict};

mod comparison;
mod reading;
mod writing;

pub use self::{
    comparison::{Change, Comparison},
    reading::{Mistake, Mistakes},
};

/// The verdicts that a target is known to get.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Expectations {
    /// Comments at the head of the file, with their `#`. They are written again.
    pub header: Vec<String>,
    /// In the order of the file: of several about a case, the last one counts.
    pub entries: Vec<Expectation>,
}

/// What some cases are known to come to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expectation {
    /// Which cases.
    pub pattern: Pattern,
    /// Their verdict.
    pub verdict: Verdict,
    /// The verdict on the connection's end. A pass where none is named; suites that do not judge the end get one, too.
    pub closing: Verdict,
    /// Why it is no pass; may be empty if it is one.
    pub reason: String,
}

impl Expectations {
    /// What is known of a case.
    pub fn of(&self, id: &CaseId) -> Option<&Expectation> {
        self.entries.iter().rev().find(|entry| entry.pattern.matches(id))
    }
}

impl Expectation {
    /// Both verdicts, as the file writes them.
    pub fn verdicts(&self) -> Verdicts {
        Verdicts(self.verdict, self.closing)
    }
}

/// The verdict of a case and that on the connection's end: `pass`, `pass/fail`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Verdicts(Verdict, Verdict);

impl Verdicts {
    /// Those of an outcome. Where the end was not judged, nothing is wrong with it.
    pub fn of(outcome: &Outcome) -> Self {
        Self(outcome.verdict, outcome.closing.unwrap_or(Verdict::Pass))
    }

    fn worst(self) -> Verdict {
        self.0.max(self.1)
    }
}

impl fmt::Display for Verdicts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.1 {
            Verdict::Pass => f.pad(self.0.word()),
            closing => f.pad(&format!("{}/{closing}", self.0)),
        }
    }
}

#[cfg(test)]
mod tests;
