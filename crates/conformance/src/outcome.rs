//! The outcome of one case.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use crate::{Case, Clause, Level, Verdict, WireLog};

/// The clause that a connection's end can break: a Close has to be answered, and no data may follow one.
static CLOSING: Clause = Clause::must("RFC 6455 §5.5.1");

/// A suite's judgement on one run of a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// The verdict of the case.
    pub verdict: Verdict,
    /// The verdict on the end of the connection, where it is judged separately, as for WebSockets; `None` otherwise.
    pub closing: Option<Verdict>,
    /// One sentence: the expected and the actual behaviour, or the reason why the case was skipped.
    pub explanation: String,
    /// The clause that the target broke; `None` if it is the clause of the case.
    pub against: Option<Clause>,
    /// The part of a graded case that the target did as hoped; `None` for all other cases.
    pub score: Option<Score>,
    /// The fault that keeps this case from being run, if it is one that other cases meet, too: a wrong handshake. Of all
    /// failures with the same text only the first is a failure.
    pub cause: Option<String>,
}

/// A part of a whole: 2 of 3 payloads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Score {
    /// The number of parts that are as hoped.
    pub kept: u32,
    /// The number of all parts.
    pub of: u32,
}

/// The outcome of one case.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// The case.
    #[serde(flatten)]
    pub case: Case,
    /// The verdict of the case.
    pub verdict: Verdict,
    /// The verdict on the end of the connection, where it is judged separately, as for WebSockets; `None` otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub closing: Option<Verdict>,
    /// One sentence: the expected and the actual behaviour, or the reason why the case was skipped.
    pub explanation: String,
    /// The clause that the target broke; `None` if it is the clause of the case.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub against: Option<Clause>,
    /// The part of a graded case that the target did as hoped; `None` for all other cases.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<Score>,
    /// The fault that other cases meet, too; `None` without one, and in files.
    #[serde(skip)]
    pub cause: Option<String>,
    /// The duration of the case in seconds.
    pub seconds: f64,
    /// The wire log. Files contain it only for cases that did not pass.
    #[serde(default, skip_serializing_if = "WireLog::is_empty")]
    pub wire: WireLog,
}

impl Judgement {
    /// A verdict and its sentence, without a verdict on the connection's end.
    pub fn new(verdict: Verdict, explanation: impl Into<String>) -> Self {
        Self {
            verdict,
            closing: None,
            explanation: explanation.into(),
            against: None,
            score: None,
            cause: None,
        }
    }

    /// The target conforms to the specification.
    pub fn pass(explanation: impl Into<String>) -> Self {
        Self::new(Verdict::Pass, explanation)
    }

    /// Against the specification.
    pub fn fail(explanation: impl Into<String>) -> Self {
        Self::new(Verdict::Fail, explanation)
    }

    /// The case was not run, for a reason.
    pub fn skipped(reason: impl Into<String>) -> Self {
        Self::new(Verdict::Skipped, reason)
    }

    /// The judgement with the clause that the target broke.
    pub fn against(self, clause: Clause) -> Self {
        Self {
            against: Some(clause),
            ..self
        }
    }

    /// The judgement with a fault that other cases meet, too.
    pub fn with_cause(self, cause: impl Into<String>) -> Self {
        Self {
            cause: Some(cause.into()),
            ..self
        }
    }

    /// The judgement of a graded case.
    pub fn with_score(self, score: Score) -> Self {
        Self {
            score: Some(score),
            ..self
        }
    }

    /// The judgement, no worse than its clause allows: the clause that was broken, or that of the case.
    pub(crate) fn within(self, level: Level) -> Self {
        let broken = self.against.as_ref().map_or(level, |clause| clause.level);
        let verdict = match (self.verdict, level) {
            (Verdict::Fail, _) => broken.worst(),
            (Verdict::NonStrict, Level::May | Level::Informational) => Verdict::Informational,
            (verdict, _) => verdict,
        };
        Self { verdict, ..self }
    }

    /// The judgement with a verdict on the connection's end.
    pub fn with_closing(self, closing: Verdict) -> Self {
        Self {
            closing: Some(closing),
            ..self
        }
    }
}

impl Outcome {
    /// The outcome of a case that was not run, for a reason.
    pub fn skipped(case: Case, reason: impl Into<String>) -> Self {
        Self {
            case,
            verdict: Verdict::Skipped,
            closing: None,
            explanation: reason.into(),
            against: None,
            score: None,
            cause: None,
            seconds: 0.0,
            wire: WireLog::default(),
        }
    }

    /// The clause that the outcome is about: that of the connection's end, if only the end is wrong.
    pub fn clause(&self) -> &Clause {
        let is_end_alone = self.closing == Some(Verdict::Fail) && self.verdict != Verdict::Fail;
        match &self.against {
            _ if is_end_alone => &CLOSING,
            Some(clause) => clause,
            None => &self.case.clause,
        }
    }

    /// Whether it is a failure whose cause is not among `known`, to which the cause is added.
    pub fn is_new_failure(&self, known: &mut HashSet<String>) -> bool {
        let is_known = self.cause.as_ref().is_some_and(|cause| known.contains(cause));
        known.extend(self.cause.clone());
        self.worst() == Verdict::Fail && !is_known
    }

    /// The worse one of the verdict and of that on the connection's end.
    pub fn worst(&self) -> Verdict {
        self.closing
            .map_or(self.verdict, |closing| closing.max(self.verdict))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CaseId;

    #[test]
    fn a_bad_end_spoils_the_case() {
        let worst = |verdict, closing| {
            let case = Case {
                id: CaseId::new("7.1.1"),
                title: "closes".into(),
                clause: Clause::must("RFC 6455 §7.1.2"),
            };
            Outcome {
                verdict,
                closing,
                ..Outcome::skipped(case, "")
            }
            .worst()
        };
        assert_eq!(worst(Verdict::Pass, None), Verdict::Pass);
        assert_eq!(worst(Verdict::Pass, Some(Verdict::Fail)), Verdict::Fail);
        assert_eq!(worst(Verdict::Fail, Some(Verdict::Pass)), Verdict::Fail);
    }

    #[test]
    fn a_verdict_is_no_worse_than_its_clause() {
        let should = Clause::should("RFC 6455 §7.1.7");
        let must = Clause::must("RFC 6455 §5.1");
        for (judgement, level, expected) in [
            (Judgement::fail("x"), Level::Must, Verdict::Fail),
            (Judgement::fail("x"), Level::Should, Verdict::NonStrict),
            (Judgement::fail("x"), Level::May, Verdict::Informational),
            (Judgement::fail("x"), Level::Informational, Verdict::Informational),
            (
                Judgement::fail("x").against(should),
                Level::Must,
                Verdict::NonStrict,
            ),
            (
                Judgement::fail("x").against(must),
                Level::Informational,
                Verdict::Fail,
            ),
            (Judgement::pass("x"), Level::Should, Verdict::Pass),
            (Judgement::skipped("x"), Level::May, Verdict::Skipped),
            (
                Judgement::new(Verdict::NonStrict, "x"),
                Level::Must,
                Verdict::NonStrict,
            ),
            (
                Judgement::new(Verdict::NonStrict, "x"),
                Level::Informational,
                Verdict::Informational,
            ),
        ] {
            assert_eq!(
                judgement.clone().within(level).verdict,
                expected,
                "{judgement:?} {level}"
            );
        }
    }
}
