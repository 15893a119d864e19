//! Which logs this server wants to hear.
//!
//! Others say what they want, and the task of the subscription does it. So a last listener that leaves and a first one
//! that comes at the same time cannot undo each other's work.

use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use plimsoll_broker::follower::Position;
use tokio::{
    sync::{Notify, watch},
    time::Instant,
};

/// The most logs whose places are remembered although no stream of this server needs them.
const MAX_UNHEARD: usize = 10_000;

/// The logs that are wanted, and what is known of them. Clients and backends choose the names, so the hashes of these
/// maps have random keys (ARCHITECTURE, "Hash tables").
#[derive(Debug, Default)]
pub(crate) struct Table {
    logs: Mutex<Logs>,
    changed: Notify,
    /// Whether a stream is heard only when its members are known, too.
    has_members: bool,
}

#[derive(Debug, Default)]
struct Logs {
    wanted: HashMap<Arc<str>, Wanted>,
    /// Logs that are wanted since the task of the subscription has looked.
    new: HashSet<Arc<str>>,
    /// Logs that this server has published to and does not hear.
    unheard: HashMap<Arc<str>, Position>,
}

#[derive(Debug)]
struct Wanted {
    n: usize,
    /// The time at which `n` became 0.
    unwanted_since: Option<Instant>,
    is_log_heard: bool,
    are_members_known: bool,
    is_heard: watch::Sender<bool>,
    position: Option<Position>,
}

/// A wish to hear a log. Its drop ends it.
#[derive(Debug)]
#[must_use = "its drop ends it"]
pub struct Hearing {
    table: Arc<Table>,
    base: Arc<str>,
    is_heard: watch::Receiver<bool>,
}

impl Hearing {
    /// Completes when every message that is published from now on is delivered, or the listeners are told that they may
    /// have missed it.
    pub fn heard(&self) -> impl Future<Output = ()> + Send + 'static {
        let mut is_heard = self.is_heard.clone();
        async move {
            // The sender is there as long as the log is wanted.
            let _heard = is_heard.wait_for(|is_heard| *is_heard).await;
        }
    }
}

impl Drop for Hearing {
    fn drop(&mut self) {
        let mut logs = self.table.lock();
        if let Some(wanted) = logs.wanted.get_mut(&self.base) {
            wanted.n -= 1;
            if wanted.n == 0 {
                wanted.unwanted_since = Some(Instant::now());
            }
        }
    }
}

impl Table {
    /// The logs of streams that have members.
    pub(crate) fn with_members() -> Self {
        Self {
            has_members: true,
            ..Self::default()
        }
    }

    pub(crate) fn hear(self: &Arc<Self>, base: &str) -> Hearing {
        let mut logs = self.lock();
        let known = logs.wanted.get_key_value(base).map(|(name, _)| Arc::clone(name));
        let base = known.unwrap_or_else(|| {
            let base: Arc<str> = base.into();
            let wanted = Wanted {
                n: 0,
                unwanted_since: None,
                is_log_heard: false,
                are_members_known: !self.has_members,
                is_heard: watch::channel(false).0,
                position: logs.unheard.remove(&base),
            };
            logs.wanted.insert(Arc::clone(&base), wanted);
            logs.new.insert(Arc::clone(&base));
            self.changed.notify_one();
            base
        });
        let wanted = logs.wanted.get_mut(&base).expect("it was there, or was inserted");
        wanted.n += 1;
        wanted.unwanted_since = None;
        Hearing {
            is_heard: wanted.is_heard.subscribe(),
            table: Arc::clone(self),
            base,
        }
    }

    /// Completes when there are new logs.
    pub(crate) async fn changed(&self) {
        self.changed.notified().await;
    }

    /// The logs that are new since the last call.
    pub(crate) fn take_new(&self) -> Vec<Arc<str>> {
        self.lock().new.drain().collect()
    }

    /// Removes the logs that have been unwanted for as long as `linger`.
    pub(crate) fn take_unwanted(&self, linger: std::time::Duration) -> Vec<Arc<str>> {
        let mut logs = self.lock();
        let mut gone = Vec::new();
        logs.wanted.retain(|base, wanted| {
            let is_gone = wanted
                .unwanted_since
                .is_some_and(|since| since.elapsed() >= linger);
            if is_gone {
                gone.push(Arc::clone(base));
            }
            !is_gone
        });
        for base in &gone {
            logs.new.remove(base);
        }
        if logs.wanted.len() * 4 < logs.wanted.capacity() {
            let n = logs.wanted.len();
            logs.wanted.shrink_to(n * 2);
        }
        gone
    }

