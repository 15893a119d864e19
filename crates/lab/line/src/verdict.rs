//! The verdict of a search, in the words of all load tests (docs/reference/exit-codes.md, Verdicts).

use serde::{Deserialize, Serialize};

use crate::search::{End, Expectation};

/// The verdict of a search; the exit code follows from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// The line was found, or the expected load holds.
    Pass,
    /// Not even the lowest load holds, the target got worse, or the expected load does not hold.
    Fail,
    /// The search cannot tell: its budget was spent, the generator was the bottleneck, or the interval is on both sides of
    /// the expected load.
    Inconclusive,
    /// The search was ended before its result.
    Incomplete,
}

impl Verdict {
    /// The verdict of a search that ended so. With an expected load, only the expectation counts.
    pub fn new(end: End, expectation: Option<Expectation>) -> Self {
        match (end, expectation) {
            (End::Interrupted, _) => Self::Incomplete,
            (_, Some(Expectation::Met)) => Self::Pass,
            (_, Some(Expectation::Missed)) => Self::Fail,
            (_, Some(Expectation::Undecided)) => Self::Inconclusive,
            (End::Found | End::Max, None) => Self::Pass,
            (End::NothingHolds | End::Degraded, None) => Self::Fail,
            (End::Generator | End::Inconclusive(_), None) => Self::Inconclusive,
        }
    }

    /// The word for the verdict.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail => "fail",
            Self::Inconclusive => "inconclusive",
            Self::Incomplete => "incomplete",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::Budget;

    #[test]
    fn the_verdict_follows_from_the_end_and_the_expectation() {
        let ends = [
            (End::Found, "pass"),
            (End::Max, "pass"),
            (End::NothingHolds, "fail"),
            (End::Degraded, "fail"),
            (End::Generator, "inconclusive"),
            (End::Inconclusive(Budget::Time), "inconclusive"),
            (End::Interrupted, "incomplete"),
        ];
        for (end, expected) in ends {
            assert_eq!(Verdict::new(end, None).name(), expected, "{end:?}");
            for (expectation, word) in [
                (Expectation::Met, "pass"),
                (Expectation::Missed, "fail"),
                (Expectation::Undecided, "inconclusive"),
            ] {
                let expected = if end == End::Interrupted {
                    "incomplete"
                } else {
                    word
                };
                let verdict = Verdict::new(end, Some(expectation));
                assert_eq!(verdict.name(), expected, "{end:?} {expectation:?}");
                let json = serde_json::to_value(verdict).unwrap();
                assert_eq!(json, expected);
            }
        }
    }
}
