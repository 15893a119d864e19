//! The logs of streams, sessions and members in NATS JetStream, which all servers share (docs/reference/nats-broker.md).
//!
//! One stream of JetStream keeps all logs, each on a subject of its own, and announces what it has stored. Each server
//! subscribes to the announcements of the logs that its clients hear; what the subscription misses is repaired as with the
//! Redis broker ([`Followers`](crate::broker::Followers)).

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU32, Ordering::Relaxed},
    },
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use plimsoll_broker::follower::{Excerpt, Position};
use plimsoll_nats::{
    header,
    jetstream::{ApiError, KeptStream, Republish},
};
use plimsoll_telemetry::{Dependency, Registry};
use tokio::{sync::watch, time::timeout};

use self::{
    beats::Beats,
    members::{Presence, Registers},
    record::PASSING,
    records::{Ends, Sessions},
    requests::{Request, RequestTask, Requests},
    subjects::Subjects,
    subscriber::{Subscriber, SubscriberConnector},
    tips::Tips,
};
use super::servers::NatsServers;
use crate::{
    broker::{Body, ENVELOPE_BYTES, HEAD_IN_TTLS, Hearing, Keys, Limits, Listener, Source, Store, Table},
    members::{Changes, LIFETIME, keep_members},
    pulse::{Pulse, new_name},
    records::{LIFETIME_IN_TTLS, Records, keep_records},
    supervisor::{self, Reach},
};

mod beats;
mod members;
mod read;
mod record;
mod records;
mod requests;
mod setup;
mod subjects;
mod subscriber;
mod tips;
mod write;

pub use requests::JetStreamError;

/// Messages of a log that JetStream keeps beyond the limit: room for markers.
const N_MARKERS: u64 = 2;

/// The least number of messages of a log that JetStream keeps. With several replicas as many servers may write to it at the same
/// time, and the first of their messages says that the others do not count.
const MIN_MESSAGES: u64 = 32;

/// Messages of a session or a member that JetStream keeps. Only the last one is needed, but with several replicas those before it say
/// whether it counts.
const N_CHANGES: u64 = 8;

/// The end of the name of the stream of JetStream with the sessions.
const SESSIONS: &str = "-sessions";

/// The end of the name of the stream of JetStream with the members.
const PRESENCE: &str = "-presence";

/// The settings.
#[derive(Debug, Clone)]
pub struct JetStreamSettings {
    /// The servers of NATS, of which one is used at a time.
    pub servers: NatsServers,
    /// The name of the stream that keeps the logs.
    pub stream: String,
    /// The beginning of all subjects.
    pub prefix: String,
    /// The number of the stream's replicas. `None`: as it is, and 1 in a new stream.
    pub n_replicas: Option<u8>,
    /// How much is kept of each log: the greatest of what the listener says.
    pub limits: Limits,
    /// How long a publication may take.
    pub publish_timeout: Duration,
    /// How long JetStream may take to become ready after a connection.
    pub ready_timeout: Duration,
    /// How long JetStream remembers an idempotency key.
    pub key_ttl: Duration,
    /// How long a session can be taken after its server has left it. `None`: there are no sessions.
    pub record_ttl: Option<Duration>,
    /// How long a server may be gone before its members are. `None`: there are no members.
    pub member_ttl: Option<Duration>,
    /// The longest payload, in bytes.
    pub max_payload_bytes: usize,
}

/// The broker. A clone is the same broker.
#[derive(Debug, Clone)]
pub struct JetStream {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    /// The name of this process among those that share the broker.
    name: String,
    requests: Requests,
    streams: Streams,
    /// `None`: there are no sessions.
    sessions: Option<Sessions>,
    /// `None`: no client is present on any stream.
    presence: Option<Presence>,
    beats: Beats,
    pulse: Pulse,
    keys: Keys,
    subjects: Subjects,
    table: Arc<Table>,
    tips: Arc<Tips>,
    /// Whether a stream has several replicas.
    is_replicated: Arc<AtomicBool>,
    publish_timeout: Duration,
    /// How long JetStream keeps a message.
    max_age: Duration,
    /// The number of the error with which JetStream has refused the last publication; 0: it was stored.
    last_error: AtomicU32,
}

