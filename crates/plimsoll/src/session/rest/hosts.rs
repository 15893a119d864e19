//! The hosts under whose names the REST interface answers.
//!
//! A browser names the host of the page that it asks for, and a page can make its own name point to any machine. So a request
//! under another name is refused. A request to a bare address comes from no such page.

use std::{net::IpAddr, str::FromStr};

/// A name, or a pattern in which `*` stands for any characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HostName(Vec<String>);

impl HostName {
    fn fits(&self, host: &str) -> bool {
        let host = host.to_ascii_lowercase();
        let Some((first, others)) = self.0.split_first() else {
            return false;
        };
        let Some(mut rest) = host.strip_prefix(first.as_str()) else {
            return false;
        };
        let Some((last, middle)) = others.split_last() else {
            return rest.is_empty();
        };
        for part in middle {
            match rest.find(part.as_str()) {
                Some(at) => rest = &rest[at + part.len()..],
                None => return false,
            }
        }
        rest.ends_with(last.as_str())
    }
}

impl FromStr for HostName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let is_of_name = |c: char| c.is_ascii_alphanumeric() || "-_.*".contains(c);
        if text.is_empty() || !text.chars().all(is_of_name) {
            return Err("expected a host name without a port, for example load-service-*".to_owned());
        }
        let parts = text.to_ascii_lowercase();
        Ok(Self(parts.split('*').map(str::to_owned).collect()))
    }
}

/// Whether the interface answers a request with this `Host` header. Without `others` only this machine may use it.
pub(super) fn is_expected(host: &str, others: &[HostName]) -> bool {
    let name = without_port(host);
    let address = name.trim_matches(['[', ']']).parse::<IpAddr>().ok();
    let is_local =
        name.eq_ignore_ascii_case("localhost") || address.is_some_and(|address| address.is_loopback());
    is_local || !others.is_empty() && (address.is_some() || others.iter().any(|other| other.fits(name)))
}

/// The host of `host[:port]`.
fn without_port(host: &str) -> &str {
    let end = if host.starts_with('[') {
        host.find(']').map(|at| at + 1)
    } else {
        host.rfind(':')
    };
    &host[..end.unwrap_or(host.len())]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(host: &str, others: &str, expected: bool) {
        let others: Vec<HostName> = others
            .split_whitespace()
            .map(|name| name.parse().unwrap())
            .collect();
        assert_eq!(is_expected(host, &others), expected, "{host} {others:?}");
    }

    #[test]
    fn this_machine_and_the_names_that_are_given_are_expected() {
        for others in ["", "k6-service-*"] {
            check("LocalHost:6565", others, true);
            check("127.0.0.1", others, true);
            check("[::1]:6565", others, true);
            check("evil.test:6565", others, false);
            check("", others, false);
        }
        check("k6-service-1:6565", "", false);
        check("10.1.2.3:6565", "", false);
        check("10.1.2.3:6565", "k6-service-*", true);
        check("[fd00::1]:6565", "k6-service-*", true);
        check("K6-Service-12", "other k6-service-*", true);
        check("k6-service-1.evil.test", "k6-service-1", false);
        check("k6-service-1.load.svc:6565", "k6-*-1.*.svc", true);
        check("k6-service-2.load.svc:6565", "k6-*-1.*.svc", false);
        check("aa", "a*a", true);
        check("a", "a*a", false);
    }

    #[test]
    fn other_texts_are_no_names() {
        for text in ["", "host:6565", "a/b", "a b", "größe"] {
            assert!(text.parse::<HostName>().is_err(), "{text}");
        }
    }
}
