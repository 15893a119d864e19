//! Finds the primary of a group of Redis servers that sentinels watch, and notices when it becomes another server
//! (<https://redis.io/docs/latest/develop/reference/sentinel-clients/>).

use std::{
    future::pending,
    str::FromStr,
    sync::{
        Arc, Weak,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use redis::cmd;
use tokio::{sync::watch, time::sleep};

use crate::{
    connection::{Connection, ConnectionError, PATIENCE},
    resp::Reply,
    server::Server,
    target::{Address, Target, TargetError},
};

/// The port of sentinels.
const DEFAULT_PORT: u16 = 26379;

/// Where sentinels are: `[[user]:password@]host[:port]`, several separated by commas, port 26379 by default. Encrypted
/// like the servers that they watch, unless an entry begins with `redis://` or `rediss://`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sentinels(Vec<Sentinel>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Sentinel {
    target: Target,
    /// Whether the entry says itself how it is encrypted.
    has_scheme: bool,
}

/// The sentinels of one group, and what they said last.
#[derive(Debug)]
pub(crate) struct Lookout {
    /// The name under which the sentinels know the group.
    group: String,
    sentinels: Vec<Server>,
    /// The index of the sentinel that answered last, which is asked first.
    preferred: AtomicUsize,
    /// `None` until a sentinel has answered.
    primary: watch::Sender<Option<Address>>,
    /// The time between two questions while nothing seems to be wrong.
    interval: Duration,
    is_asking: AtomicBool,
}

/// Says when a connection's server is no longer the primary.
#[derive(Debug)]
pub(crate) struct Watched {
    address: Address,
    primary: watch::Receiver<Option<Address>>,
}

impl FromStr for Sentinels {
    type Err = TargetError;

    fn from_str(text: &str) -> Result<Self, TargetError> {
        let entries = text.split(',').map(str::trim);
        entries.map(Sentinel::parse).collect::<Result<_, _>>().map(Self)
    }
}

impl Sentinels {
    /// The targets, each encrypted as its entry says, or else if `is_encrypted`.
    pub(crate) fn targets(self, is_encrypted: bool) -> Result<Vec<Target>, TargetError> {
        let targets = self.0.into_iter().map(|Sentinel { target, has_scheme }| {
            if has_scheme || !is_encrypted {
                Ok(target)
            } else {
                target.encrypted()
            }
        });
        targets.collect()
    }
}

impl Sentinel {
    fn parse(text: &str) -> Result<Self, TargetError> {
        let has_scheme = text.contains("://");
        let url = if has_scheme {
            text.to_owned()
        } else {
            format!("redis://{text}")
        };
        let mut target: Target = url.parse()?;
        if !has_port(text) {
            target.port = DEFAULT_PORT;
        }
        Ok(Self { target, has_scheme })
    }
}

/// Whether an entry names its port. An IPv6 address is in brackets.
fn has_port(text: &str) -> bool {
    let authority = text.rsplit_once('@').map_or(text, |(_, rest)| rest);
    let port = authority.rsplit_once(':').map(|(_, port)| port);
    port.is_some_and(|port| port.bytes().all(|byte| byte.is_ascii_digit()))
}

impl Lookout {
    /// The lookout for the group of this name. `interval`: the time between two questions.
    pub(crate) fn new(group: String, sentinels: Vec<Server>, interval: Duration) -> Self {
        Self {
            group,
            sentinels,
            preferred: AtomicUsize::new(0),
            primary: watch::Sender::new(None),
            interval,
            is_asking: AtomicBool::new(false),
        }
    }

    /// Where the primary is now. From the first call on, the sentinels are asked again and again, because a primary
    /// that only the sentinels have lost closes no connection.
    pub(crate) async fn find(self: &Arc<Self>) -> Result<Watched, ConnectionError> {
        if !self.is_asking.swap(true, Ordering::Relaxed) {
            tokio::spawn(Self::keep_asking(Arc::downgrade(self), self.interval));
        }
        let address = self.ask().await?;
        Ok(Watched {
            address,
            primary: self.primary.subscribe(),
        })
    }

    async fn keep_asking(lookout: Weak<Self>, interval: Duration) {
        loop {
            sleep(interval).await;
            let Some(lookout) = lookout.upgrade() else { return };
            if let Err(error) = lookout.ask().await {
                tracing::debug!("{error}.");
            }
        }
    }

    /// Asks one sentinel after the other, until one knows.
    async fn ask(&self) -> Result<Address, ConnectionError> {
        let first = self.preferred.load(Ordering::Relaxed);
        let mut failures = Vec::new();
        for n in 0..self.sentinels.len() {
            let idx = (first + n) % self.sentinels.len();
            let sentinel = &self.sentinels[idx];
            match self.ask_one(sentinel).await {
                Ok(address) => {
                    self.preferred.store(idx, Ordering::Relaxed);
                    self.note(&address);
                    return Ok(address);
                }
                Err(error) => failures.push(format!("{}: {error}", sentinel.target.address())),
            }
        }
        Err(ConnectionError::NoPrimary {
            group: self.group.clone(),
            failures: failures.join("; "),
        })
    }

    async fn ask_one(&self, sentinel: &Server) -> Result<Address, ConnectionError> {
        let mut connection = Connection::open_at(sentinel).await?;
        let question = cmd("SENTINEL")
            .arg("get-master-addr-by-name")
            .arg(&self.group)
            .to_owned();
        let reply = connection.request(&question, PATIENCE).await?;
        if reply == Reply::Nil {
            return Err(ConnectionError::UnknownGroup(self.group.clone()));
        }
        address(reply).ok_or(ConnectionError::NoAddress)
    }

    /// Connections to another server than this one learn of it.
    fn note(&self, address: &Address) {
        self.primary.send_if_modified(|known| {
            if known.as_ref() == Some(address) {
                return false;
            }
            if let Some(earlier) = known {
                let group = &self.group;
                tracing::warn!(
                    "The primary of the Redis group {group} is now {address}, no longer {earlier}."
                );
            }
            *known = Some(address.clone());
            true
        });
    }
}

/// The address in the answer of a sentinel.
fn address(reply: Reply) -> Option<Address> {
    let [Reply::Text(host), Reply::Text(port)] = <[Reply; 2]>::try_from(reply.into_elements()).ok()? else {
        return None;
    };
    Some(Address {
        host: String::from_utf8(host).ok()?,
        port: String::from_utf8(port).ok()?.parse().ok()?,
    })
}

impl Watched {
    pub(crate) fn address(&self) -> &Address {
        &self.address
    }

    /// Completes when another server is the primary.
    pub(crate) async fn moved(&mut self) -> ConnectionError {
        let other = |known: &Option<Address>| known.as_ref() != Some(&self.address);
        let moved = match self.primary.wait_for(other).await.as_deref() {
            Ok(Some(primary)) => Some(primary.to_string()),
            _ => None,
        };
        match moved {
            Some(primary) => ConnectionError::Moved(primary),
            // Without a lookout nothing moves any more.
            None => pending().await,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, is_encrypted: bool, expected: &[&str]) {
        let sentinels: Sentinels = text.parse().expect(text);
        let targets = sentinels.targets(is_encrypted).expect(text);
        let found: Vec<_> = targets
            .iter()
            .map(|target| {
                let scheme = if target.is_encrypted() { "rediss" } else { "redis" };
                let password = target.password.as_deref().unwrap_or("-");
                format!("{scheme} {} {password}", target.address())
            })
            .collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn sentinels_are_listed_with_or_without_ports_passwords_and_schemes() {
        check("a", false, &["redis a:26379 -"]);
        check("a:1, b", false, &["redis a:1 -", "redis b:26379 -"]);
        check("a:6379", false, &["redis a:6379 -"]);
        check(":s3@a:1,kay:s4@b", false, &["redis a:1 s3", "redis b:26379 s4"]);
        check("[::1]:7,[::1]", false, &["redis ::1:7 -", "redis ::1:26379 -"]);
        check("a,redis://b", true, &["rediss a:26379 -", "redis b:26379 -"]);
        check("rediss://a:1", false, &["rediss a:1 -"]);
    }

    #[test]
    fn what_is_no_host_is_refused() {
        for text in ["", "a,", "a:many", "http://a"] {
            let error = text.parse::<Sentinels>().expect_err(text).to_string();
            assert!(error.contains("not a Redis URL"), "{text}: {error}");
        }
    }

    #[test]
    fn an_answer_is_a_host_and_a_port() {
        let text = |text: &str| Reply::Text(text.into());
        let known = Address {
            host: "10.0.0.1".to_owned(),
            port: 6379,
        };
        let whole = Reply::Array(vec![text("10.0.0.1"), text("6379")]);
        assert_eq!(address(whole), Some(known));
        for odd in [
            Reply::Integer(1),
            Reply::Array(vec![text("10.0.0.1")]),
            Reply::Array(vec![text("10.0.0.1"), text("many")]),
            Reply::Array(vec![text("10.0.0.1"), Reply::Integer(6379)]),
        ] {
            assert_eq!(address(odd.clone()), None, "{odd:?}");
        }
    }

    #[tokio::test]
    async fn a_connection_learns_that_its_server_is_no_longer_the_primary() {
        let lookout = Lookout::new("g".to_owned(), Vec::new(), Duration::from_secs(30));
        let at = |port| Address {
            host: "h".to_owned(),
            port,
        };
        lookout.note(&at(1));
        let mut watched = Watched {
            address: at(1),
            primary: lookout.primary.subscribe(),
        };
        lookout.note(&at(1));
        lookout.note(&at(2));
        assert_eq!(watched.moved().await.to_string(), "the primary is now h:2");
    }
}
