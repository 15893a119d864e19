//! The server under test: where it is, and connections to it.

use std::{io, sync::Arc};

use rustls::{ClientConfig, pki_types::ServerName};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use super::connection::Duplex;

/// A server under test.
#[derive(Clone, Debug)]
pub struct Server {
    host: String,
    port: u16,
    /// Path and query.
    path: String,
    tls: Option<Arc<ClientConfig>>,
}

/// A text that is no address of a WebSocket server.
#[derive(Debug, thiserror::Error)]
#[error("{url:?} is no WebSocket URL: {reason}; expected one such as ws://127.0.0.1:8080/echo")]
pub struct UrlError {
    url: String,
    reason: String,
}

impl Server {
    /// Reads a `ws://` URL; or a `wss://` one, if `tls` says how connections are secured.
    ///
    /// # Errors
    /// The text is no such URL.
    pub fn parse(url: &str, tls: Option<Arc<ClientConfig>>) -> Result<Self, UrlError> {
        let wrong = |reason: &str| UrlError {
            url: url.to_owned(),
            reason: reason.to_owned(),
        };
        let parsed = url::Url::parse(url).map_err(|error| wrong(&error.to_string()))?;
        let is_secure = match parsed.scheme() {
            "ws" => false,
            "wss" if tls.is_some() => true,
            "wss" => return Err(wrong("TLS is not set up")),
            _ => return Err(wrong("its scheme is neither ws nor wss")),
        };
        if parsed.fragment().is_some() {
            return Err(wrong("it has a fragment (#…)"));
        }
        let host = parsed.host_str().ok_or_else(|| wrong("it names no host"))?;
        let default_port = if is_secure { 443 } else { 80 };
        Ok(Self {
            host: host.to_owned(),
            port: parsed.port().unwrap_or(default_port),
            path: match parsed.query() {
                Some(query) => format!("{}?{query}", parsed.path()),
                None => parsed.path().to_owned(),
            },
            tls: tls.filter(|_| is_secure),
        })
    }

    /// For the `Host` field.
    pub(super) fn authority(&self) -> String {
        format!("{}:{}", self.host, self.port)
    }

    /// For the request line: path and query.
    pub(super) fn path(&self) -> &str {
        &self.path
    }

    /// As people type it.
    pub(super) fn url(&self) -> String {
        let scheme = if self.tls.is_some() { "wss" } else { "ws" };
        format!("{scheme}://{}{}", self.authority(), self.path)
    }

    /// `http://authority/path`, for requests in absolute form.
    pub(super) fn absolute(&self) -> String {
        let scheme = if self.tls.is_some() { "https" } else { "http" };
        format!("{scheme}://{}{}", self.authority(), self.path)
    }

    /// A fresh connection, secured where the URL says so. What is written goes out at once.
    ///
    /// # Errors
    /// The server cannot be reached, or TLS does not come about.
    pub(super) async fn dial(&self) -> io::Result<Box<dyn Duplex>> {
        let bare_host = self.host.trim_matches(['[', ']']);
        let socket = TcpStream::connect((bare_host, self.port)).await?;
        socket.set_nodelay(true)?;
        let Some(tls) = &self.tls else {
            return Ok(Box::new(socket));
        };
        let name = ServerName::try_from(bare_host.to_owned()).map_err(io::Error::other)?;
        let secured = TlsConnector::from(Arc::clone(tls)).connect(name, socket).await?;
        Ok(Box::new(secured))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_read() {
        let server = |url| Server::parse(url, None);
        let parsed = server("ws://[::1]:9001/echo?a=b").unwrap();
        assert_eq!(
            (parsed.authority().as_str(), parsed.path()),
            ("[::1]:9001", "/echo?a=b")
        );
        let parsed = server("ws://localhost").unwrap();
        assert_eq!(parsed.absolute(), "http://localhost:80/");
        for (url, reason) in [
            ("http://localhost/", "neither ws nor wss"),
            ("localhost:9001", "neither ws nor wss"),
            ("ws://h/#x", "fragment"),
            ("ws://", "host"),
            ("wss://h/", "TLS is not set up"),
        ] {
            let error = server(url).unwrap_err().to_string();
            assert!(error.contains(reason), "{error}");
        }
    }
}
