//! Where a fleet meets: the servers of one NATS, and the name of the fleet.

use std::{fmt, net::IpAddr, str::FromStr};

use url::Url;

/// NATS' port.
const DEFAULT_PORT: u16 = 4222;

/// The name of a fleet whose address has none.
const DEFAULT_NAME: &str = "default";

/// The longest name of a fleet, in characters.
const MAX_NAME: usize = 64;

/// The servers of one NATS and the name of a fleet: `nats://[user:password@ or token@]host[:port][/fleet]`, several with
/// commas. Its `Debug` and `Display` forms do not show passwords.
#[derive(Clone, PartialEq, Eq)]
pub struct FleetAddress {
    servers: Vec<Url>,
    name: String,
}

/// A text that is no address of a fleet.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "not the address of a fleet ({0}); expected nats://[user:password@]host[:port][/fleet] or tls://…, for example \
     nats://localhost:4222"
)]
pub struct AddressError(String);

impl FleetAddress {
    /// The name of the fleet: `default` unless the address has one.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The servers, for the client.
    pub(crate) fn servers(&self) -> &[Url] {
        &self.servers
    }

    /// Whether only programs on this machine can reach all servers.
    pub fn is_loopback(&self) -> bool {
        self.servers.iter().all(is_loopback)
    }

    /// Whether messages to each server are encrypted, or stay on this machine.
    pub fn is_private(&self) -> bool {
        let is_private = |server: &Url| server.scheme() == "tls" || is_loopback(server);
        self.servers.iter().all(is_private)
    }

    /// Whether messages to all servers are encrypted.
    pub(crate) fn is_encrypted(&self) -> bool {
        self.servers.iter().all(|server| server.scheme() == "tls")
    }

    /// Whether each server asks for a user, a token or an encrypted connection.
    pub fn is_guarded(&self) -> bool {
        self.servers
            .iter()
            .all(|server| !server.username().is_empty() || server.scheme() == "tls")
    }
}

impl FromStr for FleetAddress {
    type Err = AddressError;

    fn from_str(list: &str) -> Result<Self, AddressError> {
        let mut servers = Vec::new();
        let mut name: Option<String> = None;
        for text in list.split(',').map(str::trim).filter(|text| !text.is_empty()) {
            let (server, own) = server_of(text)?;
            if let Some(own) = own
                && name.replace(own.clone()).is_some_and(|other| other != own)
            {
                return Err(AddressError("its servers name two fleets".to_owned()));
            }
            servers.push(server);
        }
        if servers.is_empty() {
            return Err(AddressError("it is empty".to_owned()));
        }
        Ok(Self {
            servers,
            name: name.unwrap_or_else(|| DEFAULT_NAME.to_owned()),
        })
    }
}

fn is_loopback(server: &Url) -> bool {
    // Of such schemes the parser takes no host for an address.
    let host = server.host_str().unwrap_or_default().trim_matches(['[', ']']);
    host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// A server, and the fleet that its path names.
fn server_of(text: &str) -> Result<(Url, Option<String>), AddressError> {
    let wrong = |reason: &str| AddressError(reason.to_owned());
    let with_scheme = if text.contains("://") {
        text.to_owned()
    } else {
        format!("nats://{text}")
    };
    let mut url: Url = with_scheme
        .parse()
        .map_err(|error: url::ParseError| AddressError(error.to_string()))?;
    if !matches!(url.scheme(), "nats" | "tls") {
        return Err(wrong("unknown scheme"));
    }
    if url.host_str().is_none_or(str::is_empty) {
        return Err(wrong("no host"));
    }
    let name = url.path().trim_matches('/').to_owned();
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
    if !name.chars().all(is_of_name) || name.len() > MAX_NAME {
        return Err(wrong("the name of a fleet has up to 64 letters, digits, - and _"));
    }
    url.set_path("");
    if url.port().is_none() {
        // A URL with a host takes a port.
        let _has_host = url.set_port(Some(DEFAULT_PORT));
    }
    Ok((url, Some(name).filter(|name| !name.is_empty())))
}

impl fmt::Display for FleetAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let servers: Vec<_> = self.servers.iter().map(Url::as_str).collect();
        f.write_str(&plimsoll_redacted::url(&servers.join(",")))
    }
}

impl fmt::Debug for FleetAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self} ({})", self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, shown: &str, name: &str, is_loopback: bool, is_guarded: bool) {
        let address: FleetAddress = text.parse().expect("a good address");
        assert_eq!(address.to_string(), shown, "{text}");
        let found = (address.name(), address.is_loopback(), address.is_guarded());
        assert_eq!(found, (name, is_loopback, is_guarded), "{text}");
    }

    #[test]
    fn servers_and_fleets() {
        check(
            "nats://localhost",
            "nats://localhost:4222",
            "default",
            true,
            false,
        );
        check(
            "127.0.0.1:4333/night",
            "nats://127.0.0.1:4333",
            "night",
            true,
            false,
        );
        check("tls://[::1]:7/a_b-1/", "tls://[::1]:7", "a_b-1", true, true);
        check(
            "nats://u:secret@h1,nats://h2",
            "nats://***@h1:4222,nats://h2:4222",
            "default",
            false,
            false,
        );
        check(
            "nats://token@h1/x, nats://t@h2/x",
            "nats://***@h1:4222,nats://***@h2:4222",
            "x",
            false,
            true,
        );
    }

    #[test]
    fn other_texts_are_refused() {
        for (text, reason) in [
            ("", "it is empty"),
            ("redis://h", "unknown scheme"),
            ("nats://", "no host"),
            ("nats://h:x", "invalid port"),
            ("nats://h/a b", "the name of a fleet"),
            ("nats://h/a/b", "the name of a fleet"),
            ("nats://h/a,nats://g/b", "two fleets"),
        ] {
            let error = text.parse::<FleetAddress>().expect_err(text).to_string();
            assert!(
                error.contains(reason) && error.contains("expected nats://"),
                "{text}: {error}"
            );
        }
    }
}
