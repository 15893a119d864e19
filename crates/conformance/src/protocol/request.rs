//! A request to open a WebSocket (RFC 6455 §4.1), of which every byte can be changed.

use std::fmt;

use crate::Server;

/// The key of the RFC's example (§1.3). The same in all cases: nothing here has to be hard to guess.
pub(crate) const KEY: &str = "dGhlIHNhbXBsZSBub25jZQ==";

/// A request to open a WebSocket, in order unless a case changed it.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    /// The request line.
    pub(crate) line: String,
    /// The field lines, as written.
    pub(crate) fields: Vec<String>,
}

impl Request {
    /// The usual request to a server.
    pub(crate) fn new(server: &Server) -> Self {
        Self {
            line: format!("GET {} HTTP/1.1", server.path()),
            fields: vec![
                format!("Host: {}", server.authority()),
                "Upgrade: websocket".to_owned(),
                "Connection: Upgrade".to_owned(),
                format!("Sec-WebSocket-Key: {KEY}"),
                "Sec-WebSocket-Version: 13".to_owned(),
            ],
        }
    }

    /// The request with one more field.
    pub(crate) fn with(mut self, field: impl Into<String>) -> Self {
        self.fields.push(field.into());
        self
    }

    /// The request without a field.
    pub(crate) fn without(mut self, name: &str) -> Self {
        self.fields
            .retain(|field| !field.starts_with(&format!("{name}:")));
        self
    }

    /// The request with another value of a field, in its place.
    pub(crate) fn replacing(mut self, name: &str, value: &str) -> Self {
        for field in &mut self.fields {
            if field.starts_with(&format!("{name}:")) {
                *field = format!("{name}: {value}");
            }
        }
        self
    }

    /// The request as bytes.
    pub(crate) fn encode(&self) -> Vec<u8> {
        self.to_string().into_bytes()
    }
}

impl fmt::Display for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\r\n", self.line)?;
        for field in &self.fields {
            write!(f, "{field}\r\n")?;
        }
        f.write_str("\r\n")
    }
}
