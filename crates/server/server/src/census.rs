//! Counts that cannot be kept up to date by adding and subtracting: the number of distinct streams and distinct clients
//! over all shards, and the bytes that wait for slow clients.
//!
//! Shards share nothing, so each shard walks over its own entries from time to time, in portions, and leaves a sketch.
//! The reader of the metrics unites the sketches.

use std::{
    cell::RefCell,
    collections::BTreeMap,
    ops::Bound,
    rc::Rc,
    sync::{Arc, Mutex, PoisonError},
};

use plimsoll_hub::{Hub, SessionId};
use plimsoll_telemetry::{Distinct, Registry};
use tokio::time::{Instant, MissedTickBehavior};

use crate::{
    admin::{SlowSession, Slowest},
    encoding,
    identities::Identities,
    shard::Shard,
};

/// Entries visited before other tasks of the shard get their turn. A portion takes well under a millisecond.
const PORTION: usize = 1000;

/// Sessions whose socket is full at the moment, and since when.
type Blocked = BTreeMap<SessionId, Instant>;

/// The latest results of all shards.
#[derive(Debug)]
pub(crate) struct Census {
    streams: Tally,
    identifiers: Tally,
}

/// What each shard found at its last walk.
#[derive(Debug)]
struct Tally(Box<[Mutex<Found>]>);

#[derive(Debug, Default)]
struct Found {
    n: usize,
    distinct: Distinct,
}

impl Census {
    /// Creates a census for `n_shards` shards and registers its metrics.
    pub(crate) fn new(n_shards: usize, registry: &Registry) -> Arc<Self> {
        let census = Arc::new(Self {
            streams: Tally::new(n_shards),
            identifiers: Tally::new(n_shards),
        });
        let streams = Arc::clone(&census);
        registry.gauge_fn(
            "broadcast_streams_num",
            "Distinct streams that sessions listen to",
            move || streams.streams.total(),
        );
        let identifiers = Arc::clone(&census);
        registry.gauge_fn(
            "clients_uniq_num",
            "Distinct identifiers that the application gave to sessions",
            move || identifiers.identifiers.total(),
        );
        census
    }
}

impl Tally {
    fn new(n_shards: usize) -> Self {
        Self((0..n_shards).map(|_| Mutex::default()).collect())
    }

    fn set(&self, shard: usize, found: Found) {
        // A value is replaced as a whole, so a panic elsewhere cannot leave it half written.
        *self.0[shard].lock().unwrap_or_else(PoisonError::into_inner) = found;
    }

    /// The count over all shards. It is exact when all entries are on one shard, or when no entry is on two shards.
    /// Otherwise it is the sketch's estimate.
    fn total(&self) -> f64 {
        let (mut most, mut sum) = (0, 0);
        let mut union = Distinct::default();
        for found in &self.0 {
            let found = found.lock().unwrap_or_else(PoisonError::into_inner);
            most = most.max(found.n);
            sum += found.n;
            union.unite(&found.distinct);
        }
        union.estimate().round().clamp(most as f64, sum as f64)
    }
}

/// Repeats a shard's census for as long as the shard lives.
pub(crate) async fn run(shard: Rc<Shard>, census: Arc<Census>) {
    let mut intervals = tokio::time::interval(shard.config.stats_interval);
    intervals.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        intervals.tick().await;
        census.streams.set(shard.number, find_streams(&shard.hub).await);
        census
            .identifiers
            .set(shard.number, find_identifiers(&shard.identities).await);
        shard.metrics.pending_bytes.set(shard.pending_bytes());
        if let Some(admin) = &shard.shared.admin {
            let list = if admin.slow_sessions.is_watched() {
                Some(shard.find_slow_sessions().await)
            } else {
                None
            };
            admin.slow_sessions.set(shard.number, list);
        }
    }
}

/// Finds the streams that a shard's sessions listen to.
async fn find_streams<C, T>(hub: &RefCell<Hub<C, T>>) -> Found {
    let mut found = Found::default();
    let mut next = Some(0);
    while let Some(start) = next {
        next = hub
            .borrow()
            .visit_streams(start, PORTION, |name, _| found.add(name));
        tokio::task::yield_now().await;
    }
    found
}

/// Finds the identifiers of a shard's sessions.
async fn find_identifiers(identities: &RefCell<Identities>) -> Found {
    let mut found = Found::default();
    let mut last = None;
    loop {
        let next = identities
            .borrow()
            .visit(last.as_ref(), PORTION, |identifiers| found.add(identifiers));
        if next.is_none() {
            return found;
        }
        last = next;
        tokio::task::yield_now().await;
    }
}

