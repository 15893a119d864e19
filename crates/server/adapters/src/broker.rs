//! The logs of streams in Redis, which all servers share (docs/reference/redis-broker.md).
//!
//! A message is stored, numbered and announced in one script. Each server subscribes to the streams that its clients
//! hear, and a [`Follower`](plimsoll_broker::follower::Follower) for each stream repairs what the subscription misses.

use std::{sync::Arc, time::Duration};

pub use plimsoll_broker::presence::Announcement as MemberAnnouncement;
use plimsoll_broker::{
    follower::{Excerpt, Message, N_RECENT, Position},
    presence::Change,
};
use plimsoll_telemetry::{Dependency, Registry};
use redis::cmd;
use tokio::sync::watch;

use crate::{
    members::{Changes, Members, keep_members},
    pipeline::{Pipeline, PipelineTasks, Replication, Request, RequestError, Script},
    pulse::{Pulse, new_name},
    records::{Records, keep_records},
    server::Server,
    supervisor::{self, Reach},
};

mod followers;
mod health;
mod hearing;
mod keys;
mod members;
mod records;
mod replies;
mod subscriber;

pub(crate) use followers::{Body, Followers, Store};
pub(crate) use health::{Health, SILENCE, Verdict};
pub use hearing::Hearing;
pub(crate) use hearing::Table;
pub use keys::Source;
pub(crate) use keys::{Keys, digest};
use replies::Announcement;
pub use replies::Stored;
use subscriber::{Subscriber, SubscriberConnector};

static PUBLISH: Script = Script::new(0, include_str!("broker/publish.lua"), &["stream", "hash", "hash"]);
static READ: Script = Script::new(1, include_str!("broker/read.lua"), &["stream", "hash"]);
static RECORD: Script = Script::new(2, include_str!("broker/record.lua"), &["hash"]);
static TAKE: Script = Script::new(3, include_str!("broker/take.lua"), &["hash"]);
static REVOKE: Script = Script::new(4, include_str!("broker/revoke.lua"), &["string"]);
static SERVERS: Script = Script::new(5, include_str!("broker/servers.lua"), &["sorted set"]);
static MEMBER: Script = Script::new(6, include_str!("broker/member.lua"), &["hash", "hash"]);
static SCRIPTS: [&Script; 7] = [&PUBLISH, &READ, &RECORD, &TAKE, &REVOKE, &SERVERS, &MEMBER];

/// Messages in one answer to a read.
pub(crate) const PAGE: usize = 100;

/// The most messages that a server reads when its first client begins to hear a stream.
pub(crate) const MAX_TAIL: usize = 1000;

/// The lifetime of what is known of a log without messages, in lifetimes of a message; as in the memory of one server.
pub(crate) const HEAD_IN_TTLS: u32 = 10;

/// How long replicas may take at most. Meanwhile the connection carries nothing else.
const MAX_REPLICATION: Duration = Duration::from_millis(2500);

/// The bytes of a message besides its payload, at most.
pub(crate) const ENVELOPE_BYTES: usize = 64 << 10;

/// The settings.
#[derive(Debug, Clone)]
pub struct BrokerSettings {
    /// The server.
    pub server: Server,
    /// The beginning of all keys and channels.
    pub prefix: String,
    /// How long a publication may take.
    pub publish_timeout: Duration,
    /// How long Redis remembers an idempotency key.
    pub key_ttl: Duration,
    /// The number of replicas that must have a message before it is confirmed.
    pub n_replicas: u32,
    /// How long a record can be taken after its server has left it. `None`: there are no records.
    pub record_ttl: Option<Duration>,
    /// How long a server may be gone before its members are. `None`: there are no members.
    pub member_ttl: Option<Duration>,
}

/// How much of a log Redis keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The most messages.
    pub limit: usize,
    /// The time after the last message for which they are kept.
    pub ttl: Duration,
}

/// What happens to the logs that this server hears.
#[derive(Debug, PartialEq, Eq)]
pub enum News<'a> {
    /// The log has this epoch, and is known from behind this offset; see
    /// [`Step::Begin`](plimsoll_broker::follower::Step::Begin).
    Begin {
        /// The epoch.
        epoch: &'a Arc<str>,
        /// The offset.
        offset: u64,
        /// The time of the message with that offset, in milliseconds of Unix time. `None`: the offset is 0.
        at_ms: Option<u64>,
    },
    /// A message of the log.
    Message {
        /// The epoch.
        epoch: &'a Arc<str>,
        /// The offset.
        offset: u64,
        /// The time at which Redis took it, in milliseconds of Unix time.
        at_ms: u64,
        /// The payload as it was published.
        payload: Vec<u8>,
        /// Whether the listeners do not have it yet.
        is_new: bool,
    },
    /// A message that is in no log.
    Passing(Vec<u8>),
    /// The listeners may have missed messages.
    Lost,
    /// The stream is heard from here on. Clients that began to listen earlier may have missed messages.
    Heard,
}

