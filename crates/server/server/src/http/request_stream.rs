//! Requests as bytes: each head is checked before hyper reads it, on kept connections too.
//!
//! hyper accepts a request with no `Host` or several, and lines that end in a bare LF. A proxy in front may parse such
//! a request differently (RFC 9112 §2.2, §3.2, §11.2), so it is refused here, by the rules for WebSocket requests. To
//! find the next head, this code follows the bodies. A body that it cannot follow is left to hyper to refuse.

use std::{cell::Cell, rc::Rc};

use plimsoll_websocket::handshake::server::{HandshakeError, Request};

/// The method of the request that replaces a refused one. Nothing after it is read.
pub(super) const REFUSED: &str = "REFUSED";

const SUBSTITUTE: &[u8] = b"REFUSED / HTTP/1.1\r\nHost: -\r\nConnection: close\r\n\r\n";

/// Why a request of a connection was refused, shared with the code that answers.
pub(super) type Refusal = Rc<Cell<Option<HandshakeError>>>;

/// One connection's requests.
#[derive(Debug, Default)]
pub(super) struct RequestStream {
    place: Place,
    /// The beginning of an incomplete head. At most [`MAX_HEAD_BYTES`](plimsoll_websocket::handshake).
    head: Vec<u8>,
    /// Checked bytes that hyper may read.
    checked: Vec<u8>,
    refusal: Refusal,
}

/// The meaning of the next byte.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Place {
    #[default]
    Head,
    /// This many bytes of a body, or of a chunk with its line end.
    Bytes(Rest, u64),
    /// The line before a chunk: the size so far, and whether the size is complete.
    ChunkSize(u64, bool),
    /// A line after the last chunk, with its length so far.
    Trailer(u64),
    /// The meaning is unknown.
    Unknown,
    Refused,
}

/// The part that follows some bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rest {
    Head,
    Chunk,
}

impl RequestStream {
    /// Shares the cell that holds the reason when a request is refused.
    pub(super) fn refusal(&self) -> Refusal {
        Rc::clone(&self.refusal)
    }

    /// Whether nothing more will be read.
    pub(super) fn is_over(&self) -> bool {
        self.place == Place::Refused && self.checked.is_empty()
    }

    /// Adds bytes that the client sent.
    pub(super) fn feed(&mut self, bytes: &[u8]) {
        let mut joined = std::mem::take(&mut self.head);
        let mut rest = if joined.is_empty() {
            bytes
        } else {
            joined.extend_from_slice(bytes);
            &joined
        };
        while !rest.is_empty() {
            rest = &rest[self.advance(rest)..];
        }
    }

    /// Returns up to `max` checked bytes.
    pub(super) fn take(&mut self, max: usize) -> Vec<u8> {
        let n = self.checked.len().min(max);
        let rest = self.checked.split_off(n);
        std::mem::replace(&mut self.checked, rest)
    }

    /// Consumes some of the bytes, of which there is at least one. Returns how many.
    fn advance(&mut self, bytes: &[u8]) -> usize {
        let (n_taken, place) = match self.place {
            Place::Head => return self.advance_head(bytes),
            Place::Refused => return bytes.len(),
            Place::Unknown => (bytes.len(), Place::Unknown),
            Place::Bytes(rest, n_left) => {
                let n_taken = usize::try_from(n_left).map_or(bytes.len(), |n| n.min(bytes.len()));
                (n_taken, rest.behind(n_left - n_taken as u64))
            }
            Place::ChunkSize(size, is_over) => (1, behind_size(size, is_over, bytes[0])),
            Place::Trailer(length) => (1, behind_trailer(length, bytes[0])),
        };
        self.checked.extend_from_slice(&bytes[..n_taken]);
        self.place = place;
        n_taken
    }

    fn advance_head(&mut self, bytes: &[u8]) -> usize {
        match Request::parse(bytes) {
            Ok(None) => self.head = bytes.to_vec(),
            Ok(Some((request, length))) => match request.check_host() {
                Ok(()) => {
                    self.checked.extend_from_slice(&bytes[..length]);
                    self.place = behind_head(&request);
                    return length;
                }
                Err(error) => self.refuse(error),
            },
            // hyper answers malformed heads itself.
            Err(HandshakeError::Malformed(_)) => {
                self.checked.extend_from_slice(bytes);
                self.place = Place::Unknown;
            }
            Err(error) => self.refuse(error),
        }
        bytes.len()
    }

    fn refuse(&mut self, error: HandshakeError) {
        self.refusal.set(Some(error));
        self.checked.extend_from_slice(SUBSTITUTE);
        self.place = Place::Refused;
    }
}

impl Rest {
    fn behind(self, n_left: u64) -> Place {
        match (n_left, self) {
            (0, Self::Head) => Place::Head,
            (0, Self::Chunk) => Place::ChunkSize(0, false),
            _ => Place::Bytes(self, n_left),
        }
    }
}

