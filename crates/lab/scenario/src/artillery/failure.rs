//! Why a virtual user failed, with Artillery's names.

use std::{borrow::Cow, io};

use plimsoll_clients::{
    cause::Cause,
    dial::DialError,
    websocket::{ConnectError, ReceiveError, SendError},
};

use super::capture::MismatchError;

/// A failure of a user. Its text is a counter's name (`errors.<text>`), so it holds no addresses or values.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Failure(Cow<'static, str>);

impl Failure {
    pub(crate) fn new(text: impl Into<Cow<'static, str>>) -> Self {
        Self(text.into())
    }

    /// The text.
    pub(crate) fn text(&self) -> &str {
        &self.0
    }

    /// No answer in time.
    pub(crate) fn timeout() -> Self {
        Self::new("response timeout")
    }

    /// An error of the operating system.
    pub(crate) fn of_io(error: &io::Error) -> Self {
        Self::of_cause(&Cause::of_io(error))
    }

    /// Node's code for a cause if it has one, because people search for these.
    fn of_cause(cause: &Cause) -> Self {
        match cause {
            Cause::Refused => Self::new("ECONNREFUSED"),
            Cause::Reset => Self::new("ECONNRESET"),
            Cause::NoLocalPort => Self::new("EADDRNOTAVAIL"),
            Cause::NoFile => Self::new("EMFILE"),
            Cause::Unreachable => Self::new("EHOSTUNREACH"),
            Cause::TimedOut(_) => Self::new("ETIMEDOUT"),
            Cause::Status(status) => Self::new(format!("Unexpected server response: {status}")),
            cause => Self::new(cause.to_string()),
        }
    }
}

impl From<&DialError> for Failure {
    fn from(error: &DialError) -> Self {
        match error {
            DialError::NoSuchHost(_) => Self::new("ENOTFOUND"),
            DialError::Connect { source, .. } => Self::of_cause(&Cause::of_io(source)),
            _ => Self::new("EAI_AGAIN"),
        }
    }
}

impl From<ConnectError> for Failure {
    fn from(error: ConnectError) -> Self {
        Self::of_cause(&error.cause())
    }
}

impl From<ReceiveError> for Failure {
    fn from(error: ReceiveError) -> Self {
        Self::of_cause(&error.cause())
    }
}

impl From<SendError> for Failure {
    fn from(error: SendError) -> Self {
        Self::of_cause(&error.cause())
    }
}

impl From<MismatchError> for Failure {
    fn from(error: MismatchError) -> Self {
        Self::new(error.to_string())
    }
}
