//! The server under test: its URL, and connections to it.

use std::{fmt, sync::Arc};

use rustls::ClientConfig;
use url::Url;

use crate::address::{Address, DialError, Duplex};

/// A server under test.
#[derive(Clone, Debug)]
pub struct Server {
    address: Address,
    /// Path and query.
    path: String,
}

/// A text that is not an address of a WebSocket server.
#[derive(Debug, thiserror::Error)]
#[error(
    "{url:?} is not a WebSocket URL: {reason}; expected something like ws://localhost:8080/cable or \
     wss://localhost:9001/echo"
)]
pub struct UrlError {
    url: String,
    reason: String,
}

impl Server {
    /// Parses a `ws://` URL, or with `tls` also a `wss://` URL. Port 0 is kept: it stands for a free port that a
    /// suite takes.
    ///
    /// # Errors
    /// The text is no such URL.
    pub fn parse(url: &str, tls: Option<Arc<ClientConfig>>) -> Result<Self, UrlError> {
        let wrong = |reason: &str| UrlError {
            url: plimsoll_redacted::url_with_query(url).into_owned(),
            reason: reason.to_owned(),
        };
        let parsed = Url::parse(url).map_err(|error| wrong(&error.to_string()))?;
        let (usual_port, tls) = match parsed.scheme() {
            "ws" => (80, None),
            "wss" if tls.is_some() => (443, tls),
            "wss" => return Err(wrong("TLS is not set up")),
            _ => return Err(wrong("its scheme is neither ws nor wss")),
        };
        if parsed.fragment().is_some() {
            return Err(wrong("it has a fragment (#…)"));
        }
        let address = Address::of(&parsed, usual_port, tls).ok_or_else(|| wrong("it names no host"))?;
        Ok(Self {
            address,
            path: match parsed.query() {
                Some(query) => format!("{}?{query}", parsed.path()),
                None => parsed.path().to_owned(),
            },
        })
    }

    /// The address of the server.
    pub(crate) fn address(&self) -> &Address {
        &self.address
    }

    /// The value of the `Host` field.
    pub(crate) fn authority(&self) -> String {
        self.address.authority()
    }

    /// The path and the query for the request line.
    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    /// `http://authority`, or `https://`.
    pub(crate) fn origin(&self) -> String {
        let scheme = if self.address.is_secure() { "https" } else { "http" };
        format!("{scheme}://{}", self.authority())
    }

    /// `http://authority/path`, for requests in absolute form.
    pub(crate) fn absolute(&self) -> String {
        self.origin() + &self.path
    }

    /// The server at another port.
    pub(crate) fn with_port(&self, port: u16) -> Self {
        Self {
            address: self.address.with_port(port),
            path: self.path.clone(),
        }
    }

    /// The server with an addition to its query, such as `test=cookies`; nothing for an empty text.
    pub(crate) fn with_query(mut self, more: &str) -> Self {
        if !more.is_empty() {
            let sign = if self.path.contains('?') { '&' } else { '?' };
            self.path.extend([String::from(sign).as_str(), more]);
        }
        self
    }

    /// A fresh connection, secured where the URL says so. What is written goes out at once.
    ///
    /// # Errors
    /// See [`DialError`].
    pub(crate) async fn dial(&self) -> Result<Box<dyn Duplex>, DialError> {
        self.address.dial().await
    }
}

/// The URL as people see it: with `***` instead of tokens.
impl fmt::Display for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = if self.address.is_secure() { "wss" } else { "ws" };
        let url = format!("{scheme}://{}{}", self.authority(), self.path);
        f.write_str(&plimsoll_redacted::url_with_query(&url))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_taken_apart() {
        for (url, authority, path, path_with_query) in [
            (
                "ws://localhost:8080/cable",
                "localhost:8080",
                "/cable",
                "/cable?q=1",
            ),
            (
                "ws://127.0.0.1:0/cable?a=b",
                "127.0.0.1:0",
                "/cable?a=b",
                "/cable?a=b&q=1",
            ),
            ("ws://example.com", "example.com:80", "/", "/?q=1"),
            ("ws://[::1]:9292/cable", "[::1]:9292", "/cable", "/cable?q=1"),
        ] {
            let server = Server::parse(url, None).unwrap();
            assert_eq!(server.authority(), authority);
            assert_eq!(server.path(), path);
            assert_eq!(server.to_string(), format!("ws://{authority}{path}"));
            assert_eq!(server.absolute(), format!("http://{authority}{path}"));
            assert_eq!(server.clone().with_query("").path(), path);
            assert_eq!(server.with_query("q=1").path(), path_with_query);
        }
    }

    #[test]
    fn other_urls_are_refused_with_an_example() {
        for (url, reason) in [
            ("http://localhost/", "neither ws nor wss"),
            ("localhost:9001", "neither ws nor wss"),
            ("cable", "relative URL without a base"),
            ("ws://h/#x", "fragment"),
            ("ws://", "host"),
            ("wss://h/", "TLS is not set up"),
        ] {
            let error = Server::parse(url, None).unwrap_err().to_string();
            assert!(error.contains(reason), "{error}");
            assert!(error.contains("ws://localhost:8080/cable"), "{error}");
        }
    }
}
