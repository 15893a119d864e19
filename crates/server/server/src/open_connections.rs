//! Counts the open connections, in total and per address, and decides which ones exceed a limit.

use std::{
    collections::HashMap,
    fmt,
    net::IpAddr,
    num::NonZeroUsize,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};

use crate::network::Network;

/// The most connections beyond a limit that get an error answer. Further ones are dropped.
const MAX_REFUSALS: usize = 32;

/// The capacity that an almost empty table of addresses keeps.
const KEPT_ADDRESSES: usize = 64;

/// The connections of all shards. All clones share the counts.
#[derive(Debug, Clone)]
pub(crate) struct OpenConnections {
    max: usize,
    n_open: Arc<AtomicUsize>,
    /// `None` without a limit per address. With one, all shards share a lock, taken when a connection opens or closes.
    addresses: Option<Arc<Addresses>>,
}

/// The decision about a new connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Admission {
    /// The connection is served.
    Granted,
    /// There are too many connections. The client gets an error answer.
    TooMany,
    /// There are too many connections from the client's address. It gets an error answer.
    TooManyOfAddress,
    /// Too many connections are being answered with an error already. This one is dropped.
    Flood,
}

/// One counted connection, until it is dropped.
#[derive(Debug)]
pub(crate) struct OpenConnection {
    pub(crate) admission: Admission,
    n_open: Arc<AtomicUsize>,
    _of_address: Option<Box<OfAddress>>,
}

impl OpenConnections {
    /// Allows up to `max` connections, and up to `max_per_address` of them per address.
    pub(crate) fn new(max: usize, max_per_address: Option<NonZeroUsize>) -> Self {
        Self {
            max,
            n_open: Arc::default(),
            addresses: max_per_address.map(|max| Arc::new(Addresses::new(max.get()))),
        }
    }

    /// The number of open connections.
    pub(crate) fn n_open(&self) -> usize {
        self.n_open.load(Ordering::Relaxed)
    }

    /// Counts one more connection. Without an `address` only the total limit applies.
    pub(crate) fn enter(&self, address: Option<IpAddr>) -> OpenConnection {
        let n_open = self.n_open.fetch_add(1, Ordering::Relaxed) + 1;
        let of_address = self
            .addresses
            .as_ref()
            .zip(address)
            .map(|(addresses, address)| addresses.enter(Network::of(address)));
        let admission = match &of_address {
            _ if n_open > self.max + MAX_REFUSALS => Admission::Flood,
            Some((_, n_excess)) if *n_excess > MAX_REFUSALS => Admission::Flood,
            _ if n_open > self.max => Admission::TooMany,
            Some((_, n_excess)) if *n_excess > 0 => Admission::TooManyOfAddress,
            _ => Admission::Granted,
        };
        OpenConnection {
            admission,
            n_open: Arc::clone(&self.n_open),
            _of_address: of_address.map(|(of_address, _)| Box::new(of_address)),
        }
    }
}

