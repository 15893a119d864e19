//! From a host name to a TCP connection, under the options of a run (docs/reference/run-options.md): overrides of
//! names, forbidden names and addresses, a cache of name look-ups, proxies, source addresses.

mod blocked;
mod error;
mod host_pattern;
mod overrides;
mod proxies;
mod proxy;
mod resolver;
mod source_addresses;
mod traffic;

use std::{
    net::{IpAddr, SocketAddr},
    rc::Rc,
    sync::Arc,
};

pub use self::{
    blocked::Network,
    error::{DialError, RuleError},
    host_pattern::HostPattern,
    overrides::Overrides,
    proxies::{Proxies, ProxiesError},
    proxy::{Proxy, ProxyError},
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
    /// The proxies that connections go through.
    pub proxies: Proxies,
    /// The size of the sockets' send and receive buffers in bytes; `None` leaves it to the system.
    pub buffer_bytes: Option<u32>,
}

/// The way to a server.
#[derive(Debug, Clone)]
pub struct Route {
    /// The address to connect to: the server's, or the proxy's.
    pub address: SocketAddr,
    /// The proxy at that address; `None` for the server itself.
    pub proxy: Option<Arc<Proxy>>,
}

impl Dialer {
    /// The way to `host` (without brackets): through a proxy, which resolves the name itself, or directly. `is_tls` says
    /// whether the connection will use TLS.
    ///
    /// # Errors
    /// The server or the proxy has no address, or is forbidden.
    pub async fn route(&self, is_tls: bool, host: &str, port: u16) -> Result<Route, DialError> {
        let proxy = self.proxies.choose(is_tls, host, port).map(Arc::clone);
        let address = match &proxy {
            Some(proxy) => self.locate(proxy.host(), proxy.port()).await?,
            None => self.locate(host, port).await?,
        };
        Ok(Route { address, proxy })
    }

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
        let connecting = tcp::connect_to(address, source, self.buffer_bytes);
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
