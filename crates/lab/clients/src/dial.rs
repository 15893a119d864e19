//! From a host name to a TCP connection, under the options of a run (docs/reference/run-options.md): overrides of
//! names, forbidden names and addresses, a cache of name look-ups, source addresses.

mod blocked;
mod error;
mod host_pattern;
mod overrides;
mod resolver;
mod source_addresses;
mod traffic;

use std::{
    net::{IpAddr, SocketAddr},
    rc::Rc,
};

pub use self::{
    blocked::Network,
    error::{DialError, RuleError},
    host_pattern::HostPattern,
    overrides::Overrides,
    resolver::{Policy, Resolver, Select},
    source_addresses::SourceAddresses,
    traffic::{Counted, Traffic},
};
use crate::tcp;

/// The rules for connecting. One value serves all workers of a run.
#[derive(Debug, Default)]
pub struct Dialer {
    /// Addresses that replace those of the system (`hosts`).
    pub overrides: Overrides,
    /// Forbidden hosts (`blockHostnames`). They take precedence over overrides.
    pub blocked_hosts: Vec<HostPattern>,
    /// Forbidden addresses (`blacklistIPs`).
    pub blocked_networks: Vec<Network>,
    /// Resolves names.
    pub resolver: Resolver,
}

impl Dialer {
    /// The address of `host` (without brackets).
    ///
    /// # Errors
    /// The host has no address, or is forbidden.
    pub async fn locate(&self, host: &str, port: u16) -> Result<SocketAddr, DialError> {
        let literal: Option<IpAddr> = host.parse().ok();
        if literal.is_none() && self.blocked_hosts.iter().any(|pattern| pattern.matches(host)) {
            return Err(DialError::BlockedHost(host.to_owned()));
        }
        let address = match (self.overrides.find(host, port), literal) {
            (Some(address), _) => address,
            (None, Some(ip)) => SocketAddr::new(ip, port),
            (None, None) => SocketAddr::new(self.resolver.resolve(host).await?, port),
        };
        let ip = address.ip().to_canonical();
        match self.blocked_networks.iter().find(|network| network.contains(ip)) {
            Some(network) => Err(DialError::BlockedAddress {
                ip,
                network: *network,
            }),
            None => Ok(address),
        }
    }

    /// Connects. Adds the connection's bytes to `traffic`.
    ///
    /// # Errors
    /// [`DialError::Connect`]; there is one attempt.
    pub async fn connect(
        &self,
        address: SocketAddr,
        source: Option<IpAddr>,
        traffic: &Rc<Traffic>,
    ) -> Result<Counted, DialError> {
        let connecting = tcp::connect_to(address, source);
        match connecting.await {
            Ok(stream) => Ok(Counted::new(stream, Rc::clone(traffic))),
            Err(error) => Err(DialError::Connect {
                address,
                source: error,
            }),
        }
    }
}

#[cfg(test)]
mod tests;