/// The names of the streams of JetStream.
#[derive(Debug)]
struct Streams {
    logs: String,
    records: String,
    members: String,
}

/// The work of a broker: its two connections.
pub struct JetStreamTasks {
    broker: JetStream,
    servers: NatsServers,
    max_payload_bytes: usize,
    requests: RequestTask,
}

impl JetStream {
    /// A broker, and its work, which [`JetStreamTasks::run`] does.
    pub fn new(settings: JetStreamSettings, registry: &Registry) -> (Self, JetStreamTasks) {
        let JetStreamSettings {
            servers,
            stream,
            prefix,
            n_replicas,
            limits,
            publish_timeout,
            ready_timeout,
            key_ttl,
            record_ttl,
            member_ttl,
            max_payload_bytes,
        } = settings;
        let servers = servers.with_headers();
        let subjects = Subjects::new(prefix.clone());
        // The text of a payload grows when it becomes a part of another JSON text.
        let max_message_bytes = 2 * max_payload_bytes + ENVELOPE_BYTES;
        // JetStream cannot remember an id for longer than it keeps messages.
        let max_age = (limits.ttl * HEAD_IN_TTLS).max(key_ttl);
        let logs = KeptStream {
            name: stream.clone(),
            stored: vec![subjects.all_stored()],
            announced: Some(Republish {
                from: subjects.all_stored(),
                to: subjects.all_announced(),
            }),
            max_per_subject: MIN_MESSAGES.max(limits.limit as u64 + N_MARKERS),
            max_age_ns: nanoseconds(max_age),
            id_ttl_ns: nanoseconds(key_ttl),
            max_message_bytes: max_message_bytes as u64,
            n_replicas,
        };
        let records = record_ttl.map(|ttl| {
            // One of a server that dies right before it renews the lifetime still has the other half.
            let max_age = LIFETIME_IN_TTLS * ttl;
            KeptStream {
                name: format!("{stream}{SESSIONS}"),
                stored: subjects.all_records(),
                announced: None,
                max_per_subject: N_CHANGES,
                max_age_ns: nanoseconds(max_age),
                // No message has an id, but JetStream wants a time that is not longer than the age.
                id_ttl_ns: nanoseconds(key_ttl.min(max_age)),
                ..logs.clone()
            }
        });
        let members = member_ttl.map(|_| {
            let (from, to) = subjects.all_members();
            KeptStream {
                name: format!("{stream}{PRESENCE}"),
                stored: vec![from.clone()],
                announced: Some(Republish { from, to }),
                max_per_subject: N_CHANGES,
                max_age_ns: nanoseconds(LIFETIME),
                id_ttl_ns: nanoseconds(key_ttl.min(LIFETIME)),
                ..logs.clone()
            }
        });
        let (tips, is_replicated) = (Arc::<Tips>::default(), Arc::<AtomicBool>::default());
        // The leader of the stream sends messages in base64.
        let max_payload_bytes = 2 * max_message_bytes;
        let (requests, task) = Requests::new(|waiting| RequestTask {
            servers: servers.clone(),
            streams: [Some(logs), records, members].into_iter().flatten().collect(),
            ready_timeout,
            max_payload_bytes,
            tips: Arc::clone(&tips),
            is_replicated: Arc::clone(&is_replicated),
            waiting,
        });
        let broker = Self {
            shared: Arc::new(Shared {
                name: new_name(),
                requests,
                streams: Streams {
                    records: format!("{stream}{SESSIONS}"),
                    members: format!("{stream}{PRESENCE}"),
                    logs: stream,
                },
                sessions: record_ttl.map(|ttl| Sessions {
                    records: Records::new(ttl, registry),
                    ends: Ends::default(),
                }),
                presence: member_ttl.map(|ttl| Presence {
                    changes: Changes::new(ttl, registry),
                    registers: Registers::default(),
                }),
                beats: Beats::default(),
                pulse: Pulse::new(registry),
                keys: Keys::new(prefix, false),
                subjects,
                table: Arc::new(if member_ttl.is_some() {
                    Table::with_members()
                } else {
                    Table::default()
                }),
                tips,
                is_replicated,
                publish_timeout,
                max_age,
                last_error: AtomicU32::new(0),
            }),
        };
        let tasks = JetStreamTasks {
            broker: broker.clone(),
            servers,
            max_payload_bytes,
            requests: task,
        };
        (broker, tasks)
    }