impl<'a> News<'a> {
    fn of(epoch: &'a Arc<str>, message: Message<Body>, is_new: bool) -> Self {
        let Message {
            offset, at_ms, body, ..
        } = message;
        Self::Message {
            epoch,
            offset,
            at_ms,
            payload: body.payload,
            is_new,
        }
    }
}

/// Takes the news of logs, one after the other.
pub trait Listener: Send + Sync + 'static {
    /// Takes news. Nothing else is read from Redis until this returns.
    fn take(&self, source: Source<'_>, news: News<'_>) -> impl Future<Output = ()> + Send;
    /// How much of a log Redis keeps.
    fn limits(&self, source: Source<'_>) -> Limits;
    /// Another server wants the record with this key, or has taken it.
    fn release(&self, key: &str) -> impl Future<Output = ()> + Send;
    /// The members of a stream change. Returns whether they have to be read, because a change is missing.
    fn hear_member(
        &self,
        source: Source<'_>,
        announcement: MemberAnnouncement,
    ) -> impl Future<Output = bool> + Send;
    /// All members of a stream. Returns whether they have to be read again, because more has been announced.
    fn take_members(&self, source: Source<'_>, members: Members) -> impl Future<Output = bool> + Send;
    /// Changes of members may be missing from now on, until they are read.
    fn await_members(&self, source: Source<'_>);
    /// The members of a stream are not followed any more.
    fn forget_members(&self, source: Source<'_>);
    /// Whether the listener knows the members up to the change with this number, or waits for them.
    fn is_at(&self, source: Source<'_>, number: u64) -> bool;
    /// This server has made a change that all servers hear of.
    fn made(&self, source: Source<'_>, id: Arc<str>, change: Change) -> impl Future<Output = ()> + Send;
}

/// The broker. A clone is the same broker.
#[derive(Debug, Clone)]
pub struct Broker {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    /// The name of this process among those that share the broker.
    name: String,
    pipeline: Pipeline,
    keys: Keys,
    table: Arc<Table>,
    records: Option<Records>,
    members: Option<Changes>,
    pulse: Pulse,
    publish_timeout: Duration,
    key_ttl: Duration,
}

/// The work of a broker: its connections for commands and for announcements.
pub struct BrokerTasks {
    broker: Broker,
    server: Arc<Server>,
    requests: PipelineTasks,
}

impl Broker {
    /// A broker, and its work, which [`BrokerTasks::run`] does.
    pub fn new(settings: BrokerSettings, registry: &Registry) -> (Self, BrokerTasks) {
        let BrokerSettings {
            mut server,
            prefix,
            publish_timeout,
            key_ttl,
            n_replicas,
            record_ttl,
            member_ttl,
        } = settings;
        // The text of a payload grows when it becomes a part of another JSON text.
        server.max_payload_bytes = 2 * server.max_payload_bytes + ENVELOPE_BYTES;
        let server = Arc::new(server);
        let replication = (n_replicas > 0).then(|| Replication {
            n_replicas,
            // The caller must still be there to learn the result.
            patience: (publish_timeout / 2).min(MAX_REPLICATION),
        });
        let (pipeline, requests) = Pipeline::new(Arc::clone(&server), &SCRIPTS, replication);
        let broker = Self {
            shared: Arc::new(Shared {
                name: new_name(),
                pipeline,
                keys: Keys::new(prefix, server.is_cluster()),
                table: Arc::new(if member_ttl.is_some() {
                    Table::with_members()
                } else {
                    Table::default()
                }),
                records: record_ttl.map(|ttl| Records::new(ttl, registry)),
                members: member_ttl.map(|ttl| Changes::new(ttl, registry)),
                pulse: Pulse::new(registry),
                publish_timeout,
                key_ttl,
            }),
        };
        let tasks = BrokerTasks {
            broker: broker.clone(),
            server,
            requests,
        };
        (broker, tasks)
    }

    /// Stores a message at the end of a log, and announces it to all servers. A message with an idempotency key is
    /// stored once.
    ///
    /// # Errors
    /// Redis did not confirm it. Unless Redis refused the message, it may be stored all the same.
    pub async fn publish(
        &self,
        source: Source<'_>,
        payload: &[u8],
        limits: Limits,
        idempotency_key: Option<&str>,
    ) -> Result<Stored, RequestError> {
        let Shared { keys, table, .. } = &*self.shared;
        let base = keys.base(source);
        let floor = table.position(&base);
        let (epoch, offset, at_ms) = place(floor.as_ref());
        let ttl_ms = limits.ttl.as_millis();
        let mut names = vec![keys::log(&base), keys::head(&base)];
        names.extend(idempotency_key.map(|key| keys.record(source, key)));
        let request = Request::Script {
            script: &PUBLISH,
            keys: names,
            arguments: vec![
                keys::channel(&base),
                payload.to_vec(),
                limits.limit.to_string().into(),
                ttl_ms.to_string().into(),
                (ttl_ms * u128::from(HEAD_IN_TTLS)).to_string().into(),
                new_epoch().into(),
                epoch,
                offset,
                at_ms,
                self.shared.key_ttl.as_millis().to_string().into(),
            ],
        };
        let patience = self.shared.publish_timeout;
        let stored = self
            .shared
            .pipeline
            .replicated(request, patience, replies::stored)
            .await?;
        table.raise(&base, &stored.position());
        Ok(stored)
    }

    /// Announces a message that is not kept. Servers that are not connected miss it.
    ///
    /// # Errors
    /// Redis did not confirm it.
    pub async fn pass(&self, source: Source<'_>, payload: &[u8]) -> Result<(), RequestError> {
        let base = self.shared.keys.base(source);
        let mut publish = cmd("PUBLISH");
        publish
            .arg(keys::channel(&base))
            .arg([replies::PASSING, payload].concat());
        let request = Request::Command(publish);
        let answer = self.shared.pipeline.request(request, self.shared.publish_timeout);
        answer.await.map(drop)
    }

    /// Begins to hear a log. The drop of all its hearings ends it, a little later.
    pub fn hear(&self, source: Source<'_>) -> Hearing {
        self.shared.table.hear(&self.shared.keys.base(source))
    }
}

impl Store for Broker {
    type Error = RequestError;

    const NAME: &'static str = "the Redis broker";

    fn table(&self) -> &Arc<Table> {
        &self.shared.table
    }

    fn source<'a>(&self, base: &'a str) -> Option<Source<'a>> {
        self.shared.keys.source(base)
    }

    async fn read(
        &self,
        base: &str,
        after: Option<(&Position, u64)>,
        limits: Limits,
        patience: Duration,
    ) -> Result<Excerpt<Body>, RequestError> {
        let (epoch, offset, at_ms) = match after {
            Some((position, _)) => place(Some(position)),
            None => (b"*".to_vec(), b"0".to_vec(), b"0".to_vec()),
        };
        let head_ttl_ms = limits.ttl.as_millis() * u128::from(HEAD_IN_TTLS);
        let request = Request::Script {
            script: &READ,
            keys: vec![keys::log(base), keys::head(base)],
            arguments: vec![
                epoch,
                offset,
                at_ms,
                limits.limit.min(MAX_TAIL).to_string().into(),
                PAGE.to_string().into(),
                head_ttl_ms.to_string().into(),
                new_epoch().into(),
            ],
        };
        self.shared
            .pipeline
            .parsed(request, patience, replies::excerpt)
            .await
    }
}

impl BrokerTasks {
    /// Stays connected until `stop` becomes true, and hands all news to `listener`. Keeps `statuses` up to date: that
    /// of the connection for commands, and that of the subscription.
    pub async fn run(
        self,
        listener: impl Listener,
        statuses: (Dependency, Dependency),
        registry: &Registry,
        stop: watch::Receiver<bool>,
    ) {
        let (broker, listener) = (self.broker.clone(), Arc::new(listener));
        let subscriber = Subscriber::new(self.broker, self.server, Arc::clone(&listener), registry);
        tokio::join!(
            self.requests.run(statuses.0, stop.clone()),
            subscriber.run(statuses.1, stop.clone()),
            keep_records(&broker, &*listener, stop.clone()),
            keep_members(&broker, &*listener, stop.clone()),
            broker.beat(stop)
        );
    }

    /// Connects as [`run`](Self::run) does, until `stop` becomes true. Hears, stores and announces nothing.
    pub async fn reach(self, statuses: (Dependency, Dependency), stop: watch::Receiver<bool>) {
        let Self {
            broker,
            server,
            requests,
        } = self;
        let probe = broker.shared.keys.probe(&broker.shared.name);
        let subscriber = Reach(SubscriberConnector { server, probe });
        tokio::join!(
            requests.run(statuses.0, stop.clone()),
            supervisor::keep(subscriber::link(statuses.1), subscriber, stop)
        );
    }
}

/// A place as arguments of a script.
fn place(position: Option<&Position>) -> (Vec<u8>, Vec<u8>, Vec<u8>) {
    let (epoch, offset, at_ms) = position.map_or((&b""[..], 0, 0), |position| {
        (
            position.epoch.as_bytes(),
            position.offset,
            position.at_ms.unwrap_or(0),
        )
    });
    (
        epoch.to_vec(),
        offset.to_string().into(),
        at_ms.to_string().into(),
    )
}

/// The length of an epoch, in characters of 6 random bits, as in the memory of one server.
const EPOCH_LENGTH: usize = 12;

pub(crate) fn new_epoch() -> String {
    std::iter::repeat_with(fastrand::alphanumeric)
        .take(EPOCH_LENGTH)
        .collect()
}

// The scripts have the number as text.
const _: () = assert!(N_RECENT == 256);

#[cfg(test)]
pub(crate) mod notes;
#[cfg(test)]
pub(crate) mod process;
#[cfg(test)]
mod tests;