impl Drop for OpenConnection {
    fn drop(&mut self) {
        self.n_open.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Connections by address, with at most one entry per open connection. The map's hash is keyed, because clients choose
/// the addresses.
struct Addresses {
    max: usize,
    n_open: Mutex<HashMap<Network, usize>>,
}

/// One connection's place in the table.
#[derive(Debug)]
struct OfAddress {
    addresses: Arc<Addresses>,
    network: Network,
}

impl Addresses {
    fn new(max: usize) -> Self {
        Self {
            max,
            n_open: Mutex::default(),
        }
    }

    /// Counts a connection of a network. Returns its place, and by how many the network now exceeds the limit.
    fn enter(self: &Arc<Self>, network: Network) -> (OfAddress, usize) {
        let mut table = self.table();
        let n_open = table.entry(network).or_default();
        *n_open += 1;
        let n_excess = n_open.saturating_sub(self.max);
        let of_address = OfAddress {
            addresses: Arc::clone(self),
            network,
        };
        (of_address, n_excess)
    }

    fn leave(&self, network: Network) {
        let mut table = self.table();
        let Some(n_open) = table.get_mut(&network) else {
            return;
        };
        *n_open -= 1;
        if *n_open == 0 {
            table.remove(&network);
            if table.capacity() > KEPT_ADDRESSES && table.len() * 4 < table.capacity() {
                table.shrink_to(KEPT_ADDRESSES);
            }
        }
    }

    fn table(&self) -> MutexGuard<'_, HashMap<Network, usize>> {
        self.n_open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for OfAddress {
    fn drop(&mut self) {
        self.addresses.leave(self.network);
    }
}

/// Omits the table, which may be large.
impl fmt::Debug for Addresses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Addresses")
            .field("max", &self.max)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn admissions(connections: &[OpenConnection]) -> Vec<Admission> {
        connections
            .iter()
            .map(|connection| connection.admission)
            .collect()
    }

    fn enter(open: &OpenConnections, addresses: &[&str]) -> Vec<OpenConnection> {
        let parsed = addresses.iter().map(|text| text.parse().expect("an address"));
        parsed.map(|address| open.enter(Some(address))).collect()
    }

    #[track_caller]
    fn check(max_per_address: usize, addresses: &[&str], expected: &[Admission]) {
        let open = OpenConnections::new(100, NonZeroUsize::new(max_per_address));
        assert_eq!(admissions(&enter(&open, addresses)), expected, "{addresses:?}");
    }

    #[test]
    fn addresses_are_counted_apart_and_ipv6_by_network() {
        use Admission::{Granted, TooManyOfAddress};
        check(0, &["10.0.0.1"; 3], &[Granted; 3]);
        check(2, &["10.0.0.1"; 3], &[Granted, Granted, TooManyOfAddress]);
        check(1, &["10.0.0.1", "10.0.0.2"], &[Granted; 2]);
        check(1, &["10.0.0.1", "::ffff:10.0.0.1"], &[Granted, TooManyOfAddress]);
        check(
            1,
            &["2001:db8:0:1::1", "2001:db8:0:1:ffff::2"],
            &[Granted, TooManyOfAddress],
        );
        check(1, &["2001:db8:0:1::1", "2001:db8:0:2::1"], &[Granted; 2]);
    }

    #[test]
    fn a_connection_that_is_gone_does_not_count() {
        let open = OpenConnections::new(2, NonZeroUsize::new(1));
        for _ in 0..3 {
            assert_eq!(admissions(&enter(&open, &["10.0.0.1"])), [Admission::Granted]);
        }
        let addresses = open.addresses.as_ref().expect("there is a limit");
        assert!(addresses.table().is_empty());
    }

    #[test]
    fn the_table_gives_back_what_a_crowd_needed() {
        let open = OpenConnections::new(10_000, NonZeroUsize::new(1));
        let crowd: Vec<_> = (0..5000_u32)
            .map(|bits| open.enter(Some(IpAddr::V4(bits.into()))))
            .collect();
        drop(crowd);
        let addresses = open.addresses.as_ref().expect("there is a limit");
        let capacity = addresses.table().capacity();
        assert!(capacity <= 4 * KEPT_ADDRESSES, "{capacity}");
    }

    #[test]
    fn some_are_told_and_a_flood_is_not() {
        let address = IpAddr::from([10, 0, 0, 1]);
        let n_told = MAX_REFUSALS;
        let expected = |told| {
            [
                vec![Admission::Granted; 2],
                vec![told; n_told],
                vec![Admission::Flood; 3],
            ]
            .concat()
        };
        for (open, told) in [
            (OpenConnections::new(2, None), Admission::TooMany),
            (
                OpenConnections::new(1000, NonZeroUsize::new(2)),
                Admission::TooManyOfAddress,
            ),
        ] {
            let crowd: Vec<_> = (0..n_told + 5).map(|_| open.enter(Some(address))).collect();
            assert_eq!(admissions(&crowd), expected(told));
        }
    }

    #[test]
    fn without_an_address_only_the_limit_for_all_holds() {
        let open = OpenConnections::new(3, NonZeroUsize::new(1));
        let crowd: Vec<_> = (0..4).map(|_| open.enter(None)).collect();
        let expected = [vec![Admission::Granted; 3], vec![Admission::TooMany]].concat();
        assert_eq!(admissions(&crowd), expected);
    }
}
