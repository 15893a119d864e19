//! The broker that several servers share as the engine of the server, and the server as the listener of the broker
//! (docs/reference/redis-broker.md, docs/reference/nats-broker.md).

use std::{
    collections::HashMap,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use plimsoll_adapters::{
    Broker, BrokerSettings, Hearing, JetStream, JetStreamSettings, Limits, Listener, MemberAnnouncement,
    Members, News, Server, Source,
};
use plimsoll_broker::{Place, Retention, Retentions, presence::Change};
use plimsoll_cable::broadcast::{Publication, RemoteDisconnect, encode, encode_disconnect};
use plimsoll_server::{Engine, EngineError, PresenceStore, Publisher, Sending, SessionStore};
use plimsoll_telemetry::Registry;
use tokio::{sync::watch, task::JoinHandle};

use self::{
    members::SharedMembers,
    sessions::SharedSessions,
    store::{Store, Tasks},
};

mod members;
mod sessions;
mod store;

/// How long the broker's connections may take to end.
const STOP_TIMEOUT: Duration = Duration::from_secs(1);

/// How long an idempotency key is remembered: as long as in the memory of one server.
pub(super) const KEY_TTL: Duration = Duration::from_mins(5);

/// How much is kept of the commands to all servers: a server that is away for as long misses them.
const CONTROL: Limits = Limits {
    limit: 1000,
    ttl: Duration::from_mins(5),
};

/// How long what belongs to a client stays when the client, or its server, is gone. `None`: it is not kept.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ttls {
    pub(super) sessions: Option<Duration>,
    pub(super) presence: Option<Duration>,
}

/// A broker that is not connected yet.
pub(super) struct SharedBroker {
    store: Store,
    tasks: Tasks,
    retentions: Arc<Retentions>,
}

/// A broker at work.
pub(super) struct RunningBroker {
    store: Store,
    stop: watch::Sender<bool>,
    work: JoinHandle<()>,
}

impl SharedBroker {
    /// A broker in Redis.
    pub(super) fn in_redis(
        server: Server,
        prefix: &str,
        (publish_timeout, n_replicas): (Duration, u32),
        (retentions, ttls): (Retentions, Ttls),
        registry: &Registry,
    ) -> Self {
        let settings = BrokerSettings {
            server,
            prefix: prefix.to_owned(),
            publish_timeout,
            key_ttl: KEY_TTL,
            n_replicas,
            record_ttl: ttls.sessions,
            member_ttl: ttls.presence,
        };
        let (broker, tasks) = Broker::new(settings, registry);
        Self {
            store: Store::Redis(broker),
            tasks: Tasks::Redis(tasks),
            retentions: Arc::new(retentions),
        }
    }

    /// A broker in NATS JetStream, which keeps as much of each log as `settings` say.
    pub(super) fn in_jetstream(
        settings: JetStreamSettings,
        retentions: Retentions,
        registry: &Registry,
    ) -> Self {
        let (broker, tasks) = JetStream::new(settings, registry);
        Self {
            store: Store::JetStream(broker),
            tasks: Tasks::JetStream(Box::new(tasks)),
            retentions: Arc::new(retentions),
        }
    }

    /// The broker as the server uses it.
    pub(super) fn engine(&self) -> Arc<dyn Engine> {
        Arc::new(SharedEngine {
            store: self.store.clone(),
            retentions: Arc::clone(&self.retentions),
            heard: Mutex::default(),
        })
    }

    /// The sessions of all servers.
    pub(super) fn sessions(&self) -> Arc<dyn SessionStore> {
        match &self.store {
            Store::Redis(broker) => Arc::new(SharedSessions(broker.clone())),
            Store::JetStream(broker) => Arc::new(SharedSessions(broker.clone())),
        }
    }

    /// The members of streams at all servers.
    pub(super) fn members(&self) -> Arc<dyn PresenceStore> {
        match &self.store {
            Store::Redis(broker) => Arc::new(SharedMembers(broker.clone())),
            Store::JetStream(broker) => Arc::new(SharedMembers(broker.clone())),
        }
    }

