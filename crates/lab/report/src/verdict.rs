//! The verdict of a run: one vocabulary for terminals, pages, the history, JSON and exit codes
//! (docs/reference/exit-codes.md, Verdicts).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The verdict of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// The run got to its planned end, and every condition held.
    Pass,
    /// A condition did not hold: a threshold, the count of messages, a share of failures.
    Fail,
    /// Every condition held, but the figures are not the target's alone: the generator had no room, read replies
    /// late, or started less than planned.
    Doubtful,
    /// The run did not get to its planned end, or has no complete result.
    Incomplete,
}

impl Verdict {
    /// The word for the verdict.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail => "fail",
            Self::Doubtful => "doubtful",
            Self::Incomplete => "incomplete",
        }
    }
}
