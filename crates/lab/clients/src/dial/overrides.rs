//! Addresses that replace those of the system (k6's `hosts`).

use std::net::{IpAddr, SocketAddr};

use super::{HostPattern, RuleError};

/// A table of hosts. The most precise entry counts.
#[derive(Debug, Clone, Default)]
pub struct Overrides(Vec<Entry>);

#[derive(Debug, Clone)]
struct Entry {
    host: HostPattern,
    /// `None` is every port.
    port: Option<u16>,
    ip: IpAddr,
    /// `None` keeps the requested port.
    to_port: Option<u16>,
}

impl Overrides {
    /// Parses entries such as `("*.example.com", "127.0.0.1:8080")` and `("example.com:443", "127.0.0.1")`.
    ///
    /// # Errors
    /// The first invalid entry.
    pub fn parse<'a>(entries: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result<Self, RuleError> {
        let entries = entries.into_iter().map(|(from, to)| Entry::parse(from, to));
        let mut entries: Vec<_> = entries.collect::<Result<_, _>>()?;
        entries.sort_by_key(|entry| std::cmp::Reverse((entry.host.precision(), entry.port.is_some())));
        Ok(Self(entries))
    }

    /// The address of a host, if the table has one.
    pub fn find(&self, host: &str, port: u16) -> Option<SocketAddr> {
        let is_for = |entry: &&Entry| entry.port.is_none_or(|own| own == port) && entry.host.matches(host);
        let entry = self.0.iter().find(is_for)?;
        Some(SocketAddr::new(entry.ip, entry.to_port.unwrap_or(port)))
    }
}

impl Entry {
    fn parse(from: &str, to: &str) -> Result<Self, RuleError> {
        let (host, port) = match from.rsplit_once(':') {
            Some((host, port)) => {
                let port = port.parse().map_err(|_| RuleError::Host(from.to_owned()))?;
                (host, Some(port))
            }
            None => (from, None),
        };
        let (ip, to_port) = address(to).ok_or_else(|| RuleError::Address(to.to_owned()))?;
        Ok(Self {
            host: host.parse()?,
            port,
            ip,
            to_port,
        })
    }
}

/// `127.0.0.1`, `127.0.0.1:80`, `::1`, `[::1]`, `[::1]:80`.
fn address(text: &str) -> Option<(IpAddr, Option<u16>)> {
    if let Ok(address) = text.parse::<SocketAddr>() {
        return Some((address.ip(), Some(address.port())));
    }
    let bare = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    Some((bare.unwrap_or(text).parse().ok()?, None))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_exact_entry_wins() {
        let entries = [
            ("*", "10.0.0.1"),
            ("*.example.com", "10.0.0.2:81"),
            ("www.example.com", "[::1]"),
            ("www.example.com:443", "[::2]:444"),
        ];
        let overrides = Overrides::parse(entries).unwrap();
        let check = |host: &str, port: u16, expected: &str| {
            let found = overrides.find(host, port).unwrap();
            assert_eq!(found.to_string(), expected, "{host}:{port}");
        };
        check("other", 80, "10.0.0.1:80");
        check("a.example.com", 80, "10.0.0.2:81");
        check("www.example.com", 80, "[::1]:80");
        check("WWW.example.com", 443, "[::2]:444");
    }

    #[test]
    fn entries_that_are_none_are_named() {
        let check = |from: &str, to: &str, expected: &str| {
            let error = Overrides::parse([(from, to)]).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        };
        check("a:x", "127.0.0.1", "\"a:x\"");
        check("a", "b", "\"b\"");
        check("a", "127.0.0.1:x", "\"127.0.0.1:x\"");
    }
}
