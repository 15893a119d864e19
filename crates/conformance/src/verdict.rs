//! The verdict of a case, in the words of Autobahn's test suite, so that results can be compared with its reports.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The verdict of a case. Ordered from the best to the worst, for display.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The target conforms to the specification.
    Pass,
    /// The specification allows the behaviour, but recommends a better one: for example a fault that is noticed late.
    NonStrict,
    /// Both behaviours are right, and the result shows which one the target has.
    Informational,
    /// The target does not have an optional feature, such as compression.
    Unimplemented,
    /// The case does not apply to this target, or could not be run here; the explanation says why.
    Skipped,
    /// Against the specification.
    Fail,
}

impl Verdict {
    /// All verdicts, from the best to the worst.
    pub const ALL: [Self; 6] = [
        Self::Pass,
        Self::NonStrict,
        Self::Informational,
        Self::Unimplemented,
        Self::Skipped,
        Self::Fail,
    ];

    /// The word for it in files and tables, for example `non-strict`.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::NonStrict => "non-strict",
            Self::Informational => "informational",
            Self::Unimplemented => "unimplemented",
            Self::Skipped => "skipped",
            Self::Fail => "fail",
        }
    }

    /// The verdict that a word stands for.
    pub fn of_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|verdict| verdict.word() == word)
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.word())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_those_of_files() {
        for verdict in Verdict::ALL {
            assert_eq!(Verdict::of_word(verdict.word()), Some(verdict));
            assert_eq!(serde_json::to_string(&verdict).unwrap(), format!("\"{verdict}\""));
        }
        assert_eq!(Verdict::of_word("PASS"), None);
    }

    #[test]
    fn the_worst_is_the_greatest() {
        assert!(Verdict::ALL.is_sorted());
    }
}
