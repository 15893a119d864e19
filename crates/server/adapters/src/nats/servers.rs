//! The NATS servers of a list of URLs.

use std::{borrow::Cow, str::FromStr, sync::Arc, time::Duration};

use rustls::{ClientConfig, pki_types::ServerName};
use url::{Host, Url};

use super::connection::{Connection, NatsError};
use crate::tls::{TlsError, TlsSettings};

/// NATS' port.
const DEFAULT_PORT: u16 = 4222;

/// Silence after which the adapter pings the server. The server pings its clients every two minutes.
const KEEPALIVE: Duration = Duration::from_secs(30);

/// Some servers of one NATS, at least one. The `Debug` form does not show passwords.
#[derive(Clone, PartialEq, Eq)]
pub struct NatsUrls(Vec<Target>);

/// One server.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Target {
    pub(super) host: String,
    pub(super) port: u16,
    pub(super) user: Option<String>,
    pub(super) password: Option<String>,
    /// Whether the connection must be encrypted even if the server does not ask for it.
    pub(super) is_encrypted: bool,
}

/// A text that names no NATS server.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error(
    "not a NATS URL ({0}); expected nats://[user:password@ or token@]host[:port], or tls://… , comma-separated"
)]
pub struct NatsUrlError(String);

/// The servers, and how to connect to them.
#[derive(Debug, Clone)]
pub struct NatsServers {
    targets: Vec<Target>,
    /// The target of the next attempt.
    next: usize,
    encryption: Option<Arc<ClientConfig>>,
    pub(super) keepalive: Duration,
    /// Whether messages come with their headers.
    has_headers: bool,
}

impl NatsServers {
    /// The servers of some URLs, in a random order if `is_shuffled`. Each attempt to connect begins with the server
    /// after the last one that was tried.
    ///
    /// # Errors
    /// A URL asks for encryption, and the system has no certificate authorities.
    pub fn new(urls: NatsUrls, is_shuffled: bool) -> Result<Self, TlsError> {
        let NatsUrls(mut targets) = urls;
        if is_shuffled {
            fastrand::shuffle(&mut targets);
        }
        let tls = TlsSettings {
            verifies: true,
            ..TlsSettings::default()
        };
        // A server may ask for encryption although its URL does not.
        let encryption = match tls.client_config() {
            Ok(config) => Some(Arc::new(config)),
            Err(error) if targets.iter().any(|target| target.is_encrypted) => return Err(error),
            Err(_) => None,
        };
        Ok(Self {
            targets,
            next: 0,
            encryption,
            keepalive: KEEPALIVE,
            has_headers: false,
        })
    }

    /// The same servers, for connections on which messages come with their headers.
    pub(super) fn with_headers(self) -> Self {
        Self {
            has_headers: true,
            ..self
        }
    }

    /// Connects to the first server that lets us in.
    pub(super) async fn connect(&mut self, max_payload_bytes: usize) -> Result<Connection, NatsError> {
        let mut outcome = Err(NatsError::Silent);
        for _ in 0..self.targets.len() {
            let target = &self.targets[self.next];
            self.next = (self.next + 1) % self.targets.len();
            let opened = Connection::open(
                target,
                self.encryption.as_ref(),
                max_payload_bytes,
                self.has_headers,
            );
            outcome = opened.await;
            match &outcome {
                Ok(_) => return outcome,
                Err(error) => {
                    tracing::debug!(address = target.address(), %error, "A NATS server cannot be used.");
                }
            }
        }
        outcome
    }
}

impl Target {
    /// Host and port, for messages.
    pub(super) fn address(&self) -> String {
        format!("{}:{}", self.host, self.port)
    }

    pub(super) fn tls_name(&self) -> Option<ServerName<'static>> {
        let host = self.host.trim_matches(['[', ']']).to_owned();
        ServerName::try_from(host).ok()
    }
}

/// A server on this machine, at NATS' default port.
impl Default for NatsUrls {
    fn default() -> Self {
        Self(vec![Target {
            host: "127.0.0.1".to_owned(),
            port: DEFAULT_PORT,
            user: None,
            password: None,
            is_encrypted: false,
        }])
    }
}

