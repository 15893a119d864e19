//! Look-ups of names, remembered for all workers of a run (k6's `dns`).

use std::{
    collections::HashMap,
    net::IpAddr,
    str::FromStr,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use tokio::time::Instant;

use super::{DialError, RuleError};

/// k6's default for how long an answer is remembered.
const DEFAULT_TTL: Duration = Duration::from_secs(300);

/// The capacity of the cache in names. When it is full, all are forgotten. A test has a handful of hosts, and a test
/// that makes up names must not fill the memory.
const MAX_NAMES: usize = 10_000;

/// Which of several addresses is used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Select {
    /// The first one, always.
    First,
    /// Any, anew each time.
    #[default]
    Random,
    /// One after the other.
    RoundRobin,
}

/// Which family of addresses is used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Policy {
    /// IPv4 if the name has any.
    #[default]
    PreferIpv4,
    /// IPv6 if the name has any.
    PreferIpv6,
    /// Only IPv4.
    OnlyIpv4,
    /// Only IPv6.
    OnlyIpv6,
    /// Both.
    Any,
}

/// Finds addresses of names by the system's resolver.
#[derive(Debug)]
pub struct Resolver {
    /// How long an answer is cached. Zero disables the cache.
    pub ttl: Duration,
    /// Which of several addresses is used.
    pub select: Select,
    /// Which family is used.
    pub policy: Policy,
    names: Mutex<HashMap<String, Answer>>,
}

#[derive(Debug)]
struct Answer {
    addresses: Vec<IpAddr>,
    at: Instant,
    n_asked: usize,
}

impl Default for Resolver {
    fn default() -> Self {
        Self::new(DEFAULT_TTL, Select::default(), Policy::default())
    }
}

impl Resolver {
    /// A resolver with an empty cache.
    pub fn new(ttl: Duration, select: Select, policy: Policy) -> Self {
        Self {
            ttl,
            select,
            policy,
            names: Mutex::default(),
        }
    }

    /// The address of a name.
    ///
    /// # Errors
    /// The name has no address that the policy allows.
    pub(super) async fn resolve(&self, host: &str) -> Result<IpAddr, DialError> {
        if let Some(ip) = self.remembered(host) {
            return Ok(ip);
        }
        let addresses = self.policy.choose(look_up(host).await?);
        if addresses.is_empty() {
            return Err(DialError::NoAddressOfFamily(host.to_owned()));
        }
        let mut answer = Answer {
            addresses,
            at: Instant::now(),
            n_asked: 0,
        };
        let ip = answer.select(self.select);
        if !self.ttl.is_zero() {
            let mut names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
            if names.len() >= MAX_NAMES {
                names.clear();
            }
            names.insert(host.to_owned(), answer);
        }
        Ok(ip)
    }

    fn remembered(&self, host: &str) -> Option<IpAddr> {
        let mut names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        let answer = names.get_mut(host)?;
        (answer.at.elapsed() < self.ttl).then(|| answer.select(self.select))
    }
}

impl Answer {
    fn select(&mut self, select: Select) -> IpAddr {
        let n = self.addresses.len();
        self.n_asked = self.n_asked.wrapping_add(1);
        self.addresses[match select {
            Select::First => 0,
            Select::Random => fastrand::usize(..n),
            Select::RoundRobin => self.n_asked.wrapping_sub(1) % n,
        }]
    }
}

impl Policy {
    fn choose(self, mut found: Vec<IpAddr>) -> Vec<IpAddr> {
        let has_v4 = found.iter().any(IpAddr::is_ipv4);
        let has_v6 = found.iter().any(IpAddr::is_ipv6);
        match self {
            Self::Any => {}
            Self::OnlyIpv4 => found.retain(IpAddr::is_ipv4),
            Self::OnlyIpv6 => found.retain(IpAddr::is_ipv6),
            Self::PreferIpv4 if has_v4 => found.retain(IpAddr::is_ipv4),
            Self::PreferIpv6 if has_v6 => found.retain(IpAddr::is_ipv6),
            Self::PreferIpv4 | Self::PreferIpv6 => {}
        }
        found
    }
}

