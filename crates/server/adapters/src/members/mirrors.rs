//! The members of the streams that this server hears: when they are read, and whose servers are gone.
//!
//! The listener has the members themselves, and says when an announcement is missing.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
    time::Duration,
};

use plimsoll_broker::presence::Announcement;
use tokio::{
    sync::{Semaphore, mpsc},
    time::{Instant, sleep},
};

use super::{BEFORE_REPEAT, LIFETIME, MemberStore, Members};
use crate::broker::Listener;

/// The most answers that wait.
const CAPACITY: usize = 1024;

/// The most reads in progress.
const MAX_READS: usize = 16;

/// The time between two comparisons of a stream that has members.
const CHECK_EVERY: Duration = Duration::from_secs(5);

/// The most streams that are compared in one tick.
const CHECKED_PER_TICK: usize = 1000;

/// The time after which the members of a stream are read once more, so that a store which cannot make single members live
/// longer gets those of this server again.
const READ_EVERY: Duration = Duration::from_secs(LIFETIME.as_secs() / 4);

/// A store whose members this server follows.
pub(crate) trait Mirrored: MemberStore {
    /// The members of a stream are read from now on.
    fn begin(&self, base: &str);

    /// Reads the members of a stream whose changes are heard.
    fn read_followed(&self, base: &str) -> impl Future<Output = Result<Members, Self::Error>> + Send;

    /// The members of a stream are known.
    fn set_known(&self, base: &str);

    /// The number of the last change of a stream's members, and the servers that have some.
    fn outline(&self, base: &str) -> impl Future<Output = Result<(u64, Vec<String>), Self::Error>> + Send;

    /// Whether the change with this number is the last one that is known, or the members are awaited.
    fn is_current(&self, base: &str, number: u64, listener: &impl Listener) -> bool;

    /// The servers that are there. None: that is not known.
    fn alive(&self) -> impl Future<Output = Result<HashSet<String>, Self::Error>> + Send;

    /// Takes away the members of a server that is gone.
    fn bury(
        &self,
        base: &str,
        server: &str,
        listener: &impl Listener,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send;

    /// A stream is not heard any more.
    fn forget(&self, base: &str);
}

/// An answer to what was asked about a stream's members.
pub(crate) struct Answer<E> {
    base: Arc<str>,
    found: Found<E>,
}

enum Found<E> {
    Members(Result<Members, E>),
    /// The number of the last change, and the servers that have members.
    Outline(Result<(u64, Vec<String>), E>),
    /// The servers that are there.
    Alive(Result<HashSet<String>, E>),
}

/// What is known of a stream's members.
#[derive(Debug)]
struct State {
    is_reading: bool,
    /// Whether they are to be read once more.
    reads_again: bool,
    /// The next comparison. `None`: the stream has no members.
    check_at: Option<Instant>,
    /// Whether a change was announced since the last comparison began.
    is_changed: bool,
    /// Whether one is needed even if the stream has no members.
    is_unsure: bool,
    /// When they were read last, or began to be.
    read_at: Instant,
}

/// The members of all streams that this server hears.
pub(crate) struct Mirrors<S: Mirrored, L> {
    store: S,
    listener: Arc<L>,
    /// How long a server may be gone before its members are.
    ttl: Duration,
    /// Backends and clients choose the names of the streams, so this map's hashes have a random key (ARCHITECTURE, "Hash
    /// tables").
    streams: HashMap<Arc<str>, State>,
    /// The servers that were there when that was asked last.
    alive: HashSet<String>,
    /// Servers that have members and were not there, and since when that is known.
    gone: HashMap<String, Instant>,
    ask_alive_at: Instant,
    answers: mpsc::Sender<Answer<S::Error>>,
    answered: mpsc::Receiver<Answer<S::Error>>,
    reads: Arc<Semaphore>,
}

impl<S: Mirrored, L: Listener> Mirrors<S, L> {
    pub(crate) fn new(store: S, ttl: Duration, listener: Arc<L>) -> Self {
        let (answers, answered) = mpsc::channel(CAPACITY);
        Self {
            store,
            listener,
            // A server that has just begun may be missing in one answer.
            ttl: ttl.max(2 * CHECK_EVERY),
            streams: HashMap::new(),
            alive: HashSet::new(),
            gone: HashMap::new(),
            ask_alive_at: Instant::now(),
            answers,
            answered,
            reads: Arc::new(Semaphore::new(MAX_READS)),
        }
    }

    /// From now on the store announces what changes on a stream.
    pub(crate) fn connected(&mut self, base: &Arc<str>) {
        self.read_anew(base);
    }

    /// Changes may be missing although the subscription is confirmed.
    pub(crate) fn check_later(&mut self, base: &str) {
        if let Some(state) = self.streams.get_mut(base) {
            state.is_unsure = true;
        }
    }

    /// A stream is not heard any more.
    pub(crate) fn forget(&mut self, base: &str) {
        self.streams.remove(base);
        self.store.forget(base);
        if let Some(source) = self.store.source_of(base) {
            self.listener.forget_members(source);
        }
        if self.streams.len() * 4 < self.streams.capacity() {
            self.streams.shrink_to(self.streams.len() * 2);
        }
    }

    /// The store announces a change.
    pub(crate) async fn announced(&mut self, base: &Arc<str>, announcement: Announcement) {
        let Some(source) = self.store.source_of(base) else {
            return;
        };
        if let Some(state) = self.streams.get_mut(base) {
            state.check_at.get_or_insert_with(|| Instant::now() + CHECK_EVERY);
            state.is_changed = true;
        }
        if self.listener.hear_member(source, announcement).await {
            self.read(base);
        }
    }

