//! Errors between a consumer and its server, one enum per operation.

use std::time::Duration;

use plimsoll_cable::{
    encoding::{DecodeError, EncodeError},
    reply::ReplyError,
};

use crate::{
    cause::{Cause, Phase},
    websocket,
};

/// Why a consumer's connection is over. Every later call returns it, too.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Ending {
    /// The server sent `disconnect`.
    #[error("disconnected by the server: {reason} (reconnect: {reconnect})")]
    Disconnected {
        /// The server's reason, for example `unauthorized` or `server_restart`.
        reason: String,
        /// Whether the client should reconnect.
        reconnect: bool,
    },
    /// The WebSocket below ended.
    #[error(transparent)]
    WebSocket(#[from] websocket::ReceiveError),
    /// The server sent something that is not Action Cable.
    #[error("not an Action Cable message: {0}")]
    Protocol(String),
    /// Not an ending: only this command was not sent, because the session's encoding does not have it.
    #[error("not sent: {0}")]
    NotSent(String),
    /// This client disconnected.
    #[error("disconnected by this client")]
    Left,
}

/// A consumer did not become ready.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// The WebSocket did not open.
    #[error(transparent)]
    WebSocket(#[from] websocket::ConnectError),
    /// The server does not support the encoding.
    #[error(
        "the server did not agree to the sub-protocol {offered}; it chose {chosen}. Only AnyCable Pro speaks msgpack and protobuf"
    )]
    NotAgreed {
        /// The offered sub-protocol.
        offered: &'static str,
        /// What the server chose, or `none`.
        chosen: String,
    },
    /// The connection ended before the welcome. A refusing server sends `disconnect` with `unauthorized` here.
    #[error("no welcome: {0}")]
    Ended(#[from] Ending),
    /// The deadline passed before the welcome.
    #[error("timed out after {after:?} in {}", Phase::Welcome)]
    TimedOut {
        /// The whole time allowed since the TCP connect.
        after: Duration,
    },
}

/// A subscription failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SubscribeError {
    /// The server rejected it.
    #[error("subscription to {identifier} rejected")]
    Rejected {
        /// The requested identifier.
        identifier: String,
    },
    /// No answer came in time.
    #[error("subscription to {identifier} not confirmed within {after:?}")]
    TimedOut {
        /// The requested identifier.
        identifier: String,
        /// The time waited.
        after: Duration,
    },
    /// The connection is over.
    #[error(transparent)]
    Ended(#[from] Ending),
}

/// A question to the server was not answered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InquiryError {
    /// There is no position from which to ask for history.
    #[error("no message has had a stream position yet; give a start time, for example since: 1754000000")]
    NoPosition,
    /// No answer came in time; a server without the extended protocol never answers.
    #[error("no answer within {after:?}")]
    TimedOut {
        /// The time waited.
        after: Duration,
    },
    /// The connection is over.
    #[error(transparent)]
    Ended(#[from] Ending),
}

impl Ending {
    /// The cause by which this ending is counted.
    pub fn cause(&self) -> Cause {
        match self {
            Self::Disconnected { reason, .. } => Cause::of_disconnect(reason),
            Self::WebSocket(error) => error.cause(),
            Self::Protocol(_) | Self::NotSent(_) => Cause::Protocol,
            Self::Left => Cause::Closed(None),
        }
    }
}

impl ConnectError {
    /// The cause by which this failure is counted.
    pub fn cause(&self) -> Cause {
        match self {
            Self::WebSocket(error) => error.cause(),
            Self::NotAgreed { .. } => Cause::NotAgreed,
            Self::Ended(ending) => ending.cause(),
            Self::TimedOut { .. } => Cause::TimedOut(Phase::Welcome),
        }
    }
}

impl SubscribeError {
    /// The cause by which this failure is counted.
    pub fn cause(&self) -> Cause {
        match self {
            Self::Rejected { .. } => Cause::Rejected,
            Self::TimedOut { .. } => Cause::TimedOut(Phase::Subscribe),
            Self::Ended(ending) => ending.cause(),
        }
    }
}

impl From<websocket::SendError> for Ending {
    fn from(error: websocket::SendError) -> Self {
        Self::WebSocket(error.into())
    }
}

impl From<EncodeError> for Ending {
    fn from(error: EncodeError) -> Self {
        Self::NotSent(error.to_string())
    }
}

impl From<DecodeError> for Ending {
    fn from(error: DecodeError) -> Self {
        Self::Protocol(error.to_string())
    }
}

impl From<ReplyError> for Ending {
    fn from(error: ReplyError) -> Self {
        Self::Protocol(error.to_string())
    }
}