    /// A log is heard from here on.
    pub(crate) fn set_heard(&self, base: &str) {
        if let Some(wanted) = self.lock().wanted.get_mut(base) {
            wanted.is_log_heard = true;
            wanted.tell();
        }
    }

    /// The members of a log's stream are known.
    pub(crate) fn set_members_known(&self, base: &str) {
        if let Some(wanted) = self.lock().wanted.get_mut(base) {
            wanted.are_members_known = true;
            wanted.tell();
        }
    }

    /// The last known place of a log.
    pub(crate) fn position(&self, base: &str) -> Option<Position> {
        let logs = self.lock();
        match logs.wanted.get(base) {
            Some(wanted) => wanted.position.clone(),
            None => logs.unheard.get(base).cloned(),
        }
    }

    /// A log has this place or a later one.
    pub(crate) fn raise(&self, base: &str, position: &Position) {
        let logs = &mut *self.lock();
        let known = match logs.wanted.get_mut(base) {
            Some(wanted) => &mut wanted.position,
            None => {
                if logs.unheard.len() >= MAX_UNHEARD {
                    // Without them only the servers that hear a log notice that Redis has lost messages of it.
                    logs.unheard.clear();
                }
                let unheard = logs.unheard.entry(base.into());
                unheard.insert_entry(position.clone());
                return;
            }
        };
        let is_behind = known
            .as_ref()
            .is_none_or(|known| known.epoch != position.epoch || known.offset < position.offset);
        if is_behind {
            *known = Some(position.clone());
        }
    }

    /// The place of a log is this one, even if it is an earlier one.
    pub(crate) fn set_position(&self, base: &str, position: Option<&Position>) {
        if let Some(wanted) = self.lock().wanted.get_mut(base) {
            wanted.position = position.cloned();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Logs> {
        // A panic under the lock is a bug in this file; the other logs go on.
        self.logs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Wanted {
    fn tell(&self) {
        self.is_heard
            .send_replace(self.is_log_heard && self.are_members_known);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const LINGER: Duration = Duration::from_secs(2);

    fn names(names: &[Arc<str>]) -> String {
        names.join(" ")
    }

    #[tokio::test(start_paused = true)]
    async fn a_log_is_wanted_until_a_while_after_its_last_hearing() {
        let table = Arc::new(Table::default());
        let first = table.hear("a");
        assert_eq!(names(&table.take_new()), "a");
        let second = table.hear("a");
        assert_eq!(names(&table.take_new()), "");
        drop(first);
        tokio::time::advance(LINGER).await;
        assert_eq!(names(&table.take_unwanted(LINGER)), "");
        drop(second);
        assert_eq!(names(&table.take_unwanted(LINGER)), "");
        tokio::time::advance(LINGER).await;
        let third = table.hear("a");
        assert_eq!(names(&table.take_unwanted(LINGER)), "");
        drop(third);
        tokio::time::advance(LINGER).await;
        assert_eq!(names(&table.take_unwanted(LINGER)), "a");
        let _fourth = table.hear("a");
        assert_eq!(names(&table.take_new()), "a");
    }

    #[tokio::test]
    async fn all_who_want_a_log_learn_when_it_is_heard() {
        let table = Arc::new(Table::default());
        let (first, second) = (table.hear("a"), table.hear("a"));
        table.set_heard("a");
        first.heard().await;
        second.heard().await;
        table.hear("a").heard().await;
    }

    #[tokio::test]
    async fn a_log_of_a_stream_with_members_is_heard_when_both_are_known() {
        for order in [[true, false], [false, true]] {
            let table = Arc::new(Table::with_members());
            let hearing = table.hear("a");
            for is_log in order {
                assert!(!*hearing.is_heard.borrow(), "{order:?}");
                if is_log {
                    table.set_heard("a");
                } else {
                    table.set_members_known("a");
                }
            }
            hearing.heard().await;
        }
    }

    #[test]
    fn the_latest_place_is_remembered() {
        let table = Arc::new(Table::default());
        let position = |epoch: &str, offset| Position {
            epoch: epoch.into(),
            offset,
            at_ms: None,
        };
        table.raise("a", &position("e", 5));
        let _hearing = table.hear("a");
        for (epoch, offset, expected) in [("e", 4, 5), ("e", 6, 6), ("f", 1, 1)] {
            table.raise("a", &position(epoch, offset));
            let found = table.position("a").map(|position| position.offset);
            assert_eq!(found, Some(expected), "{epoch} {offset}");
        }
        (0..3 * MAX_UNHEARD).for_each(|n| table.raise(&n.to_string(), &position("e", 1)));
        assert!(table.lock().unheard.len() <= MAX_UNHEARD);
    }
}
