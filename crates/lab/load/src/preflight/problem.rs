//! A limit that is too low, and its solution.

use std::net::IpAddr;

use super::PortRange;

/// A limit that is too low for the run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// The process may not open enough files.
    #[error(
        "{n_connections} connections need {needed} open files, but this process may open at most {hard}; raise the \
         hard limit first (`ulimit -Hn {needed}` as root, `nofile` in /etc/security/limits.conf, or `docker run \
         --ulimit nofile={needed}`), or use fewer connections"
    )]
    OpenFiles {
        /// Connections of the run.
        n_connections: u64,
        /// Files that they need.
        needed: u64,
        /// Hard limit that was found.
        hard: u64,
    },
    /// One source address has too few local ports for the destination.
    #[error(
        "{n_connections} connections to {destination} need {n_addresses} source addresses, because each has only \
         {usable} usable local ports ({ports}); add more addresses of this machine with `--local-addr A,B,…`, \
         or widen the range: `sysctl -w net.ipv4.ip_local_port_range=\"1024 65535\"`"
    )]
    Ports {
        /// Connections of the run.
        n_connections: u64,
        /// Where they go.
        destination: IpAddr,
        /// Source addresses that they need.
        n_addresses: u64,
        /// Connections per source address.
        usable: u64,
        /// The range that was found.
        ports: PortRange,
    },
}
