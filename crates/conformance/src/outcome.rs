//! How one case ended.

use serde::{Deserialize, Serialize};

use crate::{Case, Verdict, WireLog};

/// What a suite says of one run of a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// What the case came to.
    pub verdict: Verdict,
    /// How the connection ended, where that is judged by itself, as of WebSockets.
    pub closing: Option<Verdict>,
    /// One sentence: what was expected, and what came; or why the case was skipped.
    pub explanation: String,
}

/// How one case ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// What was to be found out.
    #[serde(flatten)]
    pub case: Case,
    /// What it came to.
    pub verdict: Verdict,
    /// How the connection ended, where that is judged by itself, as of WebSockets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub closing: Option<Verdict>,
    /// One sentence: what was expected, and what came; or why the case was skipped.
    pub explanation: String,
    /// How long the case took.
    pub seconds: f64,
    /// What went over the wire. Written to files only of cases that did not pass.
    #[serde(default, skip_serializing_if = "WireLog::is_empty")]
    pub wire: WireLog,
}

impl Judgement {
    /// A verdict and its sentence; nothing is said of the connection's end.
    pub fn new(verdict: Verdict, explanation: impl Into<String>) -> Self {
        Self {
            verdict,
            closing: None,
            explanation: explanation.into(),
        }
    }

    /// As the specification demands.
    pub fn pass(explanation: impl Into<String>) -> Self {
        Self::new(Verdict::Pass, explanation)
    }

    /// Against the specification.
    pub fn fail(explanation: impl Into<String>) -> Self {
        Self::new(Verdict::Fail, explanation)
    }

    /// Not run, for a reason.
    pub fn skipped(reason: impl Into<String>) -> Self {
        Self::new(Verdict::Skipped, reason)
    }

    /// The same with a verdict on how the connection ended.
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
