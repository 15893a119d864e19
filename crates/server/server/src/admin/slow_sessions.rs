//! The sessions for which the most waits, because their clients do not read: what `blocked_clients_num` and `pending_bytes`
//! only count.
//!
//! Shards share nothing, so each leaves its list with its census ([`crate::census`]), and only while somebody looks.

use std::{
    collections::BTreeMap,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use serde::Serialize;

/// The most sessions of a list, and of each shard's: a page shows no more, and the rest is a number.
const MAX_LISTED: usize = 20;

/// How long after the last look the shards go on to make lists: a page that loses its connection for a while should not
/// begin anew.
const ATTENTION: Duration = Duration::from_secs(60);

/// The lists of all shards.
#[derive(Debug)]
pub(crate) struct SlowSessions {
    /// When somebody looked last, in milliseconds after `began`; 0: never.
    looked_at: AtomicU64,
    began: Instant,
    shards: Box<[Mutex<Option<Vec<SlowSession>>>]>,
}

/// One session whose connection takes no more bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct SlowSession {
    pub(crate) sid: String,
    pub(crate) transport: &'static str,
    pub(crate) shard: usize,
    pub(crate) pending_bytes: usize,
    pub(crate) pending_messages: usize,
    /// How long its connection has taken nothing, or less than there was.
    pub(crate) blocked_ms: u64,
}

/// The ones with the most waiting bytes of all that are offered.
#[derive(Debug, Default)]
pub(crate) struct Slowest {
    /// By bytes, and by their number among those that were offered, which tells equal ones apart.
    sessions: BTreeMap<(usize, usize), SlowSession>,
    n_offered: usize,
}

impl Slowest {
    /// Takes a session if it belongs to the list; `describe` is only called then.
    pub(crate) fn offer(&mut self, pending_bytes: usize, describe: impl FnOnce() -> SlowSession) {
        self.n_offered += 1;
        if self.sessions.len() == MAX_LISTED {
            let least = self.sessions.keys().next().map_or(0, |(bytes, _)| *bytes);
            if pending_bytes <= least {
                return;
            }
            self.sessions.pop_first();
        }
        self.sessions.insert((pending_bytes, self.n_offered), describe());
    }

    /// The list, most bytes first.
    pub(crate) fn into_list(self) -> Vec<SlowSession> {
        self.sessions.into_values().rev().collect()
    }
}

impl SlowSessions {
    pub(crate) fn new(n_shards: usize) -> Self {
        Self {
            looked_at: AtomicU64::new(0),
            began: Instant::now(),
            shards: (0..n_shards).map(|_| Mutex::default()).collect(),
        }
    }

    /// Whether anybody has looked lately, so that lists are worth making.
    pub(crate) fn is_watched(&self) -> bool {
        let looked_at = self.looked_at.load(Ordering::Relaxed);
        looked_at > 0 && self.began.elapsed() < Duration::from_millis(looked_at) + ATTENTION
    }

    /// A shard's new list; `None` when it made none.
    pub(crate) fn set(&self, shard: usize, list: Option<Vec<SlowSession>>) {
        *self.shards[shard].lock().unwrap_or_else(PoisonError::into_inner) = list;
    }

    /// The list of all shards; none until each has made one. From now on they do.
    pub(crate) fn look(&self) -> Option<Vec<SlowSession>> {
        let now = u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.looked_at.store(now.max(1), Ordering::Relaxed);
        let mut all = Slowest::default();
        for shard in &self.shards {
            let list = shard.lock().unwrap_or_else(PoisonError::into_inner);
            for session in list.as_ref()? {
                all.offer(session.pending_bytes, || session.clone());
            }
        }
        Some(all.into_list())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(shard: usize, pending_bytes: usize) -> SlowSession {
        SlowSession {
            sid: format!("{shard}-{pending_bytes}"),
            transport: "websocket",
            shard,
            pending_bytes,
            pending_messages: 1,
            blocked_ms: 0,
        }
    }

    fn bytes(list: &[SlowSession]) -> Vec<usize> {
        list.iter().map(|session| session.pending_bytes).collect()
    }

    #[test]
    fn the_slowest_of_many_are_kept() {
        let mut slowest = Slowest::default();
        let mut n_described = 0;
        for n in (0..1000).chain([5, 990]) {
            slowest.offer(n, || {
                n_described += 1;
                session(0, n)
            });
        }
        let list = bytes(&slowest.into_list());
        assert_eq!(list.len(), MAX_LISTED);
        assert_eq!(list[..3], [999, 998, 997]);
        // In rising order each belongs to the list when it comes; the 5 behind them does not.
        assert!(n_described <= 1001, "{n_described}");
    }

    #[test]
    fn lists_of_shards_are_one_as_soon_as_all_are_there() {
        let sessions = SlowSessions::new(2);
        assert!(!sessions.is_watched(), "nobody has looked");
        assert_eq!(sessions.look(), None);
        assert!(sessions.is_watched());
        sessions.set(0, Some(vec![session(0, 5), session(0, 3)]));
        assert_eq!(sessions.look(), None);
        sessions.set(1, Some(vec![session(1, 5), session(1, 4)]));
        assert_eq!(bytes(&sessions.look().expect("both are there")), [5, 5, 4, 3]);
        sessions.set(0, None);
        assert_eq!(sessions.look(), None);
    }
}
