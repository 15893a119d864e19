//! Groups addresses into networks for limits per address.

use std::net::IpAddr;

/// The addresses that count as one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Network {
    /// An IPv4 address, alone or mapped into IPv6.
    V4(u32),
    /// The first 64 bits of an IPv6 address. One customer usually has all addresses behind them (RFC 6177).
    V6(u64),
}

impl Network {
    pub(crate) fn of(address: IpAddr) -> Self {
        match address.to_canonical() {
            IpAddr::V4(address) => Self::V4(address.to_bits()),
            IpAddr::V6(address) => Self::V6((address.to_bits() >> 64) as u64),
        }
    }
}
