//! Where the server under test listens.

use std::{fmt, str::FromStr};

use url::{Host, Url};

/// `ws://host:port/path?query`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    host: String,
    port: u16,
    /// With the query.
    path: String,
}

/// Why a URL is no target.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum EndpointError {
    /// Not a URL at all.
    #[error("this is no URL ({0}); give one like ws://localhost:8080/cable")]
    NoUrl(#[from] url::ParseError),
    /// TLS ends in front of what is tested here.
    #[error("{0}:// is not spoken by this suite; give a plain URL like ws://localhost:8080/cable")]
    Scheme(String),
    /// A URL such as `ws:///cable`.
    #[error("the URL has no host; give one like ws://localhost:8080/cable")]
    NoHost,
}

impl Endpoint {
    /// The host, as a URL has it: an IPv6 address in brackets.
    pub(super) fn host(&self) -> &str {
        &self.host
    }

    /// 0 means that a free one is to be taken.
    pub(super) fn port(&self) -> u16 {
        self.port
    }

    pub(super) fn with_port(&self, port: u16) -> Self {
        Self { port, ..self.clone() }
    }

    /// `host:port`, as it is connected to and as the `Host` header has it.
    pub(super) fn authority(&self) -> String {
        format!("{}:{}", self.host, self.port)
    }

    /// The path of a request with more in its query: `test=cookies`, or nothing.
    pub(super) fn path_with(&self, query: &str) -> String {
        match (query, self.path.contains('?')) {
            ("", _) => self.path.clone(),
            (query, true) => format!("{}&{query}", self.path),
            (query, false) => format!("{}?{query}", self.path),
        }
    }
}

impl FromStr for Endpoint {
    type Err = EndpointError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let url = Url::parse(text)?;
        if url.scheme() != "ws" {
            return Err(EndpointError::Scheme(url.scheme().to_owned()));
        }
        let host = match url.host().ok_or(EndpointError::NoHost)? {
            Host::Ipv6(address) => format!("[{address}]"),
            host => host.to_string(),
        };
        let query = url.query().map(|query| format!("?{query}")).unwrap_or_default();
        Ok(Self {
            host,
            port: url.port_or_known_default().unwrap_or(80),
            path: format!("{}{query}", url.path()),
        })
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ws://{}:{}{}", self.host, self.port, self.path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_taken_apart() {
        for (url, authority, path) in [
            ("ws://localhost:8080/cable", "localhost:8080", "/cable?q=1"),
            ("ws://127.0.0.1:0/cable?a=b", "127.0.0.1:0", "/cable?a=b&q=1"),
            ("ws://example.com", "example.com:80", "/?q=1"),
            ("ws://[::1]:9292/cable", "[::1]:9292", "/cable?q=1"),
        ] {
            let target: Endpoint = url.parse().unwrap();
            assert_eq!(target.authority(), authority);
            assert_eq!(target.path_with("q=1"), path);
        }
        let target: Endpoint = "ws://[::1]:9292/cable".parse().unwrap();
        assert_eq!(target.to_string(), "ws://[::1]:9292/cable");
        assert_eq!(target.path_with(""), "/cable");
    }

    #[test]
    fn other_urls_are_refused_with_an_example() {
        for url in [
            "localhost:8080",
            "wss://localhost/cable",
            "cable",
            "http://localhost/cable",
        ] {
            let error = url.parse::<Endpoint>().unwrap_err().to_string();
            assert!(error.contains("ws://localhost:8080/cable"), "{url}: {error}");
        }
    }
}