    /// Connects in the background.
    pub(super) fn start(self, publisher: Publisher, registry: &Registry) -> RunningBroker {
        let Self {
            store,
            tasks,
            retentions,
        } = self;
        let (stop, stopped) = watch::channel(false);
        let inlet = Inlet {
            publisher,
            retentions,
        };
        let registry = registry.clone();
        let commands = store.hear(Source::Control);
        let work = tokio::spawn(async move {
            tasks.run(inlet, commands.heard(), &registry, stopped).await;
            drop(commands);
        });
        RunningBroker { store, stop, work }
    }

    /// Connects in the background, without hearing and changing anything. The connections end when the result is dropped.
    pub(super) fn reach(self, registry: &Registry) -> RunningBroker {
        let Self { store, tasks, .. } = self;
        let (stop, stopped) = watch::channel(false);
        // Now, and not in the task, so that the caller can look at it at once.
        let status = || registry.dependency(tasks.name());
        let statuses = (status(), status());
        let work = tokio::spawn(tasks.reach(statuses, stopped));
        RunningBroker { store, stop, work }
    }
}

impl RunningBroker {
    pub(super) async fn stop(self) {
        self.store.confirm_sessions().await;
        self.stop.send_replace(true);
        if tokio::time::timeout(STOP_TIMEOUT, self.work).await.is_err() {
            tracing::debug!("The connections of the broker did not end in time.");
        }
    }
}

#[derive(Debug)]
struct SharedEngine {
    store: Store,
    retentions: Arc<Retentions>,
    /// The streams that are heard, with the number of reasons. Clients choose the names, so this map's hashes have a
    /// random key (ARCHITECTURE, "Hash tables").
    heard: Mutex<HashMap<Box<str>, (usize, Hearing)>>,
}

impl SharedEngine {
    async fn send(&self, publication: &Publication, key: Option<String>) -> Result<(), EngineError> {
        let source = Source::Stream(&publication.stream);
        let payload = encode(publication);
        if publication.options.is_transient {
            return self.store.pass(source, &payload).await;
        }
        let limits = limits(&self.retentions, source);
        self.store.publish(source, &payload, limits, key.as_deref()).await
    }

    fn heard(&self) -> MutexGuard<'_, HashMap<Box<str>, (usize, Hearing)>> {
        // A panic under the lock is a bug in this file; the other streams go on.
        self.heard.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Engine for SharedEngine {
    fn name(&self) -> &'static str {
        self.store.engine_name()
    }

    fn publish(&self, publications: Vec<Publication>) -> Sending<'_> {
        self.publish_once(publications, None)
    }

    fn publish_once(&self, publications: Vec<Publication>, key: Option<&str>) -> Sending<'_> {
        let key = key.map(str::to_owned);
        Box::pin(async move {
            for (number, publication) in publications.iter().enumerate() {
                let key = key.as_ref().map(|key| format!("{key}-{number}"));
                self.send(publication, key).await?;
            }
            Ok(())
        })
    }

    fn disconnect(&self, command: RemoteDisconnect) -> Sending<'_> {
        Box::pin(async move {
            // First, so that no client of another server goes on with its session meanwhile.
            self.store.revoke_sessions(&command.identifiers).await?;
            let payload = encode_disconnect(&command);
            self.store.publish(Source::Control, &payload, CONTROL, None).await
        })
    }

    fn join(&self, stream: &str) {
        let mut heard = self.heard();
        match heard.get_mut(stream) {
            Some((n, _)) => *n += 1,
            None => {
                let hearing = self.store.hear(Source::Stream(stream));
                heard.insert(stream.into(), (1, hearing));
            }
        }
    }

    fn leave(&self, stream: &str) {
        let mut heard = self.heard();
        let Some((n, _)) = heard.get_mut(stream) else {
            return;
        };
        *n -= 1;
        if *n == 0 {
            heard.remove(stream);
            if heard.len() * 4 < heard.capacity() {
                let n_streams = heard.len();
                heard.shrink_to(n_streams * 2);
            }
        }
    }

    fn heard<'a>(&'a self, stream: &'a str) -> Pin<Box<dyn Future<Output = ()> + Send + 'a>> {
        let waiting = SharedEngine::heard(self)
            .get(stream)
            .map(|(_, hearing)| hearing.heard());
        Box::pin(async move {
            if let Some(waiting) = waiting {
                waiting.await;
            }
        })
    }
}

