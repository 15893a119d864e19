//! Errors of a connection, one enum per operation.

use std::{
    io,
    net::{IpAddr, SocketAddr},
    time::Duration,
};

use plimsoll_websocket::{CloseFrame, DecodeError, handshake::client::HandshakeError};

use crate::{
    cause::{Cause, Phase},
    dial::DialError,
    tls,
};

/// A connection could not be made.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// No address of the target could be reached. The error is that of the last one.
    #[error("connect to {address}{}: {source}", from(*local_address))]
    Tcp {
        /// The address that was tried last.
        address: SocketAddr,
        /// The requested source address.
        local_address: Option<IpAddr>,
        /// The system's answer.
        source: io::Error,
    },
    /// The options hold no address.
    #[error("connect: the target has no address")]
    NoAddress,
    /// The deadline passed.
    #[error("timed out after {after:?} in {phase}")]
    TimedOut {
        /// Where it struck.
        phase: Phase,
        /// The whole time allowed.
        after: Duration,
    },
    /// The proxy made no connection to the target.
    #[error(transparent)]
    Proxy(#[from] DialError),
    /// TLS failed.
    #[error(transparent)]
    Tls(#[from] tls::HandshakeError),
    /// The server refused the upgrade or does not speak WebSocket.
    #[error("upgrade: {0}")]
    Handshake(#[from] HandshakeError),
    /// The connection broke during the upgrade.
    #[error("upgrade: {0}")]
    Lost(io::Error),
    /// The server answered with a record of TLS.
    #[error("upgrade: the server speaks TLS on this port")]
    SpeaksTls,
    /// The server ended the connection instead of answering the upgrade.
    #[error("upgrade: the server ended the connection without an answer")]
    Ended,
}

/// A connection is over.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReceiveError {
    /// The server has sent a Close, with this code and reason.
    #[error("closed by the server{}", code_and_reason(*code, reason))]
    Closed {
        /// The server's close code, if it sent one.
        code: Option<u16>,
        /// Its reason, often empty.
        reason: String,
    },
    /// The server ended the stream without a Close frame. Some servers (Nim's `ws`) always do.
    #[error("the server ended the connection without a close frame")]
    Ended,
    /// The connection broke.
    #[error("connection lost: {0}")]
    Lost(io::ErrorKind),
    /// The server broke the protocol, for which it gets a Close frame with the matching code.
    #[error("protocol violation by the server: {0}")]
    Protocol(#[from] DecodeError),
}

/// A message could not be sent.
#[derive(Debug, thiserror::Error)]
pub enum SendError {
    /// A Close frame was sent or received, so nothing more may be sent.
    #[error("send on a connection that is closing")]
    Closing,
    /// The connection broke.
    #[error("send: {0}")]
    Lost(#[from] io::Error),
}

fn from(local_address: Option<IpAddr>) -> String {
    local_address.map_or_else(String::new, |address| format!(" from {address}"))
}

fn code_and_reason(code: Option<u16>, reason: &str) -> String {
    match code {
        None => " without a code".to_owned(),
        Some(code) if reason.is_empty() => format!(" with code {code}"),
        Some(code) => format!(" with code {code}: {reason}"),
    }
}

impl ConnectError {
    /// The cause by which this failure is counted.
    pub fn cause(&self) -> Cause {
        match self {
            Self::Tcp { source, .. } | Self::Lost(source) => Cause::of_io(source),
            Self::NoAddress | Self::Proxy(_) => Cause::Unreachable,
            Self::TimedOut { phase, .. } => Cause::TimedOut(*phase),
            Self::Tls(error) => error.cause(),
            Self::SpeaksTls => Cause::SpeaksTls,
            Self::Handshake(HandshakeError::Refused { status, .. }) => Cause::Status(*status),
            Self::Handshake(_) => Cause::Handshake,
            Self::Ended => Cause::Ended,
        }
    }
}

impl ReceiveError {
    /// The ending for the server's Close frame.
    pub(super) fn closed(frame: Option<CloseFrame<'_>>) -> Self {
        Self::Closed {
            code: frame.map(|frame| frame.code.get()),
            reason: frame.map(|frame| frame.reason.to_owned()).unwrap_or_default(),
        }
    }

    /// Whether a Close must still be sent to the server.
    pub fn asks_for_close(&self) -> bool {
        matches!(self, Self::Closed { .. } | Self::Protocol(_))
    }

    /// The cause by which this ending is counted.
    pub fn cause(&self) -> Cause {
        match self {
            Self::Closed { code, .. } => Cause::Closed(*code),
            Self::Ended => Cause::Ended,
            // On an open connection this is TCP giving up on retransmission, not a slow connect.
            Self::Lost(io::ErrorKind::TimedOut) => Cause::Io(io::ErrorKind::TimedOut),
            Self::Lost(kind) => Cause::of_io(&io::Error::from(*kind)),
            Self::Protocol(_) => Cause::Protocol,
        }
    }
}

impl From<SendError> for ReceiveError {
    fn from(error: SendError) -> Self {
        match error {
            SendError::Closing => Self::Closed {
                code: None,
                reason: String::new(),
            },
            SendError::Lost(error) => Self::Lost(error.kind()),
        }
    }
}

impl SendError {
    /// The cause by which this failure is counted.
    pub fn cause(&self) -> Cause {
        match self {
            Self::Closing => Cause::Closed(None),
            Self::Lost(error) => Cause::of_io(error),
        }
    }
}
