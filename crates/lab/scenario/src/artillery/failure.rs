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
#[error("{text}")]
pub(crate) struct Failure {
    text: Cow<'static, str>,
    /// The cause in words, with the next step; `None` when the text says everything.
    cause: Option<String>,
}

impl Failure {
    pub(crate) fn new(text: impl Into<Cow<'static, str>>) -> Self {
        Self {
            text: text.into(),
            cause: None,
        }
    }

    /// The text.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// The text with the cause in words, for the list of causes.
    pub(crate) fn reason(&self) -> String {
        match &self.cause {
            Some(cause) => format!("{} ({cause})", self.text),
            None => self.text.clone().into_owned(),
        }
    }

    /// The failure with its cause in words.
    pub(crate) fn caused_by(self, cause: String) -> Self {
        Self {
            cause: Some(cause),
            ..self
        }
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
        let text: Cow<'static, str> = match cause {
            Cause::Refused => "ECONNREFUSED".into(),
            Cause::Reset => "ECONNRESET".into(),
            Cause::NoLocalPort => "EADDRNOTAVAIL".into(),
            Cause::NoFile => "EMFILE".into(),
            Cause::Unreachable => "EHOSTUNREACH".into(),
            Cause::TimedOut(_) => "ETIMEDOUT".into(),
            Cause::Status(status) => format!("Unexpected server response: {status}").into(),
            Cause::Certificate | Cause::NotTls | Cause::Tls => "TLS handshake failed".into(),
            cause => cause.to_string().into(),
        };
        let described = cause.described();
        Self {
            cause: (text != described).then_some(described),
            text,
        }
    }
}

impl From<&DialError> for Failure {
    fn from(error: &DialError) -> Self {
        match error {
            DialError::NoSuchHost(_) => Self::new("ENOTFOUND").caused_by(error.to_string()),
            DialError::Connect { source, .. } => Self::of_cause(&Cause::of_io(source)),
            _ => Self::new("EAI_AGAIN"),
        }
    }
}

impl From<ConnectError> for Failure {
    fn from(error: ConnectError) -> Self {
        match error {
            // Node's client takes the proxy's answer for the server's.
            ConnectError::Proxy(DialError::Proxy {
                status: Some(status), ..
            }) => Self::new(format!("Unexpected server response: {status}"))
                .caused_by("answer of the proxy".to_owned()),
            error => Self::of_cause(&error.cause()),
        }
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
