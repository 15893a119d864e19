//! The followers of the logs that this server hears, whatever store has the logs.
//!
//! A subscription says what the store announces; [`Followers`] reads what is missing, and tells the listener.

use std::{collections::HashMap, fmt::Display, sync::Arc, time::Duration};

use plimsoll_broker::follower::{Excerpt, Follower, Message, Position, Step};
use plimsoll_telemetry::{Counter, Registry};
use tokio::{
    sync::{Semaphore, mpsc},
    time::Instant,
};

use super::{Limits, Listener, News, Source, hearing::Table};
use crate::connection::PATIENCE;

/// The most answers that wait for the task of the subscription.
const CAPACITY: usize = 1024;

/// The most reads in progress.
const MAX_READS: usize = 16;

/// How long a log stays subscribed after the last wish to hear it: pages reload, and clients move.
const LINGER: Duration = Duration::from_secs(2);

/// Silence of a stream after which its place is compared. A message whose announcement was lost is found by then, and
/// the epoch of a log that is heard does not expire.
const STREAM_SILENCE: Duration = Duration::from_secs(20);

/// The most silent streams that are compared in one tick.
const CHECKED_PER_TICK: usize = 1000;

/// The wait before a failed read is repeated.
const BEFORE_REPEAT: Duration = Duration::from_millis(500);

/// A message without its place in the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Body {
    /// The number under which the store keeps the message. It grows with the offset.
    pub(crate) number: u64,
    /// The payload as it was published.
    pub(crate) payload: Vec<u8>,
}

/// Where the logs are kept.
pub(crate) trait Store: Clone + Send + Sync + 'static {
    /// Why a log could not be read.
    type Error: Display + Send;

    /// The store in a sentence.
    const NAME: &'static str;

    /// The logs that are wanted.
    fn table(&self) -> &Arc<Table>;

    /// The log that is called `base` in the table.
    fn source<'a>(&self, base: &'a str) -> Option<Source<'a>>;

    /// Reads a log behind a place, and behind the message with this number; `None`: the end of it.
    fn read(
        &self,
        base: &str,
        after: Option<(&Position, u64)>,
        limits: Limits,
        patience: Duration,
    ) -> impl Future<Output = Result<Excerpt<Body>, Self::Error>> + Send;
}

/// The answer to a read.
pub(crate) struct Answer<E> {
    base: Arc<str>,
    number: u64,
    excerpt: Result<Excerpt<Body>, E>,
}

/// One followed log.
struct Followed {
    follower: Follower<Body>,
    /// The number of the last message in the store.
    last_number: u64,
    heard_at: Instant,
    /// The time of a comparison that does not wait for a silence.
    check_at: Option<Instant>,
}

impl Followed {
    /// Whether its place must be compared.
    fn is_due(&self) -> bool {
        self.heard_at.elapsed() >= STREAM_SILENCE || self.check_at.is_some_and(|at| at <= Instant::now())
    }
}

#[derive(Debug)]
struct Metrics {
    repaired: Counter,
    lost: Counter,
    deaf_ms: Counter,
}

/// The followers of all logs that this server hears.
pub(crate) struct Followers<S: Store, L> {
    store: S,
    listener: Arc<L>,
    /// Backends and clients choose the names, so this map's hashes have a random key (ARCHITECTURE, "Hash tables").
    logs: HashMap<Arc<str>, Followed>,
    answers: mpsc::Sender<Answer<S::Error>>,
    answered: mpsc::Receiver<Answer<S::Error>>,
    reads: Arc<Semaphore>,
    /// The time from which on nothing was announced. `None` while the connection works.
    deaf_since: Option<Instant>,
    metrics: Metrics,
}