    /// Stores a message at the end of a log, and announces it to all servers. A message with an idempotency key is
    /// stored once.
    ///
    /// # Errors
    /// JetStream did not confirm it. If there was no answer, it may be stored all the same.
    pub async fn publish(
        &self,
        source: Source<'_>,
        payload: &[u8],
        idempotency_key: Option<&str>,
    ) -> Result<(), JetStreamError> {
        self.in_time(self.append(source, payload, idempotency_key)).await
    }

    /// Announces a message that is not kept. Servers that are not connected miss it.
    ///
    /// # Errors
    /// NATS did not confirm it.
    pub async fn pass(&self, source: Source<'_>, payload: &[u8]) -> Result<(), JetStreamError> {
        let subject = self.shared.subjects.announced(source);
        let request = Request {
            subject: subject.map_err(|error| JetStreamError::Unfit(error.to_string()))?,
            header: header(&[(PASSING, "1")]),
            payload: payload.to_vec(),
        };
        self.in_time(self.shared.requests.publish(request)).await
    }

    /// Begins to hear a log. The drop of all its hearings ends it, a little later.
    pub fn hear(&self, source: Source<'_>) -> Hearing {
        self.shared.table.hear(&self.shared.keys.base(source))
    }

    async fn in_time<T>(
        &self,
        work: impl Future<Output = Result<T, JetStreamError>>,
    ) -> Result<T, JetStreamError> {
        let limit = self.shared.publish_timeout;
        let done = timeout(limit, work).await;
        done.unwrap_or(Err(JetStreamError::Late(limit)))
    }

    fn is_replicated(&self) -> bool {
        self.shared.is_replicated.load(Relaxed)
    }
}

impl Store for JetStream {
    type Error = JetStreamError;

    const NAME: &'static str = "the NATS broker";

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
    ) -> Result<Excerpt<Body>, JetStreamError> {
        let read = timeout(patience, self.read_log(base, after, limits)).await;
        read.unwrap_or(Err(JetStreamError::Late(patience)))
    }
}

impl JetStreamTasks {
    /// Stays connected until `stop` becomes true, and hands all news to `listener`. Keeps `statuses` up to date: that
    /// of the connection for requests, and that of the subscription.
    pub async fn run(
        self,
        listener: impl Listener,
        statuses: (Dependency, Dependency),
        registry: &Registry,
        stop: watch::Receiver<bool>,
    ) {
        let Self {
            broker,
            servers,
            max_payload_bytes,
            requests,
        } = self;
        let listener = Arc::new(listener);
        let connector = SubscriberConnector::new(&broker, servers, max_payload_bytes);
        let subscriber = Subscriber::new(broker.clone(), connector, Arc::clone(&listener), registry);
        tokio::join!(
            requests.run(statuses.0, stop.clone()),
            subscriber.run(statuses.1, stop.clone()),
            keep_records(&broker, &*listener, stop.clone()),
            keep_members(&broker, &*listener, stop.clone()),
            broker.beat(stop)
        );
    }

    /// Connects as [`run`](Self::run) does, until `stop` becomes true. Hears and stores nothing, and makes or changes no
    /// stream of JetStream.
    pub async fn reach(self, statuses: (Dependency, Dependency), stop: watch::Receiver<bool>) {
        let Self {
            broker,
            servers,
            max_payload_bytes,
            requests,
        } = self;
        let connector = SubscriberConnector::new(&broker, servers, max_payload_bytes);
        tokio::join!(
            requests.reach(statuses.0, stop.clone()),
            supervisor::keep(subscriber::link(statuses.1), Reach(connector), stop)
        );
    }
}

fn refused(error: &ApiError) -> JetStreamError {
    JetStreamError::Refused(format!("JetStream refused the request: {error}"))
}

fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