/// The length of the body, as hyper sees it (RFC 9112 §6.3).
fn behind_head(request: &Request<'_>) -> Place {
    if request.header("Transfer-Encoding").is_some() {
        return Place::ChunkSize(0, false);
    }
    match request.header("Content-Length").map(str::parse) {
        None => Place::Head,
        Some(Ok(length)) => Rest::Head.behind(length),
        Some(Err(_)) => Place::Unknown,
    }
}

/// Reads the line before a chunk. A chunk is its size in hexadecimal digits, perhaps extensions, a line end, the bytes
/// and a line end (RFC 9112 §7.1).
fn behind_size(size: u64, is_over: bool, byte: u8) -> Place {
    match (char::from(byte).to_digit(16), byte) {
        (_, b'\n') if size == 0 => Place::Trailer(0),
        (_, b'\n') => Place::Bytes(Rest::Chunk, size.saturating_add(2)),
        (Some(digit), _) if !is_over => match size.checked_mul(16) {
            Some(size) => Place::ChunkSize(size + u64::from(digit), false),
            None => Place::Unknown,
        },
        _ => Place::ChunkSize(size, true),
    }
}

/// Reads a trailer line. An empty line ends the body.
fn behind_trailer(length: u64, byte: u8) -> Place {
    match byte {
        b'\n' if length == 0 => Place::Head,
        b'\n' => Place::Trailer(0),
        b'\r' => Place::Trailer(length),
        _ => Place::Trailer(length + 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
    const CHUNKED: &str = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n\
         5;x=y\r\n\n\n\r\n\n\r\nA\r\n0123456789\r\n0\r\nT: railer\r\n\r\n";

    /// Checks the bytes that hyper reads of these requests, however they are split, and why the last request was
    /// refused.
    #[track_caller]
    fn check(requests: &str, read: &str, refused: Option<&str>) {
        for n_bytes in [requests.len(), 7, 1] {
            let mut stream = RequestStream::default();
            let mut taken = Vec::new();
            for bytes in requests.as_bytes().chunks(n_bytes) {
                stream.feed(bytes);
                taken.extend(stream.take(3));
                taken.extend(stream.take(usize::MAX));
            }
            let expected = match refused {
                Some(_) => format!("{read}{}", String::from_utf8_lossy(SUBSTITUTE)),
                None => read.to_owned(),
            };
            assert_eq!(
                String::from_utf8_lossy(&taken),
                expected,
                "{requests:?} by {n_bytes}"
            );
            assert_eq!(stream.is_over(), refused.is_some(), "{requests:?} by {n_bytes}");
            let reason = stream.refusal().get().map(|error| error.to_string());
            assert_eq!(reason.is_some(), refused.is_some(), "{requests:?} by {n_bytes}");
            assert!(
                reason.unwrap_or_default().contains(refused.unwrap_or_default()),
                "{requests:?} by {n_bytes}"
            );
        }
    }

    #[test]
    fn good_requests_pass_whatever_their_bodies_hold() {
        let sized = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nGET /\n\n\n\n";
        let old = "GET / HTTP/1.0\r\n\r\n";
        for requests in [
            GOOD.to_owned(),
            [GOOD, sized, GOOD, CHUNKED, CHUNKED, sized, GOOD, old].concat(),
            format!("\r\n{GOOD}"),
        ] {
            check(&requests, &requests, None);
        }
    }

    #[test]
    fn a_bad_head_is_refused_and_the_last_one_wherever_it_stands() {
        let host = Some("needs the header Host once");
        for (bad, refused) in [
            ("GET / HTTP/1.1\r\nA: b\r\n\r\n", host),
            ("GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", host),
            ("GET / HTTP/1.1\r\nHost: a b\r\n\r\n", host),
            ("GET / HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n", host),
            ("GET / HTTP/1.1\nHost: a\n\n", Some("must end with CR LF")),
            (
                "GET / HTTP/1.1\r\nHost: a\nA: b\r\n\r\n",
                Some("must end with CR LF"),
            ),
        ] {
            for before in ["", GOOD, CHUNKED] {
                check(&format!("{before}{bad}{GOOD}"), before, refused);
            }
        }
        let long = format!("GET / HTTP/1.1\r\nHost: a\r\nA: {}\r\n\r\n", "x".repeat(9000));
        check(&format!("{GOOD}{long}"), GOOD, Some("larger than 8192 bytes"));
    }

    #[test]
    fn what_cannot_be_followed_is_left_to_hyper() {
        for requests in [
            "GET HTTP/1.1\r\n\r\n".to_owned(),
            "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: x\r\n\r\na\n\nb".to_owned(),
            format!(
                "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n{}\r\n\n",
                "f".repeat(17)
            ),
        ] {
            let mut stream = RequestStream::default();
            stream.feed(requests.as_bytes());
            assert_eq!(stream.take(usize::MAX), requests.as_bytes(), "{requests:?}");
        }
    }
}
