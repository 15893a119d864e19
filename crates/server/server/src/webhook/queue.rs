//! The bounded queue of joins and leaves.
//!
//! Overflow rule: news that find the queue full are dropped. The gap stays at its place in the queue, and the batch
//! behind it says how many are missing, so the receiver knows when to ask for the whole list.

use std::{
    collections::VecDeque,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use plimsoll_telemetry::Counter;
use tokio::{sync::Notify, time::timeout};

use super::news::News;

/// The most entries.
const MAX_ENTRIES: usize = 10_000;

/// The most memory of all entries, in bytes.
const MAX_BYTES: usize = 8 << 20;

/// The most entries of a batch.
const BATCH_ENTRIES: usize = 500;

/// The memory of the entries of a batch, in bytes. The last entry may exceed it.
const BATCH_BYTES: usize = 256 << 10;

/// How long the first entry of a batch waits for others.
const GATHER: Duration = Duration::from_millis(200);

/// The waiting joins and leaves.
#[derive(Debug)]
pub(super) struct Queue {
    state: Mutex<State>,
    changed: Notify,
    dropped: Counter,
}

#[derive(Debug, Default)]
struct State {
    waiting: VecDeque<Entry>,
    n_bytes: usize,
    /// News that were dropped behind the last entry.
    n_dropped: u64,
    n_dropped_ever: u64,
    is_closed: bool,
}

#[derive(Debug)]
struct Entry {
    /// News that were dropped right before this one.
    n_dropped: u64,
    news: News,
}

/// News that are sent together.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Portion {
    /// News that are missing right before these.
    pub(super) n_dropped: u64,
    pub(super) news: Vec<News>,
}

impl Queue {
    pub(super) fn new(dropped: Counter) -> Self {
        Self {
            state: Mutex::default(),
            changed: Notify::new(),
            dropped,
        }
    }

    pub(super) fn n_waiting(&self) -> usize {
        self.lock().waiting.len()
    }

    /// Adds news, or drops them.
    pub(super) fn add(&self, news: News) {
        let mut state = self.lock();
        let n_bytes = news.n_bytes();
        let has_room = state.waiting.len() < MAX_ENTRIES && state.n_bytes + n_bytes <= MAX_BYTES;
        if !has_room || state.is_closed {
            state.n_dropped += 1;
            self.count_dropped(&mut state, 1);
            return;
        }
        state.n_bytes += n_bytes;
        let n_dropped = std::mem::take(&mut state.n_dropped);
        state.waiting.push_back(Entry { n_dropped, news });
        drop(state);
        self.changed.notify_one();
    }

    /// News that could not be delivered are missing before the next ones.
    pub(super) fn give_up(&self, portion: &Portion) {
        let n_lost = portion.news.len() as u64;
        let mut state = self.lock();
        match state.waiting.front_mut() {
            Some(entry) => entry.n_dropped += portion.n_dropped + n_lost,
            None => state.n_dropped += portion.n_dropped + n_lost,
        }
        self.count_dropped(&mut state, n_lost);
    }

    /// Takes no more news.
    pub(super) fn close(&self) {
        self.lock().is_closed = true;
        self.changed.notify_one();
    }

    /// Whether no more news are taken.
    pub(super) fn is_closed(&self) -> bool {
        self.lock().is_closed
    }

    /// Completes when no more news are taken.
    pub(super) async fn closed(&self) {
        self.wait_for(|state| state.is_closed).await;
    }

    /// The next portion, as soon as there is one. `None`: the queue is closed and empty.
    pub(super) async fn next(&self) -> Option<Portion> {
        self.wait_for(|state| state.is_closed || !state.waiting.is_empty() || state.n_dropped > 0)
            .await;
        let is_full = |state: &State| state.is_closed || state.waiting.len() >= BATCH_ENTRIES;
        let _full_or_long_enough = timeout(GATHER, self.wait_for(is_full)).await;
        self.lock().take()
    }

    async fn wait_for(&self, is_reached: impl Fn(&State) -> bool) {
        loop {
            let changed = self.changed.notified();
            if is_reached(&self.lock()) {
                return;
            }
            changed.await;
        }
    }

