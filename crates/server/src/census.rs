//! Counts that nobody can keep up to date by adding and subtracting: how many different streams are heard and
//! how many different clients there are, over all shards, and how much waits for slow ones.
//!
//! Shards share nothing, so each walks over its own from time to time, in portions, and leaves a sketch; whoever
//! reads the metrics unites the sketches.

use std::{
    ops::Bound,
    rc::Rc,
    sync::{Arc, Mutex, PoisonError},
};

use plimsoll_hub::SessionId;
use plimsoll_telemetry::{Distinct, Registry};
use tokio::time::{Instant, MissedTickBehavior};

use crate::{
    admin::{SlowSession, Slowest},
    encoding,
    shard::Shard,
};

/// Entries that are looked at before other tasks of the shard get their turn: well under a millisecond.
const PORTION: usize = 1000;

/// The results of all shards.
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
    /// For `n_shards` shards; makes the metrics.
    pub(crate) fn new(n_shards: usize, registry: &Registry) -> Arc<Self> {
        let census = Arc::new(Self {
            streams: Tally::new(n_shards),
            identifiers: Tally::new(n_shards),
        });
        let streams = Arc::clone(&census);
        registry.gauge_fn(
            "broadcast_streams_num",
            "Different streams that sessions hear",
            move || streams.streams.total(),
        );
        let identifiers = Arc::clone(&census);
        registry.gauge_fn(
            "clients_uniq_num",
            "Different identifiers that the application gave to sessions",
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
        // A value is replaced as a whole, so a panic elsewhere leaves nothing half done.
        *self.0[shard].lock().unwrap_or_else(PoisonError::into_inner) = found;
    }

    /// Exact when no two shards have the same, or one has all; in between the estimate decides.
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

/// Takes the census of a shard again and again, as long as the shard lives.
pub(crate) async fn run(shard: Rc<Shard>, census: Arc<Census>) {
    let mut intervals = tokio::time::interval(shard.config.stats_interval);
    intervals.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        intervals.tick().await;
        census.streams.set(shard.number, shard.find_streams().await);
        census
            .identifiers
            .set(shard.number, shard.find_identifiers().await);
        shard.metrics.pending_bytes.set(shard.pending_bytes());
        if let Some(admin) = &shard.admin {
            let list = match admin.slow_sessions.is_watched() {
                true => Some(shard.find_slow_sessions().await),
                false => None,
            };
            admin.slow_sessions.set(shard.number, list);
        }
    }
}

impl Shard {
    async fn find_streams(&self) -> Found {
        let mut found = Found::default();
        let mut next = Some(0);
        while let Some(start) = next {
            next = self
                .hub
                .borrow()
                .visit_streams(start, PORTION, |name| found.add(name));
            tokio::task::yield_now().await;
        }
        found
    }

    async fn find_identifiers(&self) -> Found {
        let mut found = Found::default();
        let mut last = None;
        loop {
            let next = self
                .identities
                .borrow()
                .visit(last.as_ref(), PORTION, |identifiers| found.add(identifiers));
            if next.is_none() {
                return found;
            }
            last = next;
            tokio::task::yield_now().await;
        }
    }

    async fn find_slow_sessions(&self) -> Vec<SlowSession> {
        let mut slowest = Slowest::default();
        let mut start = Bound::Unbounded;
        loop {
            let portion: Vec<_> = {
                let blocked = self.blocked.borrow();
                let rest = blocked.range((start, Bound::Unbounded)).take(PORTION);
                rest.map(|(id, since)| (*id, *since)).collect()
            };
            for (id, since) in &portion {
                self.offer(*id, *since, &mut slowest);
            }
            match portion.last() {
                Some((id, _)) if portion.len() == PORTION => start = Bound::Excluded(*id),
                _ => return slowest.into_list(),
            }
            tokio::task::yield_now().await;
        }
    }

    /// A session whose connection is full joins the list if it belongs there.
    fn offer(&self, id: SessionId, since: Instant, slowest: &mut Slowest) {
        let mut hub = self.hub.borrow_mut();
        let transport = match hub.format(id).and_then(encoding::event_stream) {
            Some(_) => "events",
            None => "websocket",
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

    /// Of the sessions whose connection is full; nothing waits for the others.
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
    use super::*;

    fn check(shards: &[&[&str]], expected: f64) {
        let tally = Tally::new(shards.len());
        for (number, things) in shards.iter().enumerate() {
            let mut found = Found::default();
            things.iter().for_each(|thing| found.add(thing));
            tally.set(number, found);
        }
        assert!(
            (tally.total() - expected).abs() < 0.5,
            "{shards:?}: {}",
            tally.total()
        );
    }

    #[test]
    fn what_several_shards_have_counts_once() {
        check(&[&[], &[]], 0.0);
        check(&[&["a", "b"], &["c"]], 3.0);
        check(&[&["a", "b"], &["b", "a"]], 2.0);
        check(&[&["a", "b"], &["b", "c"], &["c"]], 3.0);
    }
}
