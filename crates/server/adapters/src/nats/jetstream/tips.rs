//! The ends of logs that this server publishes to, and whose turn it is to write behind them.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
};

use super::{record::Head, requests::JetStreamError};

/// The most logs whose ends are remembered. Beyond it those without a publication in progress are forgotten; the next
/// publication asks JetStream.
const MAX_LOGS: usize = 10_000;

/// The last message on the subject of a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Tip {
    /// Its number in the stream of JetStream; 0 if there is none.
    pub(super) number: u64,
    /// The end of the log. `None`: there is no log.
    pub(super) head: Option<Head>,
}

/// The ends of logs. Clients and backends choose the names, so this map's hashes have a random key (ARCHITECTURE, "Hash
/// tables").
#[derive(Debug, Default)]
pub(super) struct Tips(Mutex<HashMap<Arc<str>, Arc<Lane>>>);

/// The publications of this server to one log, which go one after the other.
#[derive(Debug, Default)]
pub(super) struct Lane {
    pub(super) turn: tokio::sync::Mutex<()>,
    /// `None`: it is not known.
    tip: Mutex<Option<Tip>>,
    /// Whether the log says that another program has written to the subject.
    is_foreign: AtomicBool,
}

impl Lane {
    pub(super) fn tip(&self) -> Option<Tip> {
        lock(&self.tip).clone()
    }

    pub(super) fn set(&self, tip: Option<Tip>) {
        *lock(&self.tip) = tip;
    }

    /// The end could not be read. Another program's message there is logged once.
    pub(super) fn tell(&self, error: &JetStreamError) {
        if matches!(error, JetStreamError::Foreign(_)) && !self.is_foreign.swap(true, Relaxed) {
            tracing::warn!("A stream takes no messages: {error}.");
        }
    }

    /// The end was read.
    pub(super) fn is_read(&self) {
        self.is_foreign.store(false, Relaxed);
    }
}

impl Tips {
    /// The lane of a log.
    pub(super) fn lane(&self, base: &str) -> Arc<Lane> {
        let mut lanes = lock(&self.0);
        if let Some(lane) = lanes.get(base) {
            return Arc::clone(lane);
        }
        if lanes.len() >= MAX_LOGS {
            lanes.retain(|_, lane| Arc::strong_count(lane) > 1);
        }
        Arc::clone(lanes.entry(base.into()).or_default())
    }

    /// JetStream has announced a message of a log.
    pub(super) fn heard(&self, base: &str, tip: Tip) {
        if let Some(lane) = lock(&self.0).get(base) {
            let mut known = lock(&lane.tip);
            if known.as_ref().is_some_and(|known| known.number < tip.number) {
                *known = Some(tip);
            }
        }
    }

    /// The end of a log must be asked for.
    pub(super) fn forget(&self, base: &str) {
        if let Some(lane) = lock(&self.0).get(base) {
            lane.set(None);
        }
    }

    /// JetStream may have lost messages: the ends of all logs must be asked for.
    pub(super) fn forget_all(&self) {
        lock(&self.0).values().for_each(|lane| lane.set(None));
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A panic under the lock is a bug in this file; the other logs go on.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tip(number: u64) -> Tip {
        Tip { number, head: None }
    }

    #[test]
    fn only_later_messages_move_an_end_that_is_known() {
        let tips = Tips::default();
        tips.heard("a", tip(1));
        let lane = tips.lane("a");
        tips.heard("a", tip(1));
        assert_eq!(lane.tip(), None);
        lane.set(Some(tip(5)));
        for (heard, expected) in [(4, 5), (6, 6), (5, 6)] {
            tips.heard("a", tip(heard));
            assert_eq!(lane.tip(), Some(tip(expected)));
        }
        tips.forget_all();
        assert_eq!(tips.lane("a").tip(), None);
    }

    #[test]
    fn lanes_in_use_are_not_forgotten() {
        let tips = Tips::default();
        let used = tips.lane("used");
        used.set(Some(tip(1)));
        (0..2 * MAX_LOGS).for_each(|n| drop(tips.lane(&n.to_string())));
        assert!(lock(&tips.0).len() <= MAX_LOGS);
        assert!(Arc::ptr_eq(&used, &tips.lane("used")));
    }
}