    fn count_dropped(&self, state: &mut State, n: u64) {
        self.dropped.add(n);
        let before = state.n_dropped_ever;
        state.n_dropped_ever += n;
        // A flood of drops must not become a flood of log lines.
        if n > 0 && before.checked_ilog2() != state.n_dropped_ever.checked_ilog2() {
            tracing::warn!(
                n_dropped = state.n_dropped_ever,
                "The webhook of presence is not told about some joins and leaves: it takes them too slowly, or not at all."
            );
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // A panic under the lock is a bug in the queue; presence goes on.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn take(&mut self) -> Option<Portion> {
        let Some(first) = self.waiting.front_mut() else {
            let n_dropped = std::mem::take(&mut self.n_dropped);
            let news = Vec::new();
            return (n_dropped > 0).then_some(Portion { n_dropped, news });
        };
        let n_dropped = std::mem::take(&mut first.n_dropped);
        let (mut news, mut n_bytes) = (Vec::new(), 0);
        while news.len() < BATCH_ENTRIES && n_bytes < BATCH_BYTES {
            // A gap is at the beginning of a batch.
            let Some(entry) = self.waiting.pop_front_if(|entry| entry.n_dropped == 0) else {
                break;
            };
            n_bytes += entry.news.n_bytes();
            news.push(entry.news);
        }
        self.n_bytes -= n_bytes;
        Some(Portion { n_dropped, news })
    }
}

#[cfg(test)]
mod tests {
    use plimsoll_telemetry::Registry;

    use super::*;

    fn queue() -> Queue {
        Queue::new(Registry::default().counter("dropped", "dropped"))
    }

    fn news(id: &str) -> News {
        News {
            kind: "join",
            stream: "s".into(),
            id: id.into(),
            info: None,
            at_ms: 0,
        }
    }

    fn taken(queue: &Queue) -> Option<(u64, usize)> {
        let portion = queue.lock().take();
        portion.map(|portion| (portion.n_dropped, portion.news.len()))
    }

    #[test]
    fn news_that_find_the_queue_full_leave_a_gap_at_their_place() {
        let queue = queue();
        (0..MAX_ENTRIES + 3).for_each(|n| queue.add(news(&n.to_string())));
        assert_eq!(queue.n_waiting(), MAX_ENTRIES);
        assert_eq!(queue.dropped.get(), 3);
        assert_eq!(taken(&queue), Some((0, BATCH_ENTRIES)));
        // These are behind the gap.
        queue.add(news("behind"));
        for _ in 1..MAX_ENTRIES / BATCH_ENTRIES {
            assert_eq!(taken(&queue), Some((0, BATCH_ENTRIES)));
        }
        assert_eq!(taken(&queue), Some((3, 1)));
        assert_eq!(taken(&queue), None);
        assert_eq!(queue.lock().n_bytes, 0);
    }

    #[test]
    fn a_gap_at_the_end_is_told_alone() {
        let queue = queue();
        queue.add(news("a"));
        queue.close();
        queue.add(news("too late"));
        assert_eq!(taken(&queue), Some((0, 1)));
        assert_eq!(taken(&queue), Some((1, 0)));
        assert_eq!(taken(&queue), None);
    }

    #[test]
    fn long_news_fill_the_queue_and_a_batch_by_their_bytes() {
        let queue = queue();
        let long = || News {
            info: Some("1".repeat(8000).into()),
            ..news("a")
        };
        (0..2000).for_each(|_| queue.add(long()));
        let n_fitting = MAX_BYTES / long().n_bytes();
        assert_eq!(queue.n_waiting(), n_fitting);
        let in_batch = BATCH_BYTES.div_ceil(long().n_bytes());
        assert_eq!(taken(&queue), Some((0, in_batch)));
        assert_eq!(queue.lock().n_bytes, (n_fitting - in_batch) * long().n_bytes());
    }

    #[test]
    fn news_that_are_given_up_are_missing_before_the_next() {
        let queue = queue();
        queue.add(news("a"));
        let portion = queue.lock().take().expect("one");
        queue.add(news("b"));
        queue.give_up(&portion);
        let portion = queue.lock().take().expect("one");
        assert_eq!((portion.n_dropped, portion.news.len()), (1, 1));
        // Nothing follows, and the gap grows.
        queue.give_up(&portion);
        assert_eq!(taken(&queue), Some((2, 0)));
        assert_eq!(queue.dropped.get(), 2);
    }

    #[tokio::test(start_paused = true)]
    async fn the_first_waits_for_others_but_not_for_long() {
        let queue = queue();
        let started = tokio::time::Instant::now();
        queue.add(news("a"));
        let adding = async {
            tokio::time::sleep(GATHER / 2).await;
            queue.add(news("b"));
        };
        let (portion, ()) = tokio::join!(queue.next(), adding);
        assert_eq!(portion.expect("news").news.len(), 2);
        assert!(started.elapsed() >= GATHER && started.elapsed() < GATHER * 2);
        (0..BATCH_ENTRIES).for_each(|n| queue.add(news(&n.to_string())));
        let started = tokio::time::Instant::now();
        assert_eq!(queue.next().await.expect("news").news.len(), BATCH_ENTRIES);
        assert_eq!(started.elapsed(), Duration::ZERO);
        queue.close();
        assert_eq!(queue.next().await, None);
    }
}
