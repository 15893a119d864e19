//! The opening handshake (RFC 6455 §4) as far as a cable needs it: what a client asks for, and what it gets.

use bytes::{Buf, BytesMut};

use super::endpoint::Endpoint;

/// The base protocol, which every server of cables speaks.
pub(super) const BASE_PROTOCOL: &str = "actioncable-v1-json";

/// AnyCable's extended protocol: history and resumed sessions (spec §2.4, §2.5).
pub(super) const EXTENDED_PROTOCOL: &str = "actioncable-v1-ext-json";

/// Headers of an answer that are looked into. Reason: more than any server sends.
const MOST_HEADERS: usize = 64;

/// What a client asks for.
pub(super) struct Handshake<'a> {
    /// Sub-protocols in the order of preference.
    pub(super) protocols: &'a [&'a str],
    /// Added to the query of the URL: `test=cookies`.
    pub(super) query: &'a str,
    /// Names and values.
    pub(super) headers: &'a [(&'a str, &'a str)],
}

impl Default for Handshake<'_> {
    fn default() -> Self {
        Self {
            protocols: &[BASE_PROTOCOL],
            query: "",
            headers: &[],
        }
    }
}

impl Handshake<'_> {
    pub(super) fn request(&self, target: &Endpoint) -> String {
        let mut request = format!(
            "GET {} HTTP/1.1\r\nHost: {}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
             Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {}\r\n",
            target.path_with(self.query),
            target.authority(),
            key()
        );
        if !self.protocols.is_empty() {
            request.push_str(&format!(
                "Sec-WebSocket-Protocol: {}\r\n",
                self.protocols.join(", ")
            ));
        }
        for (name, value) in self.headers {
            request.push_str(&format!("{name}: {value}\r\n"));
        }
        request + "\r\n"
    }
}

/// Sixteen bytes in base64 (RFC 6455 §4.1): any that are valid will do, and the answer to them is another suite's business.
fn key() -> String {
    const ALPHABET: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    let letter = |_| char::from(ALPHABET[fastrand::usize(..ALPHABET.len())]);
    // The last letter before the padding carries two bits only.
    (0..21).map(letter).collect::<String>() + "A=="
}

/// What a server answers.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) sub_protocol: Option<String>,
}

impl Answer {
    /// Takes the head of an answer from the front of `received`; `None` when it is not whole yet.
    ///
    /// # Errors
    /// It is not HTTP.
    pub(super) fn take(received: &mut BytesMut) -> Result<Option<Self>, httparse::Error> {
        let mut headers = [httparse::EMPTY_HEADER; MOST_HEADERS];
        let mut response = httparse::Response::new(&mut headers);
        let httparse::Status::Complete(n_bytes) = response.parse(received)? else {
            return Ok(None);
        };
        let sub_protocol = response
            .headers
            .iter()
            .find(|header| header.name.eq_ignore_ascii_case("sec-websocket-protocol"))
            .map(|header| String::from_utf8_lossy(header.value).into_owned());
        let status = response.code.unwrap_or(0);
        received.advance(n_bytes);
        Ok(Some(Self { status, sub_protocol }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_has_what_was_asked_for() {
        let target = "ws://localhost:8080/cable".parse().unwrap();
        let handshake = Handshake {
            protocols: &["a", "b"],
            query: "test=cookies",
            headers: &[("Cookie", "username=john green")],
        };
        let request = handshake.request(&target);
        assert!(request.starts_with("GET /cable?test=cookies HTTP/1.1\r\nHost: localhost:8080\r\n"));
        assert!(request.contains("Sec-WebSocket-Protocol: a, b\r\nCookie: username=john green\r\n\r\n"));
    }

    #[test]
    fn an_answer_is_taken_whole() {
        let text = "HTTP/1.1 101 Switching Protocols\r\nsec-websocket-protocol: a\r\n\r\n";
        let mut received = BytesMut::from(&text[..text.len() - 1]);
        assert_eq!(Answer::take(&mut received), Ok(None));
        received.extend_from_slice(b"\nrest");
        let expected = Answer {
            status: 101,
            sub_protocol: Some("a".to_owned()),
        };
        assert_eq!(Answer::take(&mut received), Ok(Some(expected)));
        assert_eq!(received, "rest");
        assert!(Answer::take(&mut BytesMut::from("SMTP ready\r\n")).is_err());
    }
}
