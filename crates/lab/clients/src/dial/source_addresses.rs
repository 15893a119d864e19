//! The addresses that connections come from (k6's `localIPs`).

use std::{net::IpAddr, str::FromStr};

use super::{
    Network, RuleError,
    blocked::{ip, number},
};

/// A pool of local addresses: `192.168.1.1`, ranges `192.168.1.10-192.168.1.20` and networks `10.0.0.0/24`, with commas
/// between them. The network's own address and its broadcast address are omitted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceAddresses(Vec<Range>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Range {
    first: u128,
    is_v4: bool,
    n: u128,
}

impl SourceAddresses {
    /// The address of the virtual user at `index`, which counts from 0. The pool is used in turn.
    pub fn of_user(&self, index: u64) -> IpAddr {
        let total = self
            .0
            .iter()
            .fold(0_u128, |sum, range| sum.saturating_add(range.n));
        let mut left = u128::from(index) % total;
        for range in &self.0 {
            if left < range.n {
                return ip(range.first + left, range.is_v4);
            }
            left -= range.n;
        }
        ip(self.0[0].first, self.0[0].is_v4)
    }
}

impl FromStr for SourceAddresses {
    type Err = RuleError;

    fn from_str(text: &str) -> Result<Self, RuleError> {
        let items = text.split(',').map(str::trim).filter(|item| !item.is_empty());
        let ranges: Vec<_> = items.map(Range::parse).collect::<Result<_, _>>()?;
        if ranges.is_empty() {
            return Err(RuleError::Sources(text.to_owned()));
        }
        Ok(Self(ranges))
    }
}

impl Range {
    fn parse(text: &str) -> Result<Self, RuleError> {
        let bad = || RuleError::Sources(text.to_owned());
        if let Some((first, last)) = text.split_once('-') {
            let first: IpAddr = first.trim().parse().map_err(|_| bad())?;
            let last: IpAddr = last.trim().parse().map_err(|_| bad())?;
            let ((from, from_bits), (to, to_bits)) = (number(first), number(last));
            if from > to || from_bits != to_bits {
                return Err(bad());
            }
            return Ok(Self {
                first: from,
                is_v4: first.is_ipv4(),
                n: (to - from).saturating_add(1),
            });
        }
        let network: Network = text.parse().map_err(|_| bad())?;
        let (first, n) = network.range();
        let (from, _) = number(first);
        let (skipped, n) = if n > 2 { (1, n - 2) } else { (0, n) };
        Ok(Self {
            first: from + skipped,
            is_v4: first.is_ipv4(),
            n,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_take_addresses_in_turn() {
        let check = |text: &str, expected: &[&str]| {
            let pool: SourceAddresses = text.parse().unwrap();
            for (index, expected) in expected.iter().enumerate() {
                assert_eq!(
                    pool.of_user(index as u64).to_string(),
                    *expected,
                    "{text} {index}"
                );
            }
        };
        check("127.0.0.2", &["127.0.0.2", "127.0.0.2"]);
        check(
            "127.0.0.2-127.0.0.3, ::1",
            &["127.0.0.2", "127.0.0.3", "::1", "127.0.0.2"],
        );
        check("10.0.0.0/30", &["10.0.0.1", "10.0.0.2", "10.0.0.1"]);
        check("10.0.0.6/31", &["10.0.0.6", "10.0.0.7", "10.0.0.6"]);
        check("::/0", &["::1", "::2"]);
        for bad in ["", "127.0.0.3-127.0.0.2", "127.0.0.1-::1", "a-b", "10.0.0.0/40"] {
            assert!(bad.parse::<SourceAddresses>().is_err(), "{bad}");
        }
    }
}
