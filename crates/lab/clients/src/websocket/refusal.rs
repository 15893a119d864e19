//! The body of a refused upgrade: an explanation for people, so it is read no further than people read.

use plimsoll_websocket::handshake::client::ResponseHead;
use tokio::io::AsyncReadExt as _;

use super::connect::HEAD_BYTES;
use crate::stream::Stream;

/// The most bytes of a body; the error pages of frameworks are about this long.
pub(super) const MAX_BODY_BYTES: usize = 64 * 1024;

/// The end of a body (RFC 9112 §6.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Extent {
    Length(usize),
    Chunked,
    UntilEnd,
}

/// Reads the body that begins with `body`, up to [`MAX_BODY_BYTES`]. A broken connection ends it.
pub(super) async fn read_body(stream: &mut Stream, head: &ResponseHead, body: &mut Vec<u8>) {
    let extent = Extent::of(head);
    while !extent.is_complete(body) && body.len() < MAX_BODY_BYTES {
        body.reserve(HEAD_BYTES);
        if !matches!(stream.read_buf(body).await, Ok(1..)) {
            break;
        }
    }
    extent.cut(body);
}

impl Extent {
    fn of(head: &ResponseHead) -> Self {
        // A 101 that breaks the protocol is a refusal, too, and the server waits for frames after it.
        if head.status < 200 || matches!(head.status, 204 | 304) {
            return Self::Length(0);
        }
        let is_chunked = head
            .values("Transfer-Encoding")
            .any(|value| value.to_ascii_lowercase().ends_with("chunked"));
        if is_chunked {
            return Self::Chunked;
        }
        let length = head.values("Content-Length").next();
        length
            .and_then(|text| text.parse().ok())
            .map_or(Self::UntilEnd, Self::Length)
    }

    fn is_complete(self, bytes: &[u8]) -> bool {
        match self {
            Self::Length(n_bytes) => bytes.len() >= n_bytes,
            Self::Chunked => unchunk(bytes).1,
            Self::UntilEnd => false,
        }
    }

    /// Leaves the content.
    fn cut(self, bytes: &mut Vec<u8>) {
        match self {
            Self::Length(n_bytes) => bytes.truncate(n_bytes),
            Self::Chunked => *bytes = unchunk(bytes).0,
            Self::UntilEnd => {}
        }
        bytes.truncate(MAX_BODY_BYTES);
    }
}

/// The content of chunks (RFC 9112 §7.1) as far as it arrived, and whether the last chunk has begun.
fn unchunk(mut bytes: &[u8]) -> (Vec<u8>, bool) {
    let mut content = Vec::new();
    while let Some(n_line_bytes) = bytes.windows(2).position(|pair| pair == b"\r\n") {
        let line = String::from_utf8_lossy(&bytes[..n_line_bytes]);
        let size = line.split(';').next().unwrap_or_default().trim();
        let Ok(size) = usize::from_str_radix(size, 16) else {
            return (content, true);
        };
        if size == 0 {
            return (content, true);
        }
        bytes = &bytes[n_line_bytes + 2..];
        content.extend_from_slice(&bytes[..size.min(bytes.len())]);
        let Some(rest) = size.checked_add(2).and_then(|end| bytes.get(end..)) else {
            break;
        };
        bytes = rest;
    }
    (content, false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_are_put_together() {
        let check = |bytes: &str, content: &str, is_complete: bool| {
            let expected = (content.as_bytes().to_vec(), is_complete);
            assert_eq!(unchunk(bytes.as_bytes()), expected, "{bytes:?}");
        };
        check("", "", false);
        check("5", "", false);
        check("5\r\nhel", "hel", false);
        check("5\r\nhello\r\n", "hello", false);
        check("5;x=y\r\nhello\r\n0", "hello", false);
        check("5\r\nhello\r\n1\r\n!\r\n0\r\n\r\n", "hello!", true);
        check("zz\r\nhello", "", true);
        check("ffffffffffffffff\r\nhello", "hello", false);
    }
}
