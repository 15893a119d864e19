//! The members of the streams that this server hears: when they are read, and whose servers are gone.
//!
//! The listener has the members themselves, and says when an announcement is missing.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
    time::Duration,
};

use plimsoll_broker::presence::Announcement;
use redis::cmd;
use tokio::{
    sync::{Semaphore, mpsc},
    time::{Instant, sleep},
};

use super::{Broker, Listener, members::Members};
use crate::{
    connection::PATIENCE,
    pipeline::{Request, RequestError},
    resp::Reply,
};

/// The most answers that wait.
const CAPACITY: usize = 1024;

/// The most reads in progress.
const MAX_READS: usize = 16;

/// The time between two comparisons of a stream that has members.
const CHECK_EVERY: Duration = Duration::from_secs(5);

/// The most streams that are compared in one tick.
const CHECKED_PER_TICK: usize = 1000;

/// The wait before a failed read is repeated.
const BEFORE_REPEAT: Duration = Duration::from_millis(500);

/// An answer to what was asked about a stream's members.
pub(super) struct Answer {
    base: Arc<str>,
    found: Found,
}

enum Found {
    Members(Result<Members, RequestError>),
    /// The number of the last change, and the servers that have members.
    Outline(Result<(u64, Vec<String>), RequestError>),
    /// The servers that are there.
    Alive(Result<HashSet<String>, RequestError>),
}

/// What is known of a stream's members. Backends and clients choose the names of the streams, so the hashes of these maps
/// have random keys (ARCHITECTURE, "Hash tables").
#[derive(Debug, Default)]
struct State {
    is_reading: bool,
    /// Whether they are to be read once more.
    reads_again: bool,
    /// The next comparison. `None`: the stream has no members.
    check_at: Option<Instant>,
}

/// The members of all streams that this server hears.
pub(super) struct Mirrors<L> {
    broker: Broker,
    listener: Arc<L>,
    /// How long a server may be gone before its members are.
    ttl: Duration,
    streams: HashMap<Arc<str>, State>,
    /// The servers that were there when that was asked last.
    alive: HashSet<String>,
    /// Servers that have members and were not there, and since when that is known.
    gone: HashMap<String, Instant>,
    ask_alive_at: Instant,
    answers: mpsc::Sender<Answer>,
    answered: mpsc::Receiver<Answer>,
    reads: Arc<Semaphore>,
}

