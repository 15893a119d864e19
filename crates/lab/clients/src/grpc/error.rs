//! Failed attempts to connect.

use crate::{dial::DialError, io_words::words_of, tls::HandshakeError};

/// There is no connection. The texts are those of gRPC's library for Go, which scripts of k6 know.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// No connection over TCP.
    #[error("connection error: desc = \"transport: error while dialing: {}\"", dial_words(.0))]
    Dial(#[from] DialError),
    /// TLS failed.
    #[error("connection error: desc = \"transport: authentication handshake failed: {0}\"")]
    Tls(#[from] HandshakeError),
    /// The server did not choose HTTP/2 in the TLS handshake.
    #[error(
        "connection error: desc = \"transport: authentication handshake failed: credentials: cannot check peer: missing \
         selected ALPN property\""
    )]
    NoHttp2,
    /// The server did not begin to speak HTTP/2.
    #[error("connection error: desc = \"error reading server preface: {0}\"")]
    Preface(&'static str),
    /// The time was over. The text has the last failure, if there was one.
    #[error("context deadline exceeded{}", .0.as_ref().map(|last| format!(": {last}")).unwrap_or_default())]
    Timeout(Option<Box<ConnectError>>),
}

impl ConnectError {
    /// The failure in words that are the same for all servers.
    pub fn cause(&self) -> String {
        match self {
            Self::Dial(DialError::Connect { source, .. }) => format!("cannot connect: {}", words_of(source)),
            Self::Dial(error) => format!("cannot connect: {error}"),
            Self::Tls(error) => format!("TLS: {error}"),
            Self::NoHttp2 | Self::Preface(_) => "the server does not speak HTTP/2".to_owned(),
            Self::Timeout(Some(last)) => last.cause(),
            Self::Timeout(None) => "connecting took too long".to_owned(),
        }
    }

    /// Whether another attempt could succeed, by the rules of gRPC's library for Go.
    pub(super) fn is_temporary(&self) -> bool {
        match self {
            Self::Tls(_) | Self::NoHttp2 | Self::Preface(_) => true,
            Self::Dial(_) | Self::Timeout(_) => false,
        }
    }
}

fn dial_words(error: &DialError) -> String {
    match error {
        DialError::Connect { address, source } => {
            format!("dial tcp {address}: connect: {}", words_of(source))
        }
        error => error.to_string(),
    }
}
