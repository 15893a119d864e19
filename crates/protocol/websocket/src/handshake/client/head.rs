//! The head of the server's answer as it was received, for display.

use super::HandshakeError;
use crate::handshake::{MAX_HEAD_BYTES, MAX_HEADERS};

/// The status line and the header fields of an answer of any status.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResponseHead {
    /// The HTTP status.
    pub status: u16,
    /// The fields in their order, with the names as the server wrote them. Bytes that are not UTF-8 are replaced.
    pub headers: Vec<(String, String)>,
}

impl ResponseHead {
    /// Parses the head at the front of `bytes`. Returns it with its length; `None` while it is incomplete.
    ///
    /// # Errors
    /// The head is malformed or too large: the errors that [`parse_response`](super::Handshake::parse_response) has for
    /// these bytes.
    pub fn parse(bytes: &[u8]) -> Result<Option<(Self, usize)>, HandshakeError> {
        let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
        let mut response = httparse::Response::new(&mut headers);
        let Some(n_bytes) = parse(&mut response, bytes)? else {
            return Ok(None);
        };
        let text = |value: &[u8]| String::from_utf8_lossy(value).into_owned();
        let headers = response.headers.iter();
        let head = Self {
            status: response.code.unwrap_or_default(),
            headers: headers
                .map(|header| (header.name.to_owned(), text(header.value)))
                .collect(),
        };
        Ok(Some((head, n_bytes)))
    }

    /// The values of all fields with this name, in any case.
    pub fn values<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        let fields = self.headers.iter();
        fields
            .filter(move |(found, _)| found.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.as_str())
    }
}

/// Parses a head into `response`. Returns its length; `None` while it is incomplete.
pub(super) fn parse<'b>(
    response: &mut httparse::Response<'_, 'b>,
    bytes: &'b [u8],
) -> Result<Option<usize>, HandshakeError> {
    let head = &bytes[..bytes.len().min(MAX_HEAD_BYTES)];
    let status = response.parse(head).map_err(|error| match error {
        httparse::Error::TooManyHeaders => HandshakeError::HeadTooLarge,
        error => HandshakeError::Malformed(error),
    })?;
    match status {
        httparse::Status::Complete(n_bytes) => Ok(Some(n_bytes)),
        httparse::Status::Partial if head.len() == MAX_HEAD_BYTES => Err(HandshakeError::HeadTooLarge),
        httparse::Status::Partial => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_is_told_as_it_came() {
        let bytes = b"HTTP/1.1 403 Forbidden\r\nX-a: 1\r\nx-A:  \xff \r\nB:\r\n\r\nbody";
        for n_bytes in 0..bytes.len() - 4 {
            assert_eq!(ResponseHead::parse(&bytes[..n_bytes]), Ok(None), "{n_bytes}");
        }
        let (head, n_bytes) = ResponseHead::parse(bytes).unwrap().unwrap();
        let field = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(n_bytes, bytes.len() - 4);
        assert_eq!(head.status, 403);
        assert_eq!(
            head.headers,
            [field("X-a", "1"), field("x-A", "\u{fffd}"), field("B", "")]
        );
        assert_eq!(head.values("X-A").collect::<Vec<_>>(), ["1", "\u{fffd}"]);
    }

    #[test]
    fn heads_are_bounded() {
        let too_large = Err(HandshakeError::HeadTooLarge);
        let mut bytes = b"HTTP/1.1 200 OK\r\n".to_vec();
        bytes.extend(b"a: b\r\n".repeat(MAX_HEADERS + 1));
        assert_eq!(ResponseHead::parse(&bytes), too_large);
        let mut bytes = b"HTTP/1.1 200 OK\r\na: ".to_vec();
        bytes.resize(MAX_HEAD_BYTES, b'x');
        assert_eq!(ResponseHead::parse(&bytes), too_large);
        assert!(matches!(
            ResponseHead::parse(b"SSH-2"),
            Err(HandshakeError::Malformed(_))
        ));
    }
}
