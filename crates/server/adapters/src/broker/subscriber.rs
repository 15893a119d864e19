//! The connection on which Redis announces messages, and the followers that make logs of them.

use std::{collections::HashMap, pin::pin, sync::Arc, time::Duration};

use plimsoll_broker::follower::{Excerpt, Follower, Position, Step};
use plimsoll_telemetry::{Counter, Dependency, Registry};
use redis::cmd;
use tokio::{
    sync::{Semaphore, mpsc, watch},
    time::{Instant, MissedTickBehavior, interval},
};

use super::{Announcement, Broker, Listener, News, keys, records, replies};
use crate::{
    connection::{Connection, ConnectionError, PATIENCE, Reader, Writer},
    pipeline::{Request, RequestError},
    resp::Reply,
    server::Server,
    supervisor::{self, Link, Session, Stop, stopped},
};

/// The most channels in one command.
const BATCH: usize = 512;

/// The most messages between the connection and the followers. Overflow rule: the connection is not read, and Redis
/// closes it when its own buffer is full (`client-output-buffer-limit pubsub`). Then the followers read what they miss.
const CAPACITY: usize = 1024;

/// The most reads in progress.
const MAX_READS: usize = 16;

/// The time between two looks at what is due.
const TICK: Duration = Duration::from_secs(1);

/// How long a log stays subscribed after the last wish to hear it: pages reload, and clients move.
const LINGER: Duration = Duration::from_secs(2);

/// Silence after which the connection is tested, and the time in which the test must succeed. A connection to a server
/// that was replaced can stay open without ever carrying a message.
const SILENCE: Duration = Duration::from_secs(5);

/// Silence of a stream after which its place is compared. A message whose announcement was lost is found by then, and
/// the epoch of a log that is heard does not expire.
const STREAM_SILENCE: Duration = Duration::from_secs(20);

/// The most silent streams that are compared in one tick.
const CHECKED_PER_TICK: usize = 1000;

/// The wait before a failed read is repeated.
const BEFORE_REPEAT: Duration = Duration::from_millis(500);

/// The answer to a read.
struct Answer {
    base: Arc<str>,
    number: u64,
    excerpt: Result<Excerpt<Vec<u8>>, RequestError>,
}

/// One followed log.
struct Followed {
    follower: Follower<Vec<u8>>,
    heard_at: Instant,
}

#[derive(Debug)]
struct Metrics {
    repaired: Counter,
    lost: Counter,
    deaf_ms: Counter,
}

pub(super) struct Subscriber<L> {
    broker: Broker,
    server: Arc<Server>,
    listener: Arc<L>,
    /// Backends and clients choose the names, so this map's hashes have a random key (ARCHITECTURE, "Hash tables").
    logs: HashMap<Arc<str>, Followed>,
    answers: (mpsc::Sender<Answer>, mpsc::Receiver<Answer>),
    reads: Arc<Semaphore>,
    probe: String,
    /// The time from which on nothing was announced. `None` while the connection works.
    deaf_since: Option<Instant>,
    metrics: Metrics,
}

/// What is known of the connection's health.
struct Health {
    heard_at: Instant,
    probed_at: Option<Instant>,
}

