//! The outcome of one case.

use serde::{Deserialize, Serialize};

use crate::{Case, Verdict, WireLog};

/// A suite's judgement on one run of a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// The verdict of the case.
    pub verdict: Verdict,
    /// The verdict on the end of the connection, where it is judged separately, as for WebSockets; `None` otherwise.
    pub closing: Option<Verdict>,
    /// One sentence: the expected and the actual behaviour, or the reason why the case was skipped.
    pub explanation: String,
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

    /// The judgement with a verdict on the connection's end.
    pub fn with_closing(self, closing: Verdict) -> Self {
        Self {
            closing: Some(closing),
            ..self
        }
    }
}

impl Outcome {
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
                clause: "RFC 6455 §7.1.2".into(),
            };
            Outcome {
                case,
                verdict,
                closing,
                explanation: String::new(),
                seconds: 0.0,
                wire: WireLog::default(),
            }
            .worst()
        };
        assert_eq!(worst(Verdict::Pass, None), Verdict::Pass);
        assert_eq!(worst(Verdict::Pass, Some(Verdict::Fail)), Verdict::Fail);
        assert_eq!(worst(Verdict::Fail, Some(Verdict::Pass)), Verdict::Fail);
    }
}