async fn look_up(host: &str) -> Result<Vec<IpAddr>, DialError> {
    let found = tokio::net::lookup_host((host, 0)).await;
    let found = found.map_err(|error| {
        let reason = error.to_string();
        // The number of getaddrinfo's error does not come through, only its words (EAI_NONAME, EAI_NODATA).
        if reason.contains("not known") || reason.contains("No address associated") {
            DialError::NoSuchHost(host.to_owned())
        } else {
            DialError::Lookup {
                host: host.to_owned(),
                reason,
            }
        }
    })?;
    let mut addresses = Vec::new();
    for address in found {
        if !addresses.contains(&address.ip()) {
            addresses.push(address.ip());
        }
    }
    Ok(addresses)
}

impl FromStr for Select {
    type Err = RuleError;

    fn from_str(text: &str) -> Result<Self, RuleError> {
        match text {
            "first" => Ok(Self::First),
            "random" => Ok(Self::Random),
            "roundRobin" => Ok(Self::RoundRobin),
            _ => Err(RuleError::Dns {
                found: text.to_owned(),
                what: "`select`",
                expected: "first, random, roundRobin",
            }),
        }
    }
}

impl FromStr for Policy {
    type Err = RuleError;

    fn from_str(text: &str) -> Result<Self, RuleError> {
        match text {
            "preferIPv4" => Ok(Self::PreferIpv4),
            "preferIPv6" => Ok(Self::PreferIpv6),
            "onlyIPv4" => Ok(Self::OnlyIpv4),
            "onlyIPv6" => Ok(Self::OnlyIpv6),
            "any" => Ok(Self::Any),
            _ => Err(RuleError::Dns {
                found: text.to_owned(),
                what: "`policy`",
                expected: "preferIPv4, preferIPv6, onlyIPv4, onlyIPv6, any",
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ips(texts: &[&str]) -> Vec<IpAddr> {
        texts.iter().map(|text| text.parse().unwrap()).collect()
    }

    #[test]
    fn the_policy_chooses_the_family() {
        let check = |policy: &str, found: &[&str], expected: &[&str]| {
            let policy: Policy = policy.parse().unwrap();
            assert_eq!(policy.choose(ips(found)), ips(expected), "{policy:?}");
        };
        check("preferIPv4", &["::1", "10.0.0.1"], &["10.0.0.1"]);
        check("preferIPv4", &["::1"], &["::1"]);
        check("preferIPv6", &["::1", "10.0.0.1"], &["::1"]);
        check("onlyIPv4", &["::1"], &[]);
        check("onlyIPv6", &["::1", "10.0.0.1"], &["::1"]);
        check("any", &["::1", "10.0.0.1"], &["::1", "10.0.0.1"]);
    }

    #[test]
    fn the_selection_walks_or_stays() {
        let check = |select: &str, expected: &[&str]| {
            let mut answer = Answer {
                addresses: ips(&["10.0.0.1", "10.0.0.2"]),
                at: Instant::now(),
                n_asked: 0,
            };
            let select = select.parse().unwrap();
            let got: Vec<_> = (0..3).map(|_| answer.select(select)).collect();
            assert_eq!(got, ips(expected), "{select:?}");
        };
        check("first", &["10.0.0.1", "10.0.0.1", "10.0.0.1"]);
        check("roundRobin", &["10.0.0.1", "10.0.0.2", "10.0.0.1"]);
    }

    #[tokio::test(start_paused = true)]
    async fn answers_are_remembered_for_a_while() {
        let resolver = Resolver::new(Duration::from_secs(5), Select::First, Policy::Any);
        resolver.names.lock().unwrap().insert(
            "a.test".to_owned(),
            Answer {
                addresses: ips(&["10.0.0.1"]),
                at: Instant::now(),
                n_asked: 0,
            },
        );
        assert_eq!(resolver.remembered("a.test"), Some(ips(&["10.0.0.1"])[0]));
        tokio::time::advance(Duration::from_secs(5)).await;
        assert_eq!(resolver.remembered("a.test"), None);
    }
}