impl<S: Store, L: Listener> Followers<S, L> {
    pub(crate) fn new(store: S, listener: Arc<L>, registry: &Registry) -> Self {
        let (answers, answered) = mpsc::channel(CAPACITY);
        Self {
            store,
            listener,
            logs: HashMap::new(),
            answers,
            answered,
            reads: Arc::new(Semaphore::new(MAX_READS)),
            deaf_since: None,
            metrics: Metrics {
                repaired: registry.counter(
                    "broker_repaired_total",
                    "Messages that were read from the broker because their announcement was missing",
                ),
                lost: registry.counter(
                    "broker_gaps_total",
                    "Times that messages of a stream were missing and no longer kept, so that its clients were told",
                ),
                deaf_ms: registry.counter(
                    "broker_deaf_milliseconds_total",
                    "Time for which the broker could announce no messages to this server",
                ),
            },
        }
    }

    /// The store announces messages (again).
    pub(crate) fn can_hear(&mut self) {
        if let Some(since) = self.deaf_since.take() {
            let n_ms = u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX);
            self.metrics.deaf_ms.add(n_ms);
        }
    }

    /// The store announces nothing any more. `is_fault`: that is not what this server wants.
    pub(crate) fn cannot_hear(&mut self, is_fault: bool) {
        for log in self.logs.values_mut() {
            log.follower.disconnected();
        }
        if is_fault {
            self.deaf_since.get_or_insert_with(Instant::now);
        }
    }

    /// The logs that are followed.
    pub(crate) fn known(&self) -> Vec<Arc<str>> {
        self.logs.keys().cloned().collect()
    }

    /// The log with this name, if it is followed.
    pub(crate) fn get(&self, base: &str) -> Option<Arc<str>> {
        self.logs.get_key_value(base).map(|(base, _)| Arc::clone(base))
    }

    /// Follows the logs that are wanted since the last call, and returns them.
    pub(crate) fn follow_new(&mut self) -> Vec<Arc<str>> {
        let new = self.store.table().take_new();
        for base in &new {
            let followed = Followed {
                follower: Follower::default(),
                last_number: 0,
                heard_at: Instant::now(),
                check_at: None,
            };
            self.logs.insert(Arc::clone(base), followed);
        }
        new
    }

    /// Follows the logs no longer that have been unwanted for a while, and returns them.
    pub(crate) fn unfollow(&mut self) -> Vec<Arc<str>> {
        let gone = self.store.table().take_unwanted(LINGER);
        for base in &gone {
            self.logs.remove(base);
        }
        if self.logs.len() * 4 < self.logs.capacity() {
            self.logs.shrink_to(self.logs.len() * 2);
        }
        gone
    }

    /// Compares the places of streams that seem silent.
    pub(crate) async fn check_silent(&mut self) {
        let silent: Vec<_> = self
            .logs
            .iter()
            .filter(|(_, log)| log.follower.is_live() && log.is_due())
            .map(|(base, _)| Arc::clone(base))
            .take(CHECKED_PER_TICK)
            .collect();
        for base in silent {
            self.check(&base).await;
        }
    }

    /// Compares the place of a log.
    pub(crate) async fn check(&mut self, base: &Arc<str>) {
        if let Some(log) = self.logs.get_mut(base) {
            log.check_at = None;
        }
        self.go_on(base, Follower::check).await;
    }

    /// Compares the place of a log after this time, however busy it is.
    pub(crate) fn check_later(&mut self, base: &str, wait: Duration) {
        if let Some(log) = self.logs.get_mut(base) {
            log.check_at = Some(Instant::now() + wait);
        }
    }

    /// From now on the store announces the messages of a log.
    pub(crate) async fn connected(&mut self, base: &Arc<str>) {
        self.go_on(base, Follower::connected).await;
    }

    /// The store announces a message.
    pub(crate) async fn arrived(&mut self, base: &Arc<str>, message: Message<Body>) {
        self.go_on(base, |follower, steps| follower.arrived(message, steps))
            .await;
    }

    /// The answer to a read.
    pub(crate) async fn next_answer(&mut self) -> Answer<S::Error> {
        match self.answered.recv().await {
            Some(answer) => answer,
            None => unreachable!("this has a sender"),
        }
    }

    pub(crate) async fn take_answer(&mut self, answer: Answer<S::Error>) {
        let Answer {
            base,
            number,
            excerpt,
        } = answer;
        match excerpt {
            Ok(excerpt) => {
                let n_delivered = self
                    .go_on(&base, |follower, steps| follower.read(number, excerpt, steps))
                    .await;
                self.metrics.repaired.add(n_delivered);
            }
            Err(error) => {
                tracing::debug!(%error, "A stream could not be read from {}.", S::NAME);
                self.go_on(&base, |follower, steps| follower.failed(number, steps))
                    .await;
            }
        }
    }

    /// Lets something happen to a log, and does what follows from it. Returns the number of messages that were
    /// delivered.
    async fn go_on(
        &mut self,
        base: &Arc<str>,
        happen: impl FnOnce(&mut Follower<Body>, &mut Vec<Step<Body>>),
    ) -> u64 {
        let Some(log) = self.logs.get_mut(base) else {
            return 0;
        };
        let mut steps = Vec::new();
        log.heard_at = Instant::now();
        happen(&mut log.follower, &mut steps);
        if !steps.is_empty() {
            let position = log.follower.position();
            self.store.table().set_position(base, position);
        }
        let last = steps.iter().rev().find_map(|step| match step {
            Step::Keep(message) | Step::Deliver(message) => Some(message.body.number),
            _ => None,
        });
        log.last_number = last.unwrap_or(log.last_number);
        let last_number = log.last_number;
        let mut n_delivered = 0;
        for step in steps {
            match step {
                Step::Read { number, after } => self.read(base, number, after, last_number),
                Step::Begin { epoch, offset, at_ms } => {
                    let begin = News::Begin {
                        epoch: &epoch,
                        offset,
                        at_ms,
                    };
                    self.tell(base, begin).await;
                }
                Step::Keep(message) => {
                    let epoch = Arc::clone(&message.epoch);
                    self.tell(base, News::of(&epoch, message, false)).await;
                }
                Step::Deliver(message) => {
                    n_delivered += 1;
                    let epoch = Arc::clone(&message.epoch);
                    self.tell(base, News::of(&epoch, message, true)).await;
                }
                Step::Lost => {
                    self.metrics.lost.increment();
                    tracing::warn!(
                        log = &**base,
                        "Messages of a stream may be lost: {} does not have them. Its clients are told.",
                        S::NAME
                    );
                    self.tell(base, News::Lost).await;
                }
                Step::Heard => {
                    // In this order, so that no session that waits for this counts as one that did not.
                    self.tell(base, News::Heard).await;
                    self.store.table().set_heard(base);
                }
            }
        }
        n_delivered
    }

    fn read(&self, base: &Arc<str>, number: u64, after: Option<Position>, last_number: u64) {
        let Some(source) = self.store.source(base) else {
            return;
        };
        let limits = self.listener.limits(source);
        let (store, base) = (self.store.clone(), Arc::clone(base));
        let (reads, answers) = (Arc::clone(&self.reads), self.answers.clone());
        tokio::spawn(async move {
            let turn = reads.acquire().await;
            let after = after.as_ref().map(|position| (position, last_number));
            let excerpt = store.read(&base, after, limits, PATIENCE).await;
            drop(turn);
            if excerpt.is_err() {
                tokio::time::sleep(BEFORE_REPEAT).await;
            }
            let answer = Answer {
                base,
                number,
                excerpt,
            };
            // The server may have stopped.
            let _sent = answers.send(answer).await;
        });
    }

    /// Tells the listener what happened to a log.
    pub(crate) async fn tell(&self, base: &str, news: News<'_>) {
        if let Some(source) = self.store.source(base) {
            self.listener.take(source, news).await;
        }
    }

    /// Tells the listener that another server wants a record, or has taken it.
    pub(crate) async fn release(&self, key: &str) {
        self.listener.release(key).await;
    }
}
