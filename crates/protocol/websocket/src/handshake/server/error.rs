//! Why a request does not become a WebSocket, and its HTTP answer.

use crate::handshake::{MAX_HEAD_BYTES, MAX_HEADERS};

/// A request that is refused before the application sees it. The client is at fault in all cases.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HandshakeError {
    /// The bytes are not an HTTP/1 request head.
    #[error("malformed HTTP request: {0}")]
    Malformed(httparse::Error),
    /// The head exceeds [`MAX_HEAD_BYTES`] or [`MAX_HEADERS`].
    #[error("the request head is larger than {MAX_HEAD_BYTES} bytes or {MAX_HEADERS} header lines")]
    HeadTooLarge,
    /// RFC 6455 §4.2.1 (1).
    #[error("a WebSocket request needs the method GET")]
    Method,
    /// RFC 6455 §4.2.1 (1).
    #[error("a WebSocket request needs HTTP/1.1")]
    HttpVersion,
    /// RFC 9112 §2.2.
    #[error("the lines of a request head must end with CR LF, but one ends with a bare LF")]
    LineEnd,
    /// RFC 6455 §4.2.1 (2), RFC 9112 §3.2.
    #[error("a request needs the header Host once, with a host, for example `Host: app.example:8080`")]
    Host,
    /// RFC 9110 §9.3.1: a body has no meaning here, and must not be taken for frames.
    #[error("a WebSocket request has no body: leave out Content-Length and Transfer-Encoding")]
    Body,
    /// RFC 6455 §9.1.
    #[error(
        "the header Sec-WebSocket-Extensions must be a list such as `permessage-deflate; client_max_window_bits`"
    )]
    Extensions,
    /// RFC 6455 §4.2.1 (3).
    #[error("this address speaks WebSocket: the request needs the header `Upgrade: websocket`")]
    NotUpgrade,
    /// RFC 6455 §4.2.1 (4).
    #[error("a WebSocket request needs the header `Connection: Upgrade`")]
    Connection,
    /// RFC 6455 §4.2.1 (5).
    #[error("the request needs the header Sec-WebSocket-Key once, with 16 bytes in base64")]
    Key,
    /// RFC 6455 §4.2.1 (6).
    #[error("only WebSocket version 13 is supported: send the header `Sec-WebSocket-Version: 13`")]
    Version,
    /// RFC 6455 §4.1 (10).
    #[error("the header Sec-WebSocket-Protocol must be a list of tokens, for example `chat, superchat`")]
    Protocol,
}

impl HandshakeError {
    /// The status of the HTTP answer, and the text of its body.
    pub fn response(&self) -> (u16, String) {
        let status = match self {
            Self::Method => 405,
            Self::Version => 426,
            Self::HeadTooLarge => 431,
            Self::HttpVersion => 505,
            Self::Malformed(_)
            | Self::LineEnd
            | Self::Host
            | Self::Body
            | Self::Extensions
            | Self::NotUpgrade
            | Self::Connection
            | Self::Key
            | Self::Protocol => 400,
        };
        (status, self.to_string())
    }

    /// The header lines for that status: 405 names the allowed methods (RFC 9110 §15.5.6), 426 names the protocol to
    /// upgrade to (§15.5.22) and its versions (RFC 6455 §4.4).
    pub fn headers(&self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Method => &[("Allow", "GET")],
            Self::Version => &[
                ("Upgrade", "websocket"),
                ("Connection", "Upgrade"),
                ("Sec-WebSocket-Version", "13"),
            ],
            _ => &[],
        }
    }
}
