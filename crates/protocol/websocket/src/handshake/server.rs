//! The server's side of the opening handshake (RFC 6455 §4.2).
//!
//! [`Request::parse`] reads any HTTP/1 request head, so that the same port can serve plain HTTP too;
//! [`Upgrade::from_request`] then checks what a WebSocket needs, and [`Upgrade::response`] writes the answer.

use base64::Engine as _;
use base64::alphabet;
use base64::engine::{GeneralPurpose, GeneralPurposeConfig};

use super::{MAX_HEAD_BYTES, MAX_HEADERS, VERSION, accept_value, extension, field};
use crate::deflate::{Agreed, Parameters, Preferences};

mod error;
#[cfg(test)]
mod tests;

pub use error::HandshakeError;

/// A request head, borrowed from the bytes it was parsed from.
#[derive(Debug)]
pub struct Request<'a> {
    method: &'a str,
    target: &'a str,
    minor_version: u8,
    headers: Vec<httparse::Header<'a>>,
}

impl<'a> Request<'a> {
    /// Reads the head at the front of `bytes`. Returns it with its length, after which the body or the first frames
    /// follow; `None` while the head is incomplete.
    ///
    /// # Errors
    /// The head is malformed, or longer than [`MAX_HEAD_BYTES`] or
    /// [`MAX_HEADERS`] lines.
    pub fn parse(bytes: &'a [u8]) -> Result<Option<(Self, usize)>, HandshakeError> {
        let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
        let mut parsed = httparse::Request::new(&mut headers);
        let head = &bytes[..bytes.len().min(MAX_HEAD_BYTES)];
        let status = parsed.parse(head).map_err(|e| match e {
            httparse::Error::TooManyHeaders => HandshakeError::HeadTooLarge,
            e => HandshakeError::Malformed(e),
        })?;
        match (status, parsed) {
            (
                httparse::Status::Complete(len),
                httparse::Request {
                    method: Some(method),
                    path: Some(target),
                    version: Some(version),
                    headers,
                },
            ) => {
                check_line_ends(&head[..len])?;
                let request = Self {
                    method,
                    target,
                    minor_version: version,
                    headers: headers.to_vec(),
                };
                Ok(Some((request, len)))
            }
            _ if head.len() == MAX_HEAD_BYTES => Err(HandshakeError::HeadTooLarge),
            _ => Ok(None),
        }
    }

    /// The method, as sent: `GET` for a WebSocket.
    pub fn method(&self) -> &'a str {
        self.method
    }

    /// The request target, as sent.
    pub fn target(&self) -> &'a str {
        self.target
    }

    /// The path of the target, not decoded: from the first `/` to the query.
    pub fn path(&self) -> &'a str {
        let (path, _) = split_query(self.target);
        // The absolute form is allowed, too (RFC 6455 §4.1, RFC 9112 §3.2.2).
        match path.split_once("://") {
            Some((_, rest)) => rest.find('/').map_or("/", |slash| &rest[slash..]),
            None => path,
        }
    }

    /// The query of the target without its `?`, not decoded.
    pub fn query(&self) -> Option<&'a str> {
        split_query(self.target).1
    }

    /// The value of the first header line with this name, in any case. Lines that are not UTF-8 do not count.
    pub fn header(&self, name: &str) -> Option<&'a str> {
        self.headers(name).next()
    }

    /// The values of all header lines with this name, in any case. Lines that are not UTF-8 do not count.
    pub fn headers<'s>(&'s self, name: &'s str) -> impl Iterator<Item = &'a str> + use<'a, 's> {
        field::values(&self.headers, name)
    }

    /// Checks that there is one `Host` whose value is only a host, with or without a port (RFC 9112 §3.2). HTTP/1.0 may
    /// omit it.
    ///
    /// # Errors
    /// [`HandshakeError::Host`].
    pub fn check_host(&self) -> Result<(), HandshakeError> {
        let mut hosts = self
            .headers
            .iter()
            .filter(|header| header.name.eq_ignore_ascii_case("Host"));
        let is_well_formed = match (hosts.next(), hosts.next()) {
            (Some(host), None) => is_host(host.value.trim_ascii()),
            (None, _) => self.minor_version < 1,
            (Some(_), Some(_)) => false,
        };
        is_well_formed.then_some(()).ok_or(HandshakeError::Host)
    }

    /// Whether the request asks for a WebSocket, correctly or not: it has `Upgrade: websocket`.
    pub fn is_upgrade(&self) -> bool {
        field::has_token(&self.headers, "Upgrade", "websocket")
    }
}

/// A request that may become a WebSocket. Owned, so that the head's buffer can be reused while the application
/// decides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Upgrade {
    accept: String,
    protocols: Vec<String>,
    offers: Vec<Parameters>,
}