fn limits(retentions: &Retentions, source: Source<'_>) -> Limits {
    match source {
        Source::Control => CONTROL,
        Source::Stream(stream) => {
            let retention = retentions.of(stream);
            Limits {
                limit: retention.limit,
                ttl: retention.ttl,
            }
        }
    }
}

/// The greatest limits of all logs.
pub(super) fn greatest(retentions: &Retentions) -> Limits {
    let of_patterns = retentions.by_pattern.iter().map(|(_, retention)| retention);
    let all: Vec<&Retention> = of_patterns.chain([&retentions.default]).collect();
    Limits {
        limit: all.iter().map(|retention| retention.limit).max().unwrap_or(0),
        ttl: all
            .iter()
            .map(|retention| retention.ttl)
            .max()
            .unwrap_or_default(),
    }
}

/// Hands what comes from the broker to the server.
struct Inlet {
    publisher: Publisher,
    retentions: Arc<Retentions>,
}

impl Listener for Inlet {
    async fn take(&self, source: Source<'_>, news: News<'_>) {
        match source {
            Source::Stream(stream) => self.take_of_stream(stream, news).await,
            Source::Control => {
                if let News::Message {
                    payload,
                    is_new: true,
                    ..
                } = news
                {
                    self.obey(&payload).await;
                }
            }
        }
    }

    fn limits(&self, source: Source<'_>) -> Limits {
        limits(&self.retentions, source)
    }

    async fn release(&self, key: &str) {
        self.publisher.release(key).await;
    }

    async fn hear_member(&self, source: Source<'_>, announcement: MemberAnnouncement) -> bool {
        match source {
            Source::Stream(stream) => self.publisher.hear_member(stream, announcement).await,
            Source::Control => false,
        }
    }

    async fn take_members(&self, source: Source<'_>, Members { listing, ours }: Members) -> bool {
        match source {
            Source::Stream(stream) => self.publisher.take_members(stream, listing, &ours).await,
            Source::Control => false,
        }
    }

    fn await_members(&self, source: Source<'_>) {
        if let Source::Stream(stream) = source {
            self.publisher.await_members(stream);
        }
    }

    fn forget_members(&self, source: Source<'_>) {
        if let Source::Stream(stream) = source {
            self.publisher.forget_members(stream);
        }
    }

    fn is_at(&self, source: Source<'_>, number: u64) -> bool {
        match source {
            Source::Stream(stream) => self.publisher.is_at(stream, number),
            Source::Control => true,
        }
    }

    async fn made(&self, source: Source<'_>, id: Arc<str>, change: Change) {
        if let Source::Stream(stream) = source {
            self.publisher.made(stream, id, change);
        }
    }
}

impl Inlet {
    /// Takes a command, or a message that is not kept.
    async fn obey(&self, payload: &[u8]) {
        if let Err(error) = self.publisher.hear_payload(payload).await {
            tracing::warn!("A message of the broker is dropped: {error}.");
        }
    }

    async fn take_of_stream(&self, stream: &str, news: News<'_>) {
        match news {
            News::Begin { epoch, offset, at_ms } => {
                let place = Place {
                    epoch,
                    offset,
                    at_ms: at_ms.unwrap_or(0),
                };
                self.publisher.begin_log(stream, place).await;
            }
            News::Message {
                epoch,
                offset,
                at_ms,
                payload,
                is_new,
            } => {
                let place = Place { epoch, offset, at_ms };
                self.publisher.hear_at(stream, place, &payload, is_new).await;
            }
            News::Passing(payload) => self.obey(&payload).await,
            // Sessions that entered the stream before it was heard may have missed messages; others come later.
            News::Lost | News::Heard => self.publisher.hear_loss(stream).await,
        }
    }
}