/// Calls `visit` for every session whose connection is full.
async fn visit_blocked(blocked: &RefCell<Blocked>, mut visit: impl FnMut(SessionId, Instant)) {
    let mut start = Bound::Unbounded;
    loop {
        let portion: Vec<_> = {
            let blocked = blocked.borrow();
            let rest = blocked.range((start, Bound::Unbounded)).take(PORTION);
            rest.map(|(id, since)| (*id, *since)).collect()
        };
        for (id, since) in &portion {
            visit(*id, *since);
        }
        match portion.last() {
            Some((id, _)) if portion.len() == PORTION => start = Bound::Excluded(*id),
            _ => return,
        }
        tokio::task::yield_now().await;
    }
}

impl Shard {
    async fn find_slow_sessions(&self) -> Vec<SlowSession> {
        let mut slowest = Slowest::default();
        visit_blocked(&self.blocked, |id, since| self.offer(id, since, &mut slowest)).await;
        slowest.into_list()
    }

    /// Adds a session with a full socket to the list of slow sessions, if it is slow enough for the list.
    fn offer(&self, id: SessionId, since: Instant, slowest: &mut Slowest) {
        let mut hub = self.hub.borrow_mut();
        let Some(transport) = hub.format(id).map(encoding::transport) else {
            return;
        };
        let Some((connection, outbox)) = hub.get_mut(id) else {
            return;
        };
        slowest.offer(outbox.pending_bytes(), || SlowSession {
            sid: connection.sid.to_string(),
            transport,
            shard: self.number,
            pending_bytes: outbox.pending_bytes(),
            pending_messages: outbox.n_frames(),
            blocked_ms: u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX),
        });
    }

    /// The pending bytes of all sessions with a full socket. Other sessions have none.
    fn pending_bytes(&self) -> i64 {
        let mut hub = self.hub.borrow_mut();
        let n: usize = self
            .blocked
            .borrow()
            .keys()
            .filter_map(|id| Some(hub.get_mut(*id)?.1.pending_bytes()))
            .sum();
        i64::try_from(n).unwrap_or(i64::MAX)
    }
}

impl Found {
    fn add(&mut self, thing: &str) {
        self.n += 1;
        self.distinct.insert(thing);
    }
}

#[cfg(test)]
mod tests {
    use plimsoll_hub::{Budget, Format};

    use super::*;

    /// Numbers of entries around the size of one portion and of several portions.
    const LENGTHS: [usize; 7] = [0, 1, 999, 1000, 1001, 2000, 2345];

    fn hub(n_sessions: usize) -> (Hub<()>, Vec<SessionId>) {
        let mut hub = Hub::new(0, Budget::new(0));
        let ids = (0..n_sessions).map(|_| hub.insert((), Format(0))).collect();
        (hub, ids)
    }

    #[tokio::test]
    async fn a_walk_goes_on_until_the_last_stream() {
        for n_streams in LENGTHS {
            let (mut hub, ids) = hub(n_streams);
            for (n, id) in ids.iter().enumerate() {
                hub.subscribe(*id, None, &format!("stream {n}"));
            }
            assert_eq!(find_streams(&RefCell::new(hub)).await.n, n_streams);
        }
    }

    #[tokio::test]
    async fn a_walk_goes_on_until_the_last_identifiers() {
        for n_identifiers in LENGTHS {
            let (_hub, ids) = hub(2 * n_identifiers);
            let two_each = ids
                .iter()
                .enumerate()
                .map(|(n, id)| (format!("user {}", n / 2), *id));
            let identities = RefCell::new(Identities::of(two_each));
            assert_eq!(find_identifiers(&identities).await.n, n_identifiers);
        }
    }

    #[tokio::test]
    async fn a_walk_goes_on_until_the_last_full_connection() {
        for n_sessions in LENGTHS {
            let (_hub, ids) = hub(n_sessions);
            let since = Instant::now();
            let blocked = RefCell::new(ids.iter().map(|id| (*id, since)).collect());
            let mut visited = Vec::new();
            visit_blocked(&blocked, |id, _| visited.push(id)).await;
            visited.sort();
            assert!(visited == ids, "{} of {n_sessions} sessions", visited.len());
        }
    }

    /// The count of several shards is that of one shard with all their things, also where two of these share a register of
    /// the sketch, whose key is random.
    fn check(shards: &[&[&str]], all: &[&str]) {
        let tally = Tally::new(shards.len());
        for (number, things) in shards.iter().enumerate() {
            tally.set(number, found(things));
        }
        let of_one = Tally::new(1);
        of_one.set(0, found(all));
        assert!(
            (tally.total() - of_one.total()).abs() < 1e-9,
            "{shards:?}: {}",
            tally.total()
        );
        assert_eq!(tally.total() > 0.5, !all.is_empty());
    }

    fn found(things: &[&str]) -> Found {
        let mut found = Found::default();
        things.iter().for_each(|thing| found.add(thing));
        found
    }

    #[test]
    fn what_several_shards_have_counts_once() {
        check(&[&[], &[]], &[]);
        check(&[&["a", "b"], &["c"]], &["a", "b", "c"]);
        check(&[&["a", "b"], &["b", "a"]], &["a", "b"]);
        check(&[&["a", "b"], &["b", "c"], &["c"]], &["a", "b", "c"]);
    }
}