impl<L: Listener> Mirrors<L> {
    pub(super) fn new(broker: Broker, ttl: Duration, listener: Arc<L>) -> Self {
        let (answers, answered) = mpsc::channel(CAPACITY);
        Self {
            broker,
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

    /// From now on Redis announces what changes on a stream.
    pub(super) fn connected(&mut self, base: &Arc<str>) {
        if let Some(source) = self.broker.shared.keys.source(base) {
            self.listener.await_members(source);
            self.read(base);
        }
    }

    /// A stream is not heard any more.
    pub(super) fn forget(&mut self, base: &str) {
        self.streams.remove(base);
        if let Some(source) = self.broker.shared.keys.source(base) {
            self.listener.forget_members(source);
        }
        if self.streams.len() * 4 < self.streams.capacity() {
            self.streams.shrink_to(self.streams.len() * 2);
        }
    }

    /// Redis announces a change.
    pub(super) async fn announced(&mut self, base: &Arc<str>, announcement: Announcement) {
        let Some(source) = self.broker.shared.keys.source(base) else {
            return;
        };
        if let Some(state) = self.streams.get_mut(base) {
            state.check_at.get_or_insert_with(|| Instant::now() + CHECK_EVERY);
        }
        if self.listener.hear_member(source, announcement).await {
            self.read(base);
        }
    }

    /// Compares streams whose time has come, and looks which servers are there.
    pub(super) fn tick(&mut self) {
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
            let broker = self.broker.clone();
            self.ask("".into(), async move { Found::Alive(broker.alive().await) });
        }
        for base in due {
            if let Some(state) = self.streams.get_mut(&base) {
                state.check_at = Some(now + CHECK_EVERY);
            }
            let broker = self.broker.clone();
            let asked = Arc::clone(&base);
            self.ask(base, async move { Found::Outline(broker.outline(&asked).await) });
        }
    }

    pub(super) async fn next_answer(&mut self) -> Answer {
        match self.answered.recv().await {
            Some(answer) => answer,
            None => unreachable!("this has a sender"),
        }
    }

    pub(super) async fn take_answer(&mut self, Answer { base, found }: Answer) {
        match found {
            Found::Members(found) => self.take_members(&base, found).await,
            Found::Outline(Ok((number, servers))) => self.take_outline(&base, number, servers),
            Found::Alive(Ok(alive)) => self.take_alive(alive),
            Found::Outline(Err(error)) | Found::Alive(Err(error)) => {
                tracing::debug!(%error, "The members of a stream could not be compared.");
            }
        }
    }

    async fn take_members(&mut self, base: &Arc<str>, found: Result<Members, RequestError>) {
        let Some((state, source)) = self
            .streams
            .get_mut(base)
            .zip(self.broker.shared.keys.source(base))
        else {
            return;
        };
        state.is_reading = false;
        let reads_again = std::mem::take(&mut state.reads_again);
        let is_behind = match found {
            Ok(members) => {
                let is_empty = members.listing.members.is_empty();
                state.check_at = (!is_empty).then(|| Instant::now() + CHECK_EVERY);
                let is_behind = self.listener.take_members(source, members).await;
                self.broker.shared.table.set_members_known(base);
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
        let Some(source) = self.broker.shared.keys.source(base) else {
            return;
        };
        if !self.listener.is_at(source, number) {
            self.listener.await_members(source);
            self.read(base);
        }
        for server in servers {
            // Without an answer no server is known to be there.
            if self.alive.is_empty() || self.alive.contains(&server) {
                continue;
            }
            let since = *self.gone.entry(server.clone()).or_insert_with(Instant::now);
            if since.elapsed() >= self.ttl {
                let (broker, listener) = (self.broker.clone(), Arc::clone(&self.listener));
                let base = Arc::clone(base);
                tokio::spawn(async move { broker.bury(&base, &server, &*listener).await });
            }
        }
    }

    fn take_alive(&mut self, alive: HashSet<String>) {
        let forget_after = 10 * self.ttl;
        self.gone
            .retain(|server, since| !alive.contains(server) && since.elapsed() < forget_after);
        self.alive = alive;
    }

    /// Reads the members of a stream, one read at a time.
    fn read(&mut self, base: &Arc<str>) {
        let state = self.streams.entry(Arc::clone(base)).or_default();
        if state.is_reading {
            state.reads_again = true;
            return;
        }
        state.is_reading = true;
        let (broker, reads, asked) = (self.broker.clone(), Arc::clone(&self.reads), Arc::clone(base));
        self.ask(Arc::clone(base), async move {
            let turn = reads.acquire().await;
            let found = broker.members_of(&asked).await;
            drop(turn);
            if found.is_err() {
                sleep(BEFORE_REPEAT).await;
            }
            Found::Members(found)
        });
    }

    fn ask(&self, base: Arc<str>, finding: impl Future<Output = Found> + Send + 'static) {
        let answers = self.answers.clone();
        tokio::spawn(async move {
            let found = finding.await;
            // The server may have stopped.
            let _sent = answers.send(Answer { base, found }).await;
        });
    }
}

impl Broker {
    /// The servers that are there.
    async fn alive(&self) -> Result<HashSet<String>, RequestError> {
        let servers = cmd("ZRANGE")
            .arg(self.shared.keys.servers())
            .arg(0)
            .arg(-1)
            .to_owned();
        let reply = self
            .shared
            .pipeline
            .request(Request::Command(servers), PATIENCE)
            .await?;
        let names = reply.into_elements().into_iter().filter_map(|name| match name {
            Reply::Text(name) => String::from_utf8(name).ok(),
            _ => None,
        });
        Ok(names.collect())
    }
}
