//! One HTTP proxy: its address, its password, and tunnels through it (RFC 9110 §9.3.6).

use std::{fmt, io, str::FromStr};

use base64::{Engine, prelude::BASE64_STANDARD};
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use url::Url;

use super::DialError;

/// The longest answer to CONNECT. Proxies send a few hundred bytes.
const MAX_ANSWER_BYTES: usize = 64 << 10;

/// The port of a proxy without a port, that of its scheme.
const DEFAULT_PORT: u16 = 80;

/// The most fields in the head of an answer to CONNECT.
const MAX_FIELDS: usize = 64;

/// A proxy that speaks HTTP without TLS.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Proxy {
    /// Without brackets.
    host: String,
    port: u16,
    /// The value of `Proxy-Authorization`.
    authorization: Option<String>,
}

/// A text that names no usable proxy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProxyError {
    /// The text is not a URL, or has no host.
    #[error("{0:?} is not a proxy; expected something like http://127.0.0.1:3128 or 127.0.0.1:3128")]
    Url(String),
    /// A protocol of proxies that is not supported.
    #[error(
        "{url:?}: proxies with the scheme {scheme} are not supported; expected an HTTP proxy such as http://127.0.0.1:3128"
    )]
    Scheme {
        /// The text without user and password.
        url: String,
        /// Its scheme.
        scheme: String,
    },
}

impl Proxy {
    /// The host without brackets.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// The port.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The value of the field `Proxy-Authorization`; `None` for a proxy without a password.
    pub fn authorization(&self) -> Option<&str> {
        self.authorization.as_deref()
    }

    /// The same proxy with this user and password.
    #[must_use]
    pub fn with_password(mut self, user: &str, password: &str) -> Self {
        let pair = BASE64_STANDARD.encode(format!("{user}:{password}"));
        self.authorization = Some(format!("Basic {pair}"));
        self
    }

    /// Asks the proxy, to which `stream` is connected, for a connection to `host`.
    ///
    /// # Errors
    /// [`DialError::Proxy`]; the connection cannot be used any more.
    pub async fn tunnel<S>(&self, stream: &mut S, host: &str, port: u16) -> Result<(), DialError>
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        let outcome = self.ask(stream, &authority(host, port)).await;
        outcome.map_err(|Refusal { status, reason }| DialError::Proxy {
            proxy: self.to_string(),
            status,
            reason,
        })
    }

    async fn ask<S>(&self, stream: &mut S, target: &str) -> Result<(), Refusal>
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        let lost = |error: io::Error| Refusal::unanswered(error.to_string());
        let mut request = format!("CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n");
        if let Some(authorization) = &self.authorization {
            request.push_str(&format!("Proxy-Authorization: {authorization}\r\n"));
        }
        request.push_str("\r\n");
        stream.write_all(request.as_bytes()).await.map_err(lost)?;
        stream.flush().await.map_err(lost)?;
        let mut answer = Vec::new();
        loop {
            // One byte at a time: bytes after the head belong to the tunnel.
            let byte = stream.read_u8().await.map_err(|error| match error.kind() {
                io::ErrorKind::UnexpectedEof => {
                    Refusal::unanswered("it ended the connection without an answer")
                }
                _ => lost(error),
            })?;
            answer.push(byte);
            if answer.ends_with(b"\r\n\r\n") || answer.ends_with(b"\n\n") {
                return status(&answer);
            }
            if answer.len() >= MAX_ANSWER_BYTES {
                return Err(Refusal::unanswered("its answer has no end"));
            }
        }
    }
}

/// Why there is no tunnel.
struct Refusal {
    /// The status of the answer, if there was one.
    status: Option<u16>,
    reason: String,
}

impl Refusal {
    fn unanswered(reason: impl Into<String>) -> Self {
        Self {
            status: None,
            reason: reason.into(),
        }
    }
}

/// Whether the head of an answer grants the tunnel.
fn status(head: &[u8]) -> Result<(), Refusal> {
    let mut fields = [httparse::EMPTY_HEADER; MAX_FIELDS];
    let mut answer = httparse::Response::new(&mut fields);
    if answer.parse(head).is_err() {
        return Err(Refusal::unanswered("its answer is not HTTP"));
    }
    match answer.code {
        Some(200..300) => Ok(()),
        Some(code) => Err(Refusal {
            status: Some(code),
            reason: format!("it answered {code} {}", answer.reason.unwrap_or_default())
                .trim_end()
                .to_owned(),
        }),
        None => Err(Refusal::unanswered("its answer is not HTTP")),
    }
}