impl<L: Listener> Subscriber<L> {
    pub(super) fn new(broker: Broker, server: Arc<Server>, listener: Arc<L>, registry: &Registry) -> Self {
        Self {
            probe: broker.shared.keys.probe(&broker.shared.name),
            broker,
            server,
            listener,
            logs: HashMap::new(),
            answers: mpsc::channel(CAPACITY),
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

    pub(super) async fn run(self, status: Dependency, stop: watch::Receiver<bool>) {
        let link = Link::with_words(
            "Hearing the streams of the Redis broker",
            "The Redis broker announces no messages",
            status,
        );
        supervisor::keep(link, self, stop).await;
    }
}

impl<L: Listener> Session for Subscriber<L> {
    type Error = ConnectionError;

    async fn run(&mut self, link: &mut Link, stop: &mut Stop) -> Result<(), ConnectionError> {
        let ended = self.hear(link, stop).await;
        for log in self.logs.values_mut() {
            log.follower.disconnected();
        }
        if ended.is_err() {
            self.deaf_since.get_or_insert_with(Instant::now);
        }
        ended
    }
}

impl<L: Listener> Subscriber<L> {
    async fn hear(&mut self, link: &mut Link, stop: &mut Stop) -> Result<(), ConnectionError> {
        let probe = cmd("SUBSCRIBE").arg(&self.probe).to_owned();
        let opened = async {
            let mut connection = Connection::open(&self.server).await?;
            connection.request(&probe, PATIENCE).await?;
            Ok::<_, ConnectionError>(connection)
        };
        let connection = tokio::select! {
            opened = opened => opened?,
            () = stopped(stop) => return Ok(()),
        };
        let Connection { reader, mut writer } = connection;
        let (announce, mut announced) = mpsc::channel(CAPACITY);
        let mut reading = pin!(read_all(reader, announce));
        let known: Vec<_> = self.logs.keys().cloned().collect();
        let serving = async {
            subscribe(&mut writer, &known).await?;
            link.is_up();
            if let Some(since) = self.deaf_since.take() {
                let n_ms = u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX);
                self.metrics.deaf_ms.add(n_ms);
            }
            self.serve(&mut writer, &mut announced, stop).await
        };
        let mut serving = pin!(serving);
        tokio::select! {
            ended = &mut serving => ended,
            failed = &mut reading => failed,
        }
    }

    async fn serve(
        &mut self,
        writer: &mut Writer,
        announced: &mut mpsc::Receiver<Reply>,
        stop: &mut Stop,
    ) -> Result<(), ConnectionError> {
        let mut ticks = interval(TICK);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut health = Health {
            heard_at: Instant::now(),
            probed_at: None,
        };
        self.follow_new(writer).await?;
        let table = Arc::clone(&self.broker.shared.table);
        loop {
            tokio::select! {
                reply = announced.recv() => match reply {
                    Some(reply) => {
                        health = Health { heard_at: Instant::now(), probed_at: None };
                        self.take(reply).await;
                    }
                    // The reader says why.
                    None => std::future::pending().await,
                },
                Some(answer) = self.answers.1.recv() => self.take_answer(answer).await,
                () = table.changed() => self.follow_new(writer).await?,
                _ = ticks.tick() => {
                    self.unfollow(writer).await?;
                    self.check_silent().await;
                    self.probe(&mut health)?;
                }
                () = stopped(stop) => return Ok(()),
            }
        }
    }

    /// Follows logs that are wanted now.
    async fn follow_new(&mut self, writer: &mut Writer) -> Result<(), ConnectionError> {
        let new = self.broker.shared.table.take_new();
        for base in &new {
            let followed = Followed {
                follower: Follower::default(),
                heard_at: Instant::now(),
            };
            self.logs.insert(Arc::clone(base), followed);
        }
        subscribe(writer, &new).await
    }

    async fn unfollow(&mut self, writer: &mut Writer) -> Result<(), ConnectionError> {
        let gone = self.broker.shared.table.take_unwanted(LINGER);
        if gone.is_empty() {
            return Ok(());
        }
        for bases in gone.chunks(BATCH) {
            let mut unsubscribe = cmd("UNSUBSCRIBE");
            for base in bases {
                self.logs.remove(base);
                unsubscribe.arg(keys::channel(base));
            }
            writer.send(&unsubscribe.get_packed_command()).await?;
        }
        if self.logs.len() * 4 < self.logs.capacity() {
            self.logs.shrink_to(self.logs.len() * 2);
        }
        Ok(())
    }

    /// Compares the places of streams that seem silent.
    async fn check_silent(&mut self) {
        let silent: Vec<_> = self
            .logs
            .iter()
            .filter(|(_, log)| log.follower.is_live() && log.heard_at.elapsed() >= STREAM_SILENCE)
            .map(|(base, _)| Arc::clone(base))
            .take(CHECKED_PER_TICK)
            .collect();
        for base in silent {
            self.go_on(&base, Follower::check).await;
        }
    }

    /// Tests the connection after a silence.
    fn probe(&self, health: &mut Health) -> Result<(), ConnectionError> {
        match health.probed_at {
            Some(at) if at.elapsed() >= SILENCE => return Err(ConnectionError::Deaf(SILENCE)),
            None if health.heard_at.elapsed() >= SILENCE => {
                health.probed_at = Some(Instant::now());
                let (pipeline, channel) = (self.broker.shared.pipeline.clone(), self.probe.clone());
                tokio::spawn(async move {
                    let publish = cmd("PUBLISH").arg(channel).arg("").to_owned();
                    let request = pipeline.request(Request::Command(publish), SILENCE);
                    // Without the probe's return the connection counts as deaf.
                    let _answer = request.await;
                });
            }
            _ => {}
        }
        Ok(())
    }

    /// Takes `["message", channel, payload]` or `["subscribe", channel, number]`.
    async fn take(&mut self, reply: Reply) {
        let Ok([Reply::Text(kind), Reply::Text(channel), content]) =
            <[Reply; 3]>::try_from(reply.into_elements())
        else {
            return;
        };
        if channel == self.probe.as_bytes() {
            if let Reply::Text(message) = content
                && let Some(key) = records::key_to_leave(&message)
            {
                self.listener.release(key).await;
            }
            return;
        }
        let known = keys::base_of_channel(&channel).and_then(|base| self.logs.get_key_value(base));
        let Some(base) = known.map(|(base, _)| Arc::clone(base)) else {
            return;
        };
        match (&*kind, content) {
            (b"subscribe", _) => {
                self.go_on(&base, Follower::connected).await;
            }
            (b"message", Reply::Text(text)) => match replies::announcement(&text) {
                Some(Announcement::Message(message)) => {
                    self.go_on(&base, |follower, steps| follower.arrived(message, steps))
                        .await;
                }
                Some(Announcement::Passing(payload)) => self.tell(&base, News::Passing(payload)).await,
                None => {}
            },
            // A message that is too long is missing, and found to be so with the next one.
            _ => {}
        }
    }

    async fn take_answer(&mut self, answer: Answer) {
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
                tracing::debug!(%error, "A stream could not be read from the Redis broker.");
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
        happen: impl FnOnce(&mut Follower<Vec<u8>>, &mut Vec<Step<Vec<u8>>>),
    ) -> u64 {
        let Some(log) = self.logs.get_mut(base) else {
            return 0;
        };
        let mut steps = Vec::new();
        log.heard_at = Instant::now();
        happen(&mut log.follower, &mut steps);
        if !steps.is_empty() {
            let position = log.follower.position();
            self.broker.shared.table.set_position(base, position);
        }
        let mut n_delivered = 0;
        for step in steps {
            match step {
                Step::Read { number, after } => self.read(base, number, after),
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
                        "Messages of a stream may be lost: the Redis broker does not have them. Its clients are told."
                    );
                    self.tell(base, News::Lost).await;
                }
                Step::Heard => {
                    // In this order, so that no session that waits for this counts as one that did not.
                    self.tell(base, News::Heard).await;
                    self.broker.shared.table.set_heard(base);
                }
            }
        }
        n_delivered
    }

    fn read(&self, base: &Arc<str>, number: u64, after: Option<Position>) {
        let Some(source) = self.broker.shared.keys.source(base) else {
            return;
        };
        let limits = self.listener.limits(source);
        let (broker, base) = (self.broker.clone(), Arc::clone(base));
        let (reads, answers) = (Arc::clone(&self.reads), self.answers.0.clone());
        tokio::spawn(async move {
            let turn = reads.acquire().await;
            let excerpt = broker.read(&base, after.as_ref(), limits, PATIENCE).await;
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

    async fn tell(&self, base: &str, news: News<'_>) {
        if let Some(source) = self.broker.shared.keys.source(base) {
            self.listener.take(source, news).await;
        }
    }
}

async fn subscribe(writer: &mut Writer, bases: &[Arc<str>]) -> Result<(), ConnectionError> {
    for bases in bases.chunks(BATCH) {
        let mut subscribe = cmd("SUBSCRIBE");
        for base in bases {
            subscribe.arg(keys::channel(base));
        }
        writer.send(&subscribe.get_packed_command()).await?;
    }
    Ok(())
}

/// Reads what Redis sends until the connection ends.
async fn read_all(mut reader: Reader, announce: mpsc::Sender<Reply>) -> Result<(), ConnectionError> {
    loop {
        let reply = reader.receive().await?;
        if announce.send(reply).await.is_err() {
            return Ok(());
        }
    }
}
