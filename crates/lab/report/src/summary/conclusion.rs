//! The verdict of a run in its summary.

use plimsoll_load::attempts::Attempts;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{End, Summary};
use crate::verdict::Verdict;

/// The end of the command that made a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Conclusion {
    /// The verdict.
    pub verdict: Verdict,
    /// The exit code of the command.
    pub exit_code: u8,
    /// Why the verdict is not `pass`, as the command said it. `None` if it said nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl Summary {
    /// The verdict of the run: that of its command, or, in summaries of older versions, the one that follows from the
    /// figures.
    pub fn verdict(&self) -> Verdict {
        match &self.conclusion {
            Some(conclusion) => conclusion.verdict,
            None => self.implied_verdict(),
        }
    }

    fn implied_verdict(&self) -> Verdict {
        match self.end {
            End::SetupFailed { .. } | End::Aborted { .. } | End::Shutdown => return Verdict::Incomplete,
            End::Complete | End::ThresholdsCrossed => {}
        }
        if self.n_lost_agents() > 0 {
            return Verdict::Incomplete;
        }
        let has_crossed = self.thresholds.iter().any(|threshold| !threshold.passed);
        let has_lost = self.losses.is_some_and(|losses| losses.lost > 0);
        let has_failed = self.attempts().iter().any(Attempts::have_all_failed);
        if has_crossed || has_lost || has_failed {
            Verdict::Fail
        } else if self.generator.doubtful {
            Verdict::Doubtful
        } else {
            Verdict::Pass
        }
    }
}