/// `host:port`, with brackets around an IPv6 address.
fn authority(host: &str, port: u16) -> String {
    if host.contains(':') {
        format!("[{host}]:{port}")
    } else {
        format!("{host}:{port}")
    }
}

impl FromStr for Proxy {
    type Err = ProxyError;

    /// Reads a URL. Without a scheme, it is an HTTP proxy.
    fn from_str(text: &str) -> Result<Self, ProxyError> {
        let shown = || plimsoll_redacted::url(text).into_owned();
        let whole = if text.contains("://") {
            text.to_owned()
        } else {
            format!("http://{text}")
        };
        let url: Url = whole.parse().map_err(|_| ProxyError::Url(shown()))?;
        if url.scheme() != "http" {
            return Err(ProxyError::Scheme {
                url: shown(),
                scheme: url.scheme().to_owned(),
            });
        }
        let host = url.host_str().filter(|host| !host.is_empty());
        let proxy = Self {
            host: host
                .ok_or_else(|| ProxyError::Url(shown()))?
                .trim_matches(['[', ']'])
                .to_owned(),
            port: url.port().unwrap_or(DEFAULT_PORT),
            authorization: None,
        };
        let decode = |text: &str| {
            percent_encoding::percent_decode_str(text)
                .decode_utf8_lossy()
                .into_owned()
        };
        Ok(match (url.username(), url.password()) {
            ("", None) => proxy,
            (user, password) => proxy.with_password(&decode(user), &decode(password.unwrap_or_default())),
        })
    }
}

/// Without the password.
impl fmt::Display for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&authority(&self.host, self.port))
    }
}

/// Without the password.
impl fmt::Debug for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Proxy({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proxy_is_a_url_or_a_host_with_a_port() {
        let check = |text: &str, shown: &str, authorization: Option<&str>| {
            let proxy: Proxy = text.parse().unwrap();
            assert_eq!(
                (proxy.to_string().as_str(), proxy.authorization()),
                (shown, authorization)
            );
        };
        check("http://127.0.0.1:3128", "127.0.0.1:3128", None);
        check("proxy.test:8080", "proxy.test:8080", None);
        check("proxy.test", "proxy.test:80", None);
        check("http://[::1]:3128/", "[::1]:3128", None);
        check("http://u:p%40@h:1", "h:1", Some("Basic dTpwQA=="));
        for (text, words) in [
            (
                "socks5://u:secret@h:1",
                "\"socks5://***@h:1\": proxies with the scheme socks5",
            ),
            ("https://h:1", "the scheme https"),
            ("http://", "is not a proxy"),
            ("h:port", "is not a proxy"),
        ] {
            let error = text.parse::<Proxy>().unwrap_err().to_string();
            assert!(error.contains(words), "{text}: {error}");
            assert!(!error.contains("secret"), "{error}");
        }
    }

    #[tokio::test]
    async fn a_tunnel_stands_when_the_proxy_says_so() {
        let check = async |answer: &str, expected: Result<(), &str>| {
            let (mut near, mut far) = tokio::io::duplex(4096);
            let proxy: Proxy = "http://u:p@proxy.test:3128".parse().unwrap();
            far.write_all(answer.as_bytes()).await.unwrap();
            let mut rest = String::new();
            let outcome = proxy.tunnel(&mut near, "::1", 443).await;
            drop(near);
            far.read_to_string(&mut rest).await.unwrap();
            assert_eq!(
                rest,
                "CONNECT [::1]:443 HTTP/1.1\r\nHost: [::1]:443\r\nProxy-Authorization: Basic dTpw\r\n\r\n"
            );
            let outcome = outcome.map_err(|error| error.to_string());
            match expected {
                Ok(()) => assert_eq!(outcome, Ok(())),
                Err(reason) => assert_eq!(outcome, Err(format!("proxy proxy.test:3128: {reason}"))),
            }
        };
        check("HTTP/1.1 200 Connection established\r\n\r\n", Ok(())).await;
        check(
            "HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n",
            Err("it answered 407 Proxy Authentication Required"),
        )
        .await;
        check("SSH-2.0\r\n\r\n", Err("its answer is not HTTP")).await;
    }
}
