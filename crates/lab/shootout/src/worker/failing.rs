//! Why a client did not get ready, or lost its connection: in words, because it may have happened on another machine.

use std::borrow::Cow;

use plimsoll_clients::cause::Cause;
use serde::{Deserialize, Serialize};

/// The failure of a client.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Failing {
    /// The cause by which it is counted.
    pub(crate) cause: Cow<'static, str>,
    /// The next step of a person who looks for the reason; `None` when there are too many reasons.
    advice: Option<Cow<'static, str>>,
    /// The failure in full, with addresses and the server's words.
    pub(crate) example: Cow<'static, str>,
}

impl Failing {
    /// The failure `error` for this cause.
    pub(super) fn new(cause: &Cause, error: &impl ToString) -> Self {
        Self {
            cause: cause.to_string().into(),
            advice: cause.advice().map(Cow::Borrowed),
            example: error.to_string().into(),
        }
    }

    /// The cause with the next step.
    pub(crate) fn described(&self) -> String {
        self.with_advice(&self.cause)
    }

    /// The failure in full with the next step.
    pub(crate) fn explained(&self) -> String {
        self.with_advice(&self.example)
    }

    fn with_advice(&self, text: &str) -> String {
        match &self.advice {
            Some(advice) => format!("{text}: {advice}"),
            None => text.to_owned(),
        }
    }
}
