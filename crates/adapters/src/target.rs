//! Which Redis to talk to, from a URL.

use std::str::FromStr;

use redis::{ConnectionAddr, IntoConnectionInfo};

/// One Redis server. Its `Debug` form does not show the password.
#[derive(Clone, PartialEq, Eq)]
pub struct Target {
    pub(crate) host: String,
    pub(crate) port: u16,
    pub(crate) username: Option<String>,
    pub(crate) password: Option<String>,
    pub(crate) database: i64,
}

/// Why a URL names no server that can be used.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum TargetError {
    /// Encryption is absent.
    #[error("Redis over TLS (rediss://) is not supported yet; expected redis://localhost:6379")]
    Tls,
    /// Several servers.
    #[error(
        "Redis Cluster (several URLs) is not supported yet; expected one, such as redis://localhost:6379"
    )]
    Cluster,
    /// Discovery of the primary through sentinels is absent.
    #[error("Redis Sentinel is not supported yet; expected redis://localhost:6379")]
    Sentinel,
    /// A socket file.
    #[error("Redis over a Unix socket is not supported yet; expected redis://localhost:6379")]
    UnixSocket,
    /// Anything else.
    #[error("not a Redis URL ({0}); expected redis://[[user]:password@]host[:port][/database]")]
    Malformed(String),
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
        if url.starts_with("rediss://") || url.starts_with("valkeys://") {
            return Err(TargetError::Tls);
        }
        let info = url
            .into_connection_info()
            .map_err(|error| TargetError::Malformed(error.to_string()))?;
        let (host, port) = match info.addr() {
            ConnectionAddr::Tcp(host, port) => (host.clone(), *port),
            ConnectionAddr::TcpTls { .. } => return Err(TargetError::Tls),
            _ => return Err(TargetError::UnixSocket),
        };
        let settings = info.redis_settings();
        Ok(Self {
            host,
            port,
            username: settings.username().map(str::to_owned),
            password: settings.password().map(str::to_owned),
            database: settings.db(),
        })
    }
}

impl Target {
    /// Host and port, for people.
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
        check("redis://localhost:6379", ("localhost", 6379, None, None, 0));
        check("redis://10.0.0.1/5", ("10.0.0.1", 6379, None, None, 5));
        check("redis://:secret@h:1", ("h", 1, None, Some("secret"), 0));
        check(
            "redis://kay:secret@h",
            ("h", 6379, Some("kay"), Some("secret"), 0),
        );
    }

    #[track_caller]
    fn check_refused(url: &str, part: &str) {
        let error = url.parse::<Target>().expect_err(url).to_string();
        assert!(error.contains(part), "{url}: {error}");
        assert!(error.contains("expected"), "{url}: {error}");
    }

    #[test]
    fn what_is_absent_is_named() {
        check_refused("rediss://h:6379", "TLS");
        check_refused("redis://a:1,redis://b:1", "Cluster");
        check_refused("redis-sentinel://a:26379/mymaster", "Sentinel");
        check_refused("unix:///run/redis.sock", "Unix socket");
        check_refused("http://h", "not a Redis URL");
        check_refused("redis", "not a Redis URL");
        check_refused("", "not a Redis URL");
    }
}
