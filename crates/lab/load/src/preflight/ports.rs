//! Local ports: the number of connections from one source address to one destination.

use std::{
    fmt, fs,
    net::{IpAddr, Ipv4Addr},
};

/// The kernel's range of ephemeral ports, both ends included (`net.ipv4.ip_local_port_range`, used for IPv6 too).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortRange {
    /// Lowest port.
    pub first: u16,
    /// Highest port; not below `first`.
    pub last: u16,
}

/// One port in this many stays free. Reason: other programs and connections of an earlier run that are still in
/// `TIME_WAIT` hold some, and the kernel's search for a free port slows down when almost none is left.
const FREE_SHARE: u64 = 10;

/// The most source addresses of a plan. Reason: 127.0.0.0/8 has more, yet this is over 6 million connections with the
/// default range, beyond what one process can open.
const MAX_ADDRESSES: u64 = 254;

impl PortRange {
    /// The range of this machine. `None` if the kernel does not provide it.
    pub fn read() -> Option<Self> {
        Self::parse(&fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").ok()?)
    }

    /// Two numbers with white space between them.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let mut numbers = text.split_ascii_whitespace().map(str::parse);
        let (first, last) = (numbers.next()?.ok()?, numbers.next()?.ok()?);
        (first <= last).then_some(Self { first, last })
    }

    /// Connections from one source address to one destination address and port.
    pub fn n_usable(self) -> u64 {
        let n = u64::from(self.last - self.first) + 1;
        n - n / FREE_SHARE
    }

    /// The number of source addresses for `n_connections` to one destination.
    pub(super) fn n_addresses(self, n_connections: u64) -> u64 {
        n_connections.div_ceil(self.n_usable())
    }
}

impl fmt::Display for PortRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} to {}", self.first, self.last)
    }
}

/// 127.0.0.1, 127.0.0.2, …: Linux lets a socket bind to any address of 127.0.0.0/8 without configuration.
///
/// `None` for other destinations: IPv6 has the single loopback address `::1`, and the addresses of other interfaces are
/// for the user to choose.
pub(super) fn loopback_addresses(destination: IpAddr, n_addresses: u64) -> Option<Vec<IpAddr>> {
    let IpAddr::V4(v4) = destination.to_canonical() else {
        return None;
    };
    if !v4.is_loopback() || n_addresses > MAX_ADDRESSES {
        return None;
    }
    let hosts = 1..=u8::try_from(n_addresses).ok()?;
    Some(hosts.map(|host| Ipv4Addr::new(127, 0, 0, host).into()).collect())
}
