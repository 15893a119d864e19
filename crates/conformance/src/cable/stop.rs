//! Why a scenario ended before its end.

use crate::{Clause, Judgement, Score, Verdict};

/// Why a scenario ended before its end: with `?` the first thing that is not as it should be decides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Stop {
    verdict: Verdict,
    explanation: String,
    /// The clause that was broken, if it is not that of the case.
    against: Option<Clause>,
    /// The part that was as hoped, of a graded case.
    score: Option<Score>,
}

/// What a scenario comes to: everything was as it should be, or the first thing that was not.
pub(super) type Checked<T = ()> = Result<T, Stop>;

impl Stop {
    /// Something is wrong: what was expected, and what came.
    pub(super) fn fail(explanation: impl Into<String>) -> Self {
        Self::with(Verdict::Fail, explanation)
    }

    /// The target does not have what the scenario needs.
    pub(super) fn skip(reason: impl Into<String>) -> Self {
        Self::with(Verdict::Skipped, reason)
    }

    /// Allowed, though something else is better.
    pub(super) fn non_strict(explanation: impl Into<String>) -> Self {
        Self::with(Verdict::NonStrict, explanation)
    }

    /// Both ways are right.
    pub(super) fn inform(explanation: impl Into<String>) -> Self {
        Self::with(Verdict::Informational, explanation)
    }

    fn with(verdict: Verdict, explanation: impl Into<String>) -> Self {
        Self {
            verdict,
            explanation: explanation.into(),
            against: None,
            score: None,
        }
    }

    /// A graded case: it passes if all is as hoped; otherwise it is worth knowing how much is.
    pub(super) fn graded(score: Score, explanation: impl Into<String>) -> Self {
        let verdict = if score.kept == score.of {
            Verdict::Pass
        } else {
            Verdict::Informational
        };
        Self {
            score: Some(score),
            ..Self::with(verdict, explanation)
        }
    }

    /// The same, with the clause that was broken.
    pub(super) fn against(self, clause: Clause) -> Self {
        Self {
            against: Some(clause),
            ..self
        }
    }

    pub(super) fn judgement(self) -> Judgement {
        Judgement {
            against: self.against,
            score: self.score,
            ..Judgement::new(self.verdict, self.explanation)
        }
    }
}
