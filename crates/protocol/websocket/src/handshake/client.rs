//! The client's side of the opening handshake (RFC 6455 §4.1).

use super::{BASE64, MAX_HEADERS, VERSION, accept_value, extension, field};
use crate::deflate::{Agreed, Parameters, Preferences};

mod error;
mod head;
#[cfg(test)]
mod tests;

use base64::Engine as _;
pub use error::HandshakeError;
pub use head::ResponseHead;

/// One handshake: the request, and so the expected response.
#[derive(Debug, Clone)]
pub struct Handshake {
    host: String,
    target: String,
    /// Text of the `Sec-WebSocket-Key`.
    key: String,
    origin: Option<String>,
    protocols: Vec<String>,
    headers: Vec<(String, String)>,
    deflate: Option<Preferences>,
}

/// The parameters that the server accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Accepted {
    /// The chosen sub-protocol, one of those offered.
    pub protocol: Option<String>,
    /// The parameters of permessage-deflate, if offered and accepted.
    pub deflate: Option<Agreed>,
}

impl Handshake {
    /// A request for `target` (path and query, for example `/cable?token=1`) of `host` (with the port, unless it is
    /// the scheme's default). `key` must be random for each connection (RFC 6455 §4.1).
    pub fn new(host: &str, target: &str, key: [u8; 16]) -> Self {
        Self {
            host: host.to_owned(),
            target: target.to_owned(),
            key: BASE64.encode(key),
            origin: None,
            protocols: Vec::new(),
            headers: Vec::new(),
            deflate: None,
        }
    }

    /// Sends this `Origin`.
    pub fn origin(mut self, origin: &str) -> Self {
        self.origin = Some(origin.to_owned());
        self
    }

    /// Offers these sub-protocols, the preferred one first.
    pub fn protocols(mut self, protocols: &[&str]) -> Self {
        self.protocols = protocols.iter().map(|&protocol| protocol.to_owned()).collect();
        self
    }

    /// Adds header lines, for example `Cookie`; not `Host`, `Origin`, `Upgrade`, `Connection` and `Sec-WebSocket-*`,
    /// which the handshake writes itself.
    pub fn headers(mut self, headers: &[(&str, &str)]) -> Self {
        self.headers.extend(
            headers
                .iter()
                .map(|&(name, value)| (name.to_owned(), value.to_owned())),
        );
        self
    }

    /// Offers permessage-deflate.
    pub fn deflate(mut self, preferences: Preferences) -> Self {
        self.deflate = Some(preferences);
        self
    }

    /// The request head.
    ///
    /// # Errors
    /// A text given to the builder cannot stand in an HTTP head.
    pub fn request(&self) -> Result<Vec<u8>, HandshakeError> {
        self.check_texts()?;
        let mut head = format!("GET {} HTTP/1.1\r\n", self.target);
        field::push(&mut head, "Host", &self.host);
        head.push_str("Upgrade: websocket\r\nConnection: Upgrade\r\n");
        field::push(&mut head, "Sec-WebSocket-Version", VERSION);
        field::push(&mut head, "Sec-WebSocket-Key", &self.key);
        if let Some(origin) = &self.origin {
            field::push(&mut head, "Origin", origin);
        }
        if !self.protocols.is_empty() {
            field::push(&mut head, "Sec-WebSocket-Protocol", &self.protocols.join(", "));
        }
        if let Some(preferences) = &self.deflate {
            field::push(
                &mut head,
                "Sec-WebSocket-Extensions",
                &preferences.offer().to_string(),
            );
        }
        for (name, value) in &self.headers {
            field::push(&mut head, name, value);
        }
        head.push_str("\r\n");
        Ok(head.into_bytes())
    }

    /// Reads the answer at the front of `bytes`. Returns the accepted parameters and the length of the head, after
    /// which the first frames may follow; `None` while the head is incomplete.
    ///
    /// # Errors
    /// The server refused, or its answer breaks the protocol (RFC 6455 §4.1, last part).
    pub fn parse_response(&self, bytes: &[u8]) -> Result<Option<(Accepted, usize)>, HandshakeError> {
        let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
        let mut response = httparse::Response::new(&mut headers);
        let Some(len) = head::parse(&mut response, bytes)? else {
            return Ok(None);
        };
        let status = response.code.unwrap_or_default();
        if status != 101 {
            return Err(HandshakeError::refused(status, response.reason, &bytes[len..]));
        }
        Ok(Some((self.check(response.headers)?, len)))
    }

