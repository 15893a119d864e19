//! The sessions with the most unsent bytes. The metrics `blocked_clients_num` and `pending_bytes` only count them.
//!
//! Shards share nothing, so each shard leaves its list with its census ([`crate::census`]), and only while the admin
//! page is open.

use std::{
    collections::BTreeMap,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use serde::Serialize;

/// The most sessions in a shard's list and in the list of all shards. The page shows no more; the rest is a number.
const MAX_LISTED: usize = 20;

/// How long the shards go on making lists after the last request, so that a page that loses its connection for a while
/// still finds them.
const ATTENTION: Duration = Duration::from_secs(60);

/// The lists of all shards.
#[derive(Debug)]
pub(crate) struct SlowSessions {
    /// The time of the last request, in milliseconds after `began`. 0: never.
    looked_at: AtomicU64,
    began: Instant,
    shards: Box<[Mutex<Option<Vec<SlowSession>>>]>,
}

/// One session with a full socket.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct SlowSession {
    pub(crate) sid: String,
    pub(crate) transport: &'static str,
    pub(crate) shard: usize,
    pub(crate) pending_bytes: usize,
    pub(crate) pending_messages: usize,
    /// How long its socket has not taken all that was written, in milliseconds.
    pub(crate) blocked_ms: u64,
}

/// Collects the sessions with the most unsent bytes.
#[derive(Debug, Default)]
pub(crate) struct Slowest {
    /// Sessions by unsent bytes, then by the order in which they were offered, which makes keys distinct.
    sessions: BTreeMap<(usize, usize), SlowSession>,
    n_offered: usize,
}

impl Slowest {
    /// Adds a session if it belongs in the list. `describe` is called only in that case.
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

    /// Whether the list was requested lately, so that new lists are worth making.
    pub(crate) fn is_watched(&self) -> bool {
        let looked_at = self.looked_at.load(Ordering::Relaxed);
        looked_at > 0 && self.began.elapsed() < Duration::from_millis(looked_at) + ATTENTION
    }

    /// Stores a shard's new list. `None` if it made none.
    pub(crate) fn set(&self, shard: usize, list: Option<Vec<SlowSession>>) {
        *self.shards[shard].lock().unwrap_or_else(PoisonError::into_inner) = list;
    }

    /// The list of all shards. `None` until each shard has made one. The request starts the making of lists.
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
        // The sessions come in rising order, so each belongs in the list when it comes, except the 5 at the end.
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
