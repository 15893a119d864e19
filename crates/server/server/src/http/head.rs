//! The head of an HTTP request of a client, as the WebSocket parser reads it. So headers, cookies and limits mean the same
//! for WebSockets, event streams and Durable Streams.

use hyper::StatusCode;
use plimsoll_websocket::handshake::server as handshake;

use super::answers::{Answer, text};

/// A request head in the form in which it may have been sent.
pub(super) fn wire_form(head: &http::request::Parts) -> Vec<u8> {
    let mut bytes = format!("{} {} HTTP/1.1\r\n", head.method, head.uri).into_bytes();
    for (name, value) in &head.headers {
        for part in [name.as_str().as_bytes(), b": ", value.as_bytes(), b"\r\n"] {
            bytes.extend_from_slice(part);
        }
    }
    bytes.extend_from_slice(b"\r\n");
    bytes
}

/// Parses a head.
///
/// # Errors
/// The answer to a head that is not valid.
pub(super) fn parse(head: &[u8]) -> Result<handshake::Request<'_>, Box<Answer>> {
    match handshake::Request::parse(head) {
        Ok(Some((request, _))) => Ok(request),
        Ok(None) => Err(Box::new(text(
            StatusCode::BAD_REQUEST,
            "The request head is incomplete.",
        ))),
        Err(error) => {
            let (status, reason) = error.response();
            let status = StatusCode::from_u16(status).expect("the codec knows its HTTP statuses");
            Err(Box::new(text(status, &reason)))
        }
    }
}
