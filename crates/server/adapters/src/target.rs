//! The Redis server of a URL.

use std::str::FromStr;

use redis::{ConnectionAddr, IntoConnectionInfo};
use rustls::pki_types::ServerName;

/// One Redis server. Its `Debug` form does not show the password.
#[derive(Clone, PartialEq, Eq)]
pub struct Target {
    pub(crate) host: String,
    pub(crate) port: u16,
    pub(crate) username: Option<String>,
    pub(crate) password: Option<String>,
    pub(crate) database: i64,
    /// The name that the server's certificate must have. `None` for an unencrypted connection.
    pub(crate) tls_name: Option<ServerName<'static>>,
}

/// Why a URL does not name a usable server.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum TargetError {
    /// Several servers.
    #[error(
        "Redis Cluster (several URLs) is not supported yet; expected one URL, such as redis://localhost:6379"
    )]
    Cluster,
    /// The sentinels of a group in a URL.
    #[error(
        "sentinels have an option of their own; expected the URL redis://GROUP with the name of the group, and \
         --redis_sentinels HOST:26379,…"
    )]
    Sentinel,
    /// A Unix socket.
    #[error("Redis over a Unix socket is not supported yet; expected redis://localhost:6379")]
    UnixSocket,
    /// Any other URL.
    #[error(
        "not a Redis URL ({0}); expected redis://[[user]:password@]host[:port][/database], or rediss:// for TLS"
    )]
    Malformed(String),
}

/// A server on this machine, at Redis' default port.
impl Default for Target {
    fn default() -> Self {
        Self {
            host: "localhost".to_owned(),
            port: 6379,
            username: None,
            password: None,
            database: 0,
            tls_name: None,
        }
    }
}

impl FromStr for Target {
    type Err = TargetError;

    fn from_str(url: &str) -> Result<Self, TargetError> {
        if url.contains(',') {
            return Err(TargetError::Cluster);
        }
        if url.contains("sentinel://") {
            return Err(TargetError::Sentinel);
        }
        // The `redis` crate understands these only for connections of its own.
        let (url, is_encrypted) = match url.split_once("://") {
            Some(("rediss" | "valkeys", rest)) => (format!("redis://{rest}"), true),
            _ => (url.to_owned(), false),
        };
        let info = url
            .as_str()
            .into_connection_info()
            .map_err(|error| TargetError::Malformed(error.to_string()))?;
        let (host, port) = match info.addr() {
            ConnectionAddr::Tcp(host, port) => (host.clone(), *port),
            _ => return Err(TargetError::UnixSocket),
        };
        let settings = info.redis_settings();
        let target = Self {
            tls_name: None,
            host,
            port,
            username: settings.username().map(str::to_owned),
            password: settings.password().map(str::to_owned),
            database: settings.db(),
        };
        if is_encrypted {
            target.encrypted()
        } else {
            Ok(target)
        }
    }
}

impl Target {
    /// The same server, encrypted: its certificate must be for its host.
    pub(crate) fn encrypted(self) -> Result<Self, TargetError> {
        let name = ServerName::try_from(self.host.clone());
        let name = name.map_err(|error| TargetError::Malformed(error.to_string()))?;
        Ok(Self {
            tls_name: Some(name),
            ..self
        })
    }

    /// Whether the URL asks for TLS.
    pub fn is_encrypted(&self) -> bool {
        self.tls_name.is_some()
    }

    /// Host and port, for messages.
    pub(crate) fn address(&self) -> String {
        format!("{}:{}", self.host, self.port)
    }
}

impl std::fmt::Debug for Target {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Target")
            .field("address", &self.address())
            .field("username", &self.username)
            .field("database", &self.database)
            .field("is_encrypted", &self.is_encrypted())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(url: &str, expected: (&str, u16, Option<&str>, Option<&str>, i64)) {
        let target: Target = url.parse().expect("a good URL");
        let (username, password) = (target.username.as_deref(), target.password.as_deref());
        let got = (
            target.host.as_str(),
            target.port,
            username,
            password,
            target.database,
        );
        assert_eq!(got, expected, "{url}");
        assert!(!format!("{target:?}").contains("secret"), "{target:?}");
    }

    #[test]
    fn urls_of_one_server() {
        assert_eq!("redis://localhost:6379".parse(), Ok(Target::default()));
        check("redis://localhost:6379", ("localhost", 6379, None, None, 0));
        check("redis://10.0.0.1/5", ("10.0.0.1", 6379, None, None, 5));
        check("redis://:secret@h:1", ("h", 1, None, Some("secret"), 0));
        check(
            "redis://kay:secret@h",
            ("h", 6379, Some("kay"), Some("secret"), 0),
        );
    }

    #[track_caller]
    fn check_tls(url: &str, expected: Option<&str>) {
        let target: Target = url.parse().expect("a good URL");
        let name = target.tls_name.as_ref().map(|name| name.to_str());
        assert_eq!(name.as_deref(), expected, "{url}");
        assert_eq!(target.is_encrypted(), expected.is_some(), "{url}");
    }

    #[test]
    fn the_certificate_is_for_the_host() {
        check_tls("redis://h", None);
        check_tls("rediss://h.example:7000/1", Some("h.example"));
        check_tls("valkeys://:secret@h", Some("h"));
        check_tls("rediss://10.0.0.1", Some("10.0.0.1"));
    }

    #[track_caller]
    fn check_refused(url: &str, part: &str) {
        let error = url.parse::<Target>().expect_err(url).to_string();
        assert!(error.contains(part), "{url}: {error}");
        assert!(error.contains("expected"), "{url}: {error}");
    }

    #[test]
    fn what_is_absent_is_named() {
        check_refused("rediss://a b", "not a Redis URL");
        check_refused("redis://a:1,redis://b:1", "Cluster");
        check_refused("redis-sentinel://a:26379/mymaster", "--redis_sentinels");
        check_refused("unix:///run/redis.sock", "Unix socket");
        check_refused("http://h", "not a Redis URL");
        check_refused("redis", "not a Redis URL");
        check_refused("", "not a Redis URL");
    }
}