    /// Compares streams whose time has come, and looks which servers are there.
    pub(crate) fn tick(&mut self) {
        let now = Instant::now();
        let due: Vec<_> = self
            .streams
            .iter()
            .filter(|(_, state)| state.check_at.is_some_and(|at| at <= now))
            .map(|(base, _)| Arc::clone(base))
            .take(CHECKED_PER_TICK)
            .collect();
        if !due.is_empty() && self.ask_alive_at <= now {
            self.ask_alive_at = now + CHECK_EVERY;
            let store = self.store.clone();
            self.ask("".into(), async move { Found::Alive(store.alive().await) });
        }
        for base in due {
            let Some(state) = self.streams.get_mut(&base) else {
                continue;
            };
            state.check_at = Some(now + CHECK_EVERY);
            state.is_changed = false;
            if state.read_at.elapsed() >= READ_EVERY {
                self.read_anew(&base);
                continue;
            }
            let store = self.store.clone();
            let asked = Arc::clone(&base);
            self.ask(base, async move { Found::Outline(store.outline(&asked).await) });
        }
    }

    pub(crate) async fn next_answer(&mut self) -> Answer<S::Error> {
        match self.answered.recv().await {
            Some(answer) => answer,
            None => unreachable!("this has a sender"),
        }
    }

    pub(crate) async fn take_answer(&mut self, Answer { base, found }: Answer<S::Error>) {
        match found {
            Found::Members(found) => self.take_members(&base, found).await,
            Found::Outline(Ok((number, servers))) => self.take_outline(&base, number, servers),
            Found::Alive(Ok(alive)) => self.take_alive(alive),
            Found::Outline(Err(error)) | Found::Alive(Err(error)) => {
                tracing::debug!(%error, "The members of a stream could not be compared.");
            }
        }
    }

    async fn take_members(&mut self, base: &Arc<str>, found: Result<Members, S::Error>) {
        let Some((state, source)) = self.streams.get_mut(base).zip(self.store.source_of(base)) else {
            return;
        };
        state.is_reading = false;
        let reads_again = std::mem::take(&mut state.reads_again);
        let is_behind = match found {
            Ok(members) => {
                let is_empty = members.listing.members.is_empty();
                let is_checked = !is_empty || std::mem::take(&mut state.is_unsure);
                state.check_at = is_checked.then(|| Instant::now() + CHECK_EVERY);
                let is_behind = self.listener.take_members(source, members).await;
                self.store.set_known(base);
                is_behind
            }
            Err(error) => {
                tracing::debug!(%error, "The members of a stream could not be read.");
                true
            }
        };
        if is_behind || reads_again {
            self.read(base);
        }
    }

    fn take_outline(&mut self, base: &Arc<str>, number: u64, servers: Vec<String>) {
        if !self.store.is_current(base, number, &*self.listener) {
            self.read_anew(base);
        }
        if servers.is_empty()
            && let Some(state) = self.streams.get_mut(base).filter(|state| !state.is_changed)
        {
            state.check_at = None;
        }
        for server in servers {
            // Without an answer no server is known to be there.
            if self.alive.is_empty() || self.alive.contains(&server) {
                continue;
            }
            let since = *self.gone.entry(server.clone()).or_insert_with(Instant::now);
            if since.elapsed() >= self.ttl {
                let (store, listener) = (self.store.clone(), Arc::clone(&self.listener));
                let base = Arc::clone(base);
                tokio::spawn(async move {
                    if let Err(error) = store.bury(&base, &server, &*listener).await {
                        // The next comparison finds them again.
                        tracing::debug!(%error, "Members of a server that is gone are still there.");
                    }
                });
            }
        }
    }

    fn take_alive(&mut self, alive: HashSet<String>) {
        let forget_after = 10 * self.ttl;
        self.gone
            .retain(|server, since| !alive.contains(server) && since.elapsed() < forget_after);
        self.alive = alive;
    }

    /// Reads the members of a stream, of which the listener may lack changes.
    fn read_anew(&mut self, base: &Arc<str>) {
        if let Some(source) = self.store.source_of(base) {
            self.listener.await_members(source);
            self.read(base);
        }
    }

    /// Reads the members of a stream, one read at a time.
    fn read(&mut self, base: &Arc<str>) {
        let state = self.streams.entry(Arc::clone(base)).or_insert_with(|| State {
            is_reading: false,
            reads_again: false,
            check_at: None,
            is_changed: false,
            is_unsure: false,
            read_at: Instant::now(),
        });
        if state.is_reading {
            state.reads_again = true;
            return;
        }
        state.is_reading = true;
        state.read_at = Instant::now();
        self.store.begin(base);
        let (store, reads, asked) = (self.store.clone(), Arc::clone(&self.reads), Arc::clone(base));
        self.ask(Arc::clone(base), async move {
            let turn = reads.acquire().await;
            let found = store.read_followed(&asked).await;
            drop(turn);
            if found.is_err() {
                sleep(BEFORE_REPEAT).await;
            }
            Found::Members(found)
        });
    }

    fn ask(&self, base: Arc<str>, finding: impl Future<Output = Found<S::Error>> + Send + 'static) {
        let answers = self.answers.clone();
        tokio::spawn(async move {
            let found = finding.await;
            // The server may have stopped.
            let _sent = answers.send(Answer { base, found }).await;
        });
    }
}

/// The next answer about members, if there are any.
pub(crate) async fn next_answer<S: Mirrored, L: Listener>(
    mirrors: &mut Option<Mirrors<S, L>>,
) -> Answer<S::Error> {
    match mirrors {
        Some(mirrors) => mirrors.next_answer().await,
        None => std::future::pending().await,
    }
}