impl Upgrade {
    /// Checks the request (RFC 6455 §4.2.1).
    ///
    /// # Errors
    /// The first rule that is broken, with its answer in [`HandshakeError::response`].
    pub fn from_request(request: &Request<'_>) -> Result<Self, HandshakeError> {
        if request.method != "GET" {
            return Err(HandshakeError::Method);
        }
        if request.minor_version < 1 {
            return Err(HandshakeError::HttpVersion);
        }
        if !request.is_upgrade() {
            return Err(HandshakeError::NotUpgrade);
        }
        if !field::has_token(&request.headers, "Connection", "upgrade") {
            return Err(HandshakeError::Connection);
        }
        request.check_host()?;
        check_body(request)?;
        let mut versions = field::list(&request.headers, "Sec-WebSocket-Version");
        if !versions.any(|version| version == VERSION) {
            return Err(HandshakeError::Version);
        }
        Ok(Self {
            accept: accept_value(key(request)?),
            protocols: protocols(request)?,
            offers: offers(request)?,
        })
    }

    /// The sub-protocols that the client offers, in its order of preference.
    pub fn protocols(&self) -> impl Iterator<Item = &str> {
        self.protocols.iter().map(String::as_str)
    }

    /// Chooses among the client's offers of permessage-deflate: the first that can be fulfilled, or `None`.
    pub fn negotiate(&self, preferences: &Preferences) -> Option<Agreed> {
        preferences.choose(&self.offers)
    }

    /// The head of the 101 answer. `protocol` must be one of [`protocols`](Self::protocols), `deflate` the result of
    /// [`negotiate`](Self::negotiate), and `headers` valid field lines: they are written unchanged.
    pub fn response(
        &self,
        protocol: Option<&str>,
        deflate: Option<&Agreed>,
        headers: &[(&str, &str)],
    ) -> Vec<u8> {
        let mut head =
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n".to_owned();
        field::push(&mut head, "Sec-WebSocket-Accept", &self.accept);
        if let Some(protocol) = protocol {
            field::push(&mut head, "Sec-WebSocket-Protocol", protocol);
        }
        if let Some(agreed) = deflate {
            field::push(
                &mut head,
                "Sec-WebSocket-Extensions",
                &agreed.response().to_string(),
            );
        }
        for (name, value) in headers {
            field::push(&mut head, name, value);
        }
        head.push_str("\r\n");
        head.into_bytes()
    }
}

fn split_query(target: &str) -> (&str, Option<&str>) {
    target
        .split_once('?')
        .map_or((target, None), |(path, query)| (path, Some(query)))
}

/// The value of the only `Sec-WebSocket-Key`: 16 bytes in base64.
fn key<'a>(request: &Request<'a>) -> Result<&'a str, HandshakeError> {
    /// Accepts trailing bits: the RFC's own example key, `AQIDBAUGBwgJCgsMDQ4PEC==` (§4.1), has bits set after its last
    /// byte.
    const BASE64: GeneralPurpose = GeneralPurpose::new(
        &alphabet::STANDARD,
        GeneralPurposeConfig::new().with_decode_allow_trailing_bits(true),
    );
    let mut keys = request.headers("Sec-WebSocket-Key");
    let (Some(key), None) = (keys.next(), keys.next()) else {
        return Err(HandshakeError::Key);
    };
    match BASE64.decode(key) {
        Ok(bytes) if bytes.len() == 16 => Ok(key),
        _ => Err(HandshakeError::Key),
    }
}

fn is_host(value: &[u8]) -> bool {
    value
        .iter()
        .all(|byte| byte.is_ascii_graphic() && !b",/@?#\\\"<>".contains(byte))
}

/// Rejects a bare LF. Some readers treat it as a line end and others do not, so that they see different headers (RFC
/// 9112 §2.2).
fn check_line_ends(head: &[u8]) -> Result<(), HandshakeError> {
    let has_bare = head.windows(2).any(|pair| pair[1] == b'\n' && pair[0] != b'\r');
    if has_bare || head.starts_with(b"\n") {
        Err(HandshakeError::LineEnd)
    } else {
        Ok(())
    }
}

/// Rejects a request with a body. Frames follow the head, and bytes that another reader takes for a body would be taken
/// for frames here.
fn check_body(request: &Request<'_>) -> Result<(), HandshakeError> {
    let mut lengths = request.headers("Content-Length");
    let has_body = lengths.any(|length| length != "0") || request.header("Transfer-Encoding").is_some();
    if has_body {
        Err(HandshakeError::Body)
    } else {
        Ok(())
    }
}

/// The valid offers of permessage-deflate.
fn offers(request: &Request<'_>) -> Result<Vec<Parameters>, HandshakeError> {
    let mut offers = Vec::new();
    for extension in request
        .headers("Sec-WebSocket-Extensions")
        .flat_map(extension::parse)
    {
        if !extension.is_well_formed() {
            return Err(HandshakeError::Extensions);
        }
        offers.extend(Parameters::parse(&extension));
    }
    Ok(offers)
}

fn protocols(request: &Request<'_>) -> Result<Vec<String>, HandshakeError> {
    field::list(&request.headers, "Sec-WebSocket-Protocol")
        .map(|protocol| {
            if field::is_token(protocol) {
                Ok(protocol.to_owned())
            } else {
                Err(HandshakeError::Protocol)
            }
        })
        .collect()
}
