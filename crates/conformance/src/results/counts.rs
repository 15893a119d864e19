//! The number of outcomes with each verdict.

use crate::{Outcome, Verdict};

/// Numbers of outcomes by verdict. A bad end of the connection counts as the case's verdict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts([usize; Verdict::ALL.len()]);

impl Counts {
    /// The outcomes counted.
    pub fn of<'a>(outcomes: impl IntoIterator<Item = &'a Outcome>) -> Self {
        let mut counts = Self::default();
        for outcome in outcomes {
            counts.0[outcome.worst() as usize] += 1;
        }
        counts
    }

    /// The number of outcomes with this verdict.
    pub fn n(self, verdict: Verdict) -> usize {
        self.0[verdict as usize]
    }

    /// The number of all outcomes.
    pub fn total(self) -> usize {
        self.0.iter().sum()
    }

    /// The counts that are not zero, from the best to the worst: `15 pass, 1 fail`.
    pub fn in_words(self) -> String {
        let there = Verdict::ALL.into_iter().filter(|&verdict| self.n(verdict) > 0);
        let words: Vec<_> = there
            .map(|verdict| format!("{} {verdict}", self.n(verdict)))
            .collect();
        match words.as_slice() {
            [] => "nothing".to_owned(),
            _ => words.join(", "),
        }
    }
}