    /// Checks that no text can end its line of the head, or contradict the handshake.
    fn check_texts(&self) -> Result<(), HandshakeError> {
        if !self.target.starts_with('/') || !self.target.bytes().all(|byte| byte.is_ascii_graphic()) {
            let expected = "a path without spaces, for example /cable?token=1";
            return Err(invalid("the request target", &self.target, expected));
        }
        if let Some(protocol) = self.protocols.iter().find(|protocol| !field::is_token(protocol)) {
            let expected = "a token, for example actioncable-v1-json";
            return Err(invalid("the sub-protocol", protocol, expected));
        }
        if let Some((name, _)) = self.headers.iter().find(|(name, _)| !field::is_token(name)) {
            return Err(invalid(
                "the header name",
                name,
                "a token, for example Authorization",
            ));
        }
        if let Some((name, _)) = self.headers.iter().find(|(name, _)| is_own(name)) {
            return Err(invalid(
                "an added header",
                name,
                "one that the handshake does not write itself",
            ));
        }
        let values = self.headers.iter().map(|(name, value)| (name.as_str(), value));
        let origin = self.origin.iter().map(|origin| ("Origin", origin));
        for (name, value) in values.chain(origin).chain([("Host", &self.host)]) {
            if !field::is_value(value) {
                return Err(invalid(
                    &format!("the header {name}"),
                    value,
                    "one line without control characters",
                ));
            }
        }
        Ok(())
    }

    fn check(&self, headers: &[httparse::Header<'_>]) -> Result<Accepted, HandshakeError> {
        if !field::has_token(headers, "Upgrade", "websocket") {
            return Err(HandshakeError::Upgrade);
        }
        if !field::has_token(headers, "Connection", "upgrade") {
            return Err(HandshakeError::Connection);
        }
        let mut accepts = field::values(headers, "Sec-WebSocket-Accept");
        if accepts.next() != Some(&accept_value(&self.key)) || accepts.next().is_some() {
            return Err(HandshakeError::Accept);
        }
        Ok(Accepted {
            protocol: self.check_protocol(headers)?,
            deflate: self.check_extensions(headers)?,
        })
    }

    fn check_protocol(&self, headers: &[httparse::Header<'_>]) -> Result<Option<String>, HandshakeError> {
        let mut chosen = field::values(headers, "Sec-WebSocket-Protocol");
        let Some(protocol) = chosen.next() else {
            return Ok(None);
        };
        if chosen.next().is_some() || !self.protocols.iter().any(|offered| offered == protocol) {
            return Err(HandshakeError::Protocol {
                protocol: protocol.to_owned(),
            });
        }
        Ok(Some(protocol.to_owned()))
    }

    fn check_extensions(&self, headers: &[httparse::Header<'_>]) -> Result<Option<Agreed>, HandshakeError> {
        let mut agreed = None;
        for value in field::values(headers, "Sec-WebSocket-Extensions") {
            for extension in extension::parse(value) {
                let accepted = Parameters::parse(&extension).zip(self.deflate);
                let verified = accepted.and_then(|(response, preferences)| preferences.verify(&response));
                if verified.is_none() || agreed.is_some() {
                    return Err(HandshakeError::Extension {
                        value: value.to_owned(),
                    });
                }
                agreed = verified;
            }
        }
        Ok(agreed)
    }
}

/// Whether the handshake writes this header itself or has a method for it.
fn is_own(name: &str) -> bool {
    const PREFIX: &str = "sec-websocket-";
    name.get(..PREFIX.len())
        .is_some_and(|start| start.eq_ignore_ascii_case(PREFIX))
        || ["host", "origin", "upgrade", "connection"]
            .iter()
            .any(|own| name.eq_ignore_ascii_case(own))
}

fn invalid(what: &str, text: &str, expected: &'static str) -> HandshakeError {
    HandshakeError::InvalidText {
        what: what.to_owned(),
        text: text.to_owned(),
        expected,
    }
}
