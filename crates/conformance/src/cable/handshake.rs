//! The opening handshake (RFC 6455 §4) of a cable client.

use crate::{Server, protocol::request::Request};

/// The base protocol, which every server of cables speaks.
pub(super) const BASE_PROTOCOL: &str = "actioncable-v1-json";

/// AnyCable's extended protocol: history and resumed sessions (docs/protocols/extended.md).
pub(super) const EXTENDED_PROTOCOL: &str = "actioncable-v1-ext-json";

/// The parts of a client's request.
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
    pub(super) fn request(&self, target: &Server) -> Request {
        let mut request = Request::new(&target.clone().with_query(self.query));
        if !self.protocols.is_empty() {
            request = request.with(format!("Sec-WebSocket-Protocol: {}", self.protocols.join(", ")));
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
            protocols: &["a", "b"],
            query: "test=cookies",
            headers: &[("Cookie", "username=john green")],
        };
        let request = handshake.request(&target).to_string();
        assert!(request.starts_with("GET /cable?test=cookies HTTP/1.1\r\nHost: localhost:8080\r\n"));
        assert!(request.contains("Sec-WebSocket-Protocol: a, b\r\nCookie: username=john green\r\n\r\n"));
    }
}