impl FromStr for NatsUrls {
    type Err = NatsUrlError;

    fn from_str(list: &str) -> Result<Self, NatsUrlError> {
        let urls = list.split(',').map(str::trim).filter(|url| !url.is_empty());
        let targets: Vec<_> = urls.map(target).collect::<Result<_, _>>()?;
        if targets.is_empty() {
            return Err(NatsUrlError("it is empty".to_owned()));
        }
        Ok(Self(targets))
    }
}

fn target(text: &str) -> Result<Target, NatsUrlError> {
    let wrong = |reason: &str| NatsUrlError(reason.to_owned());
    let with_scheme = if text.contains("://") {
        text.to_owned()
    } else {
        format!("nats://{text}")
    };
    let url: Url = with_scheme
        .parse()
        .map_err(|error: url::ParseError| wrong(&error.to_string()))?;
    let is_encrypted = match url.scheme() {
        "nats" => false,
        "tls" => true,
        _ => return Err(wrong("unknown scheme")),
    };
    let host = match url.host() {
        Some(Host::Domain(domain)) if !domain.is_empty() => domain.to_owned(),
        Some(Host::Ipv4(address)) => address.to_string(),
        Some(Host::Ipv6(address)) => format!("[{address}]"),
        _ => return Err(wrong("no host")),
    };
    let decoded = |text: &str| {
        let decoded = percent_encoding::percent_decode_str(text).decode_utf8();
        decoded.map(Cow::into_owned).ok()
    };
    Ok(Target {
        host,
        port: url.port().unwrap_or(DEFAULT_PORT),
        user: decoded(url.username()).filter(|user| !user.is_empty()),
        password: url.password().and_then(decoded),
        is_encrypted,
    })
}

impl std::fmt::Debug for NatsUrls {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(&self.0).finish()
    }
}

impl std::fmt::Debug for Target {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Target")
            .field("address", &self.address())
            .field("is_encrypted", &self.is_encrypted)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Expected<'a> = (&'a str, Option<&'a str>, Option<&'a str>, bool);

    #[track_caller]
    fn check(list: &str, expected: &[Expected<'_>]) {
        let urls: NatsUrls = list.parse().expect("good URLs");
        assert!(!format!("{urls:?}").contains("secret"), "{urls:?}");
        let addresses: Vec<_> = urls.0.iter().map(Target::address).collect();
        let found: Vec<_> = urls
            .0
            .iter()
            .zip(&addresses)
            .map(|(target, address)| {
                let (user, password) = (target.user.as_deref(), target.password.as_deref());
                (address.as_str(), user, password, target.is_encrypted)
            })
            .collect();
        assert_eq!(found, expected, "{list}");
    }

    #[test]
    fn urls_of_servers() {
        let default: NatsUrls = "nats://127.0.0.1:4222".parse().expect("a good URL");
        assert_eq!(default, NatsUrls::default());
        check("nats://a", &[("a:4222", None, None, false)]);
        check("a:1", &[("a:1", None, None, false)]);
        check("tls://[::1]:7", &[("[::1]:7", None, None, true)]);
        check(
            "nats://kay:se%40secret@a:1, nats://token%2Fsecret@b",
            &[
                ("a:1", Some("kay"), Some("se@secret"), false),
                ("b:4222", Some("token/secret"), None, false),
            ],
        );
    }

    #[track_caller]
    fn check_refused(list: &str, reason: &str) {
        let error = list.parse::<NatsUrls>().expect_err(list).to_string();
        assert!(
            error.contains(reason) && error.contains("expected nats://"),
            "{list}: {error}"
        );
    }

    #[test]
    fn other_urls_are_refused() {
        check_refused("", "it is empty");
        check_refused(",", "it is empty");
        check_refused("redis://a", "unknown scheme");
        check_refused("nats://", "no host");
        check_refused("nats://a b", "not a NATS URL");
        check_refused("nats://a,nats://b:x", "not a NATS URL");
    }
}
