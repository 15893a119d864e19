//! What can go wrong before there is a connection, and in the rules for it.

use std::{
    io,
    net::{IpAddr, SocketAddr},
};

use super::Network;

/// No connection could be made.
#[derive(Debug, thiserror::Error)]
pub enum DialError {
    /// The name does not exist.
    #[error("lookup {0}: no such host")]
    NoSuchHost(String),
    /// The resolver failed.
    #[error("lookup {host}: {reason}")]
    Lookup {
        /// The name.
        host: String,
        /// The resolver's words.
        reason: String,
    },
    /// The name has addresses, but none of the required family.
    #[error("lookup {0}: no address of the family that the option `dns` asks for")]
    NoAddressOfFamily(String),
    /// An option forbids the address.
    #[error("IP ({ip}) is in a blacklisted range ({network})")]
    BlockedAddress {
        /// The address.
        ip: IpAddr,
        /// The rule.
        network: Network,
    },
    /// An option forbids the host.
    #[error("hostname ({0}) is in a blocked pattern")]
    BlockedHost(String),
    /// The system could not connect.
    #[error("dial {address}: {source}")]
    Connect {
        /// Where to.
        address: SocketAddr,
        /// The system's answer.
        source: io::Error,
    },
    /// A proxy made no connection to the server.
    #[error("proxy {proxy}: {reason}")]
    Proxy {
        /// The proxy's host and port.
        proxy: String,
        /// The status of its answer, if it answered.
        status: Option<u16>,
        /// The reason, in words.
        reason: String,
    },
}

/// A rule cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RuleError {
    /// No host.
    #[error(
        "{0:?} is not a host name; expected something like example.com, *.example.com or example.com:443"
    )]
    Host(String),
    /// No address.
    #[error("{0:?} is not an address; expected something like 127.0.0.1, 127.0.0.1:8080 or [::1]:8080")]
    Address(String),
    /// No network.
    #[error("{0:?} is not a network; expected something like 10.0.0.0/8 or 10.0.0.1")]
    Network(String),
    /// No pool of local addresses.
    #[error(
        "{0:?} is not a list of local addresses; expected something like 10.0.0.1,10.0.1.1-10.0.1.9,10.0.2.0/24"
    )]
    Sources(String),
    /// An unknown word in `dns`.
    #[error("{found:?} is not a valid {what} for the option `dns`; expected one of {expected}")]
    Dns {
        /// The word.
        found: String,
        /// What it should have been.
        what: &'static str,
        /// All that there are.
        expected: &'static str,
    },
}
