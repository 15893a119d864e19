//! Why a client's handshake failed.

use crate::handshake::{MAX_HEAD_BYTES, MAX_HEADERS};

/// How many bytes of a refusal's body are kept: enough for a sentence of explanation.
const MAX_BODY_BYTES: usize = 512;

/// The connection cannot be used. Except for [`InvalidText`](Self::InvalidText), the server is at fault.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HandshakeError {
    /// The caller passed a text that is not valid in an HTTP head. Nothing was sent.
    #[error("{what} cannot be {text:?}: expected {expected}")]
    InvalidText {
        /// The part with the text.
        what: String,
        /// The text.
        text: String,
        /// A valid form.
        expected: &'static str,
    },
    /// The bytes are not an HTTP/1 response head.
    #[error("malformed HTTP response: {0}")]
    Malformed(httparse::Error),
    /// The head exceeds [`MAX_HEAD_BYTES`] or [`MAX_HEADERS`].
    #[error("the response head is larger than {MAX_HEAD_BYTES} bytes or {MAX_HEADERS} header lines")]
    HeadTooLarge,
    /// The server answered with plain HTTP instead of 101.
    #[error("the server refused the WebSocket: {status} {reason}{}{body}", if .body.is_empty() { "" } else { ": " })]
    Refused {
        /// The HTTP status.
        status: u16,
        /// The reason phrase.
        reason: String,
        /// The beginning of the body, as far as it has arrived, at most 512 bytes.
        body: String,
    },
    /// RFC 6455 §4.1, check 2.
    #[error("the answer has no header `Upgrade: websocket`")]
    Upgrade,
    /// RFC 6455 §4.1, check 3.
    #[error("the answer has no header `Connection: Upgrade`")]
    Connection,
    /// RFC 6455 §4.1, check 4.
    #[error("the header Sec-WebSocket-Accept does not match the key of the request")]
    Accept,
    /// RFC 6455 §4.1, check 6.
    #[error("the server chose the sub-protocol {protocol:?}, which was not offered")]
    Protocol {
        /// The sub-protocol that it chose.
        protocol: String,
    },
    /// RFC 6455 §4.1, check 5, and RFC 7692 §7.1.
    #[error("the server chose extensions that were not offered: {value:?}")]
    Extension {
        /// The server's `Sec-WebSocket-Extensions`.
        value: String,
    },
}

impl HandshakeError {
    pub(super) fn refused(status: u16, reason: Option<&str>, body: &[u8]) -> Self {
        let body = String::from_utf8_lossy(&body[..body.len().min(MAX_BODY_BYTES)]);
        Self::Refused {
            status,
            reason: reason.unwrap_or_default().to_owned(),
            body: body.trim().to_owned(),
        }
    }
}
