//! Forbidden networks (k6's `blacklistIPs`).

use std::{fmt, net::IpAddr, str::FromStr};

use super::RuleError;

/// All addresses with the same first bits, in CIDR notation (RFC 4632): `10.0.0.0/8`. An address alone is a network
/// of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Network {
    ip: IpAddr,
    n_bits: u8,
}

impl Network {
    /// Whether an address is in it.
    pub fn contains(&self, ip: IpAddr) -> bool {
        let (own, n_own_bits) = number(self.ip);
        let (other, n_other_bits) = number(ip);
        let n_free = u32::from(n_own_bits - self.n_bits);
        n_own_bits == n_other_bits && (own ^ other).checked_shr(n_free).unwrap_or(0) == 0
    }

    /// The first address and how many there are at most.
    pub(super) fn range(&self) -> (IpAddr, u128) {
        let (number, n_own_bits) = number(self.ip);
        let n_free = u32::from(n_own_bits - self.n_bits);
        let below = 1_u128.checked_shl(n_free).map_or(u128::MAX, |size| size - 1);
        (ip(number & !below, self.ip.is_ipv4()), below.saturating_add(1))
    }
}

/// An address as a number, and its width in bits.
pub(super) fn number(ip: IpAddr) -> (u128, u8) {
    match ip {
        IpAddr::V4(ip) => (u128::from(u32::from(ip)), 32),
        IpAddr::V6(ip) => (u128::from(ip), 128),
    }
}

/// The address with this number. A number too large for IPv4 is truncated.
pub(super) fn ip(number: u128, is_v4: bool) -> IpAddr {
    if is_v4 {
        IpAddr::V4((number as u32).into())
    } else {
        IpAddr::V6(number.into())
    }
}

impl FromStr for Network {
    type Err = RuleError;

    fn from_str(text: &str) -> Result<Self, RuleError> {
        let bad = || RuleError::Network(text.to_owned());
        let (ip, n_bits) = match text.split_once('/') {
            Some((ip, n_bits)) => (ip, Some(n_bits.parse::<u8>().map_err(|_| bad())?)),
            None => (text, None),
        };
        let ip: IpAddr = ip.parse().map_err(|_| bad())?;
        let (_, n_own_bits) = number(ip);
        let n_bits = n_bits.unwrap_or(n_own_bits);
        if n_bits > n_own_bits {
            return Err(bad());
        }
        Ok(Self { ip, n_bits })
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.ip, self.n_bits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_network_is_the_addresses_with_the_same_first_bits() {
        let check = |network: &str, ip: &str, expected: bool| {
            let found = network.parse::<Network>().unwrap();
            assert_eq!(found.contains(ip.parse().unwrap()), expected, "{network} {ip}");
        };
        check("10.0.0.0/8", "10.1.2.3", true);
        check("10.0.0.0/8", "11.0.0.0", false);
        check("10.0.0.1", "10.0.0.1", true);
        check("10.0.0.1", "10.0.0.2", false);
        check("0.0.0.0/0", "1.2.3.4", true);
        check("0.0.0.0/0", "::1", false);
        check("::/0", "::1", true);
        check("2001:db8::/32", "2001:db8:1::", true);
        check("2001:db8::/32", "2001:db9::", false);
        for bad in ["10.0.0.0/33", "10.0.0/8", "x", "::/129", "1.2.3.4/-1"] {
            assert_eq!(bad.parse::<Network>(), Err(RuleError::Network(bad.to_owned())));
        }
    }
}
