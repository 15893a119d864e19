//! The opening handshake (RFC 6455 §4) of a cable client.

use super::dialect::Dialect;
use crate::{Server, protocol::request::Request};

/// The parts of a client's request.
#[derive(Default)]
pub(super) struct Handshake<'a> {
    /// Sub-protocols in the order of preference. `None` offers the one that the suite runs over.
    pub(super) protocols: Option<&'a [&'a str]>,
    /// Added to the query of the URL: `test=cookies`.
    pub(super) query: &'a str,
    /// Names and values.
    pub(super) headers: &'a [(&'a str, &'a str)],
}

impl Handshake<'_> {
    /// The request; `usual` is the sub-protocol that the suite runs over.
    pub(super) fn request(&self, target: &Server, usual: Dialect) -> Request {
        let mut request = Request::new(&target.clone().with_query(self.query));
        let usual = [usual.name()];
        let protocols = self.protocols.unwrap_or(&usual);
        if !protocols.is_empty() {
            request = request.with(format!("Sec-WebSocket-Protocol: {}", protocols.join(", ")));
        }
        for (name, value) in self.headers {
            request = request.with(format!("{name}: {value}"));
        }
        request
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_has_what_was_asked_for() {
        let target = Server::parse("ws://localhost:8080/cable", None).unwrap();
        let handshake = Handshake {
            protocols: Some(&["a", "b"]),
            query: "test=cookies",
            headers: &[("Cookie", "username=john green")],
        };
        let usual = Dialect::default();
        let request = handshake.request(&target, usual).to_string();
        assert!(request.starts_with("GET /cable?test=cookies HTTP/1.1\r\nHost: localhost:8080\r\n"));
        assert!(request.contains("Sec-WebSocket-Protocol: a, b\r\nCookie: username=john green\r\n\r\n"));
        let request = Handshake::default().request(&target, usual).to_string();
        assert!(request.contains("Sec-WebSocket-Protocol: actioncable-v1-json\r\n"));
    }
}
