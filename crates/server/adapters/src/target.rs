//! The Redis server of a URL, or the nodes of a Redis Cluster.

use std::{fmt, str::FromStr};

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

/// Host and port.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Address {
    pub(crate) host: String,
    pub(crate) port: u16,
}

/// The value of `--redis_url`: one server, or with commas some nodes of a Redis Cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RedisUrls {
    /// One server.
    Server(Target),
    /// At least one node of a cluster. All have the same user, password and encryption.
    Cluster(Vec<Target>),
}

/// Why a URL does not name a usable server.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum TargetError {
    /// Several servers in place of one.
    #[error(
        "several URLs name the nodes of a Redis Cluster; expected one URL, such as redis://localhost:6379"
    )]
    Several,
    /// A database of a cluster.
    #[error(
        "a Redis Cluster has only the database 0, and the URL asks for {0}; expected redis://a:6379,redis://b:6379"
    )]
    Database(i64),
    /// The nodes of a cluster have different settings.
    #[error(
        "the nodes of a Redis Cluster have one user and one password, and either all or none use TLS; {0} differs from the \
         first URL. The first URL alone may have them: redis://:PASSWORD@a:6379,b:6379"
    )]
    Different(String),
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
            return Err(TargetError::Several);
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

impl FromStr for RedisUrls {
    type Err = TargetError;

    /// A comma makes a cluster, even behind a single URL. Nodes behind the first one may be `host:port`.
    fn from_str(text: &str) -> Result<Self, TargetError> {
        let Some((first, others)) = text.split_once(',') else {
            return text.parse().map(Self::Server);
        };
        let first: Target = first.trim().parse()?;
        if first.database != 0 {
            return Err(TargetError::Database(first.database));
        }
        let others = others.split(',').map(str::trim).filter(|other| !other.is_empty());
        let others = others.map(|other| first.sibling(other));
        let others: Vec<_> = others.collect::<Result<_, _>>()?;
        Ok(Self::Cluster(std::iter::once(first).chain(others).collect()))
    }
}

/// A server on this machine, at Redis' default port.
impl Default for RedisUrls {
    fn default() -> Self {
        Self::Server(Target::default())
    }
}

impl RedisUrls {
    /// The server, or the first node.
    pub fn first(&self) -> &Target {
        match self {
            Self::Server(target) => target,
            Self::Cluster(targets) => &targets[0],
        }
    }
}

impl Target {
    /// Another node of the same cluster.
    fn sibling(&self, text: &str) -> Result<Self, TargetError> {
        if !text.contains("://") {
            let Target { host, port, .. } = format!("redis://{text}").parse()?;
            let sibling = Self {
                host,
                port,
                ..self.clone()
            };
            return if self.is_encrypted() {
                sibling.encrypted()
            } else {
                Ok(sibling)
            };
        }
        let sibling: Self = text.parse()?;
        if sibling.database != 0 {
            return Err(TargetError::Database(sibling.database));
        }
        let settings = |target: &Self| {
            let Self {
                username, password, ..
            } = target.clone();
            (username, password, target.is_encrypted())
        };
        if settings(&sibling) != settings(self) {
            return Err(TargetError::Different(sibling.address()));
        }
        Ok(sibling)
    }

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

impl Address {
    /// The same address, at the host of `other` if it has none of its own.
    pub(crate) fn or_at(self, other: &Self) -> Self {
        if self.host.is_empty() {
            Self {
                host: other.host.clone(),
                ..self
            }
        } else {
            self
        }
    }
}

impl FromStr for Address {
    type Err = ();

    /// `host:port`, where the host may have colons and may be empty.
    fn from_str(text: &str) -> Result<Self, ()> {
        let (host, port) = text.rsplit_once(':').ok_or(())?;
        Ok(Self {
            host: host.to_owned(),
            port: port.parse().map_err(|_| ())?,
        })
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.host, self.port)
    }
}

impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
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

    #[track_caller]
    fn check_nodes(text: &str, expected: &[&str]) {
        let nodes = match text.parse().expect(text) {
            RedisUrls::Cluster(nodes) => nodes,
            RedisUrls::Server(target) => panic!("{text}: {target:?} is one server"),
        };
        let found: Vec<_> = nodes
            .iter()
            .map(|node| {
                let scheme = if node.is_encrypted() { "rediss" } else { "redis" };
                let password = node.password.as_deref().unwrap_or("-");
                format!("{scheme} {} {password}", node.address())
            })
            .collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn commas_name_the_nodes_of_a_cluster() {
        check_nodes(
            "redis://a:7000,redis://b:7001",
            &["redis a:7000 -", "redis b:7001 -"],
        );
        check_nodes(
            "redis://:s3@a:1, b:2,c",
            &["redis a:1 s3", "redis b:2 s3", "redis c:6379 s3"],
        );
        check_nodes("rediss://a,b:1", &["rediss a:6379 -", "rediss b:1 -"]);
        check_nodes(
            "redis://:s3@a,redis://:s3@b/0",
            &["redis a:6379 s3", "redis b:6379 s3"],
        );
        check_nodes("redis://a:1,", &["redis a:1 -"]);
        assert_eq!("redis://localhost".parse(), Ok(RedisUrls::default()));
    }

    #[track_caller]
    fn check_no_nodes(text: &str, part: &str) {
        let error = text.parse::<RedisUrls>().expect_err(text).to_string();
        assert!(error.contains(part), "{text}: {error}");
        assert!(!error.contains("secret"), "{text}: {error}");
    }

    #[test]
    fn the_nodes_of_a_cluster_are_alike() {
        check_no_nodes(
            "redis://a/1,redis://b/1",
            "only the database 0, and the URL asks for 1",
        );
        check_no_nodes(
            "redis://a,redis://b/2",
            "only the database 0, and the URL asks for 2",
        );
        check_no_nodes("redis://:secret@a,redis://b:7", "b:7 differs from the first URL");
        check_no_nodes("redis://a,redis://:secret@b", "b:6379 differs");
        check_no_nodes("redis://kay:secret@a,redis://:secret@b", "b:6379 differs");
        check_no_nodes("redis://a,rediss://b", "b:6379 differs");
        check_no_nodes("redis://a,redis-sentinel://b", "--redis_sentinels");
        check_no_nodes("redis://a,b:many", "not a Redis URL");
        check_no_nodes(",redis://a", "not a Redis URL");
    }
}
