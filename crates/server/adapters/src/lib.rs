//! Messages that reach the server other than over HTTP, from Redis or NATS: broadcasts of backends, what the servers of a
//! cluster send to each other, and the logs of streams that they share in Redis ([`Broker`]).
//!
//! An adapter stays connected for as long as the process lives ([`supervisor`]), takes payloads and hands them to a
//! [`Sink`], one at a time and in order. It reads nothing while the sink is busy, so the memory for waiting payloads is
//! bounded. They pile up in Redis or NATS, which have limits for them.
//!
//! [`Interest`] says which channels an adapter is subscribed to, and an [`Outbox`] takes messages for other servers.
//!
//! This is the only crate that knows Redis and NATS. It must know neither sessions nor the contents of a payload.

mod backoff;
mod broker;
mod cluster;
mod connection;
mod interest;
mod members;
mod nats;
mod outbox;
mod pipeline;
mod posting;
mod pubsub;
mod pulse;
mod records;
mod resp;
#[cfg(test)]
mod scripted;
mod sentinel;
mod server;
mod sink;
mod stream;
mod supervisor;
mod target;
mod tls;

pub use broker::{
    Broker, BrokerSettings, BrokerTasks, Hearing, Limits, Listener, MemberAnnouncement, News, Source, Stored,
};
pub use interest::Interest;
pub use members::{MemberStore, Members};
pub use nats::{
    JetStream, JetStreamError, JetStreamSettings, JetStreamTasks, NatsClient, NatsServers, NatsUrlError,
    NatsUrls,
};
pub use outbox::{Jobs, Outbox, Post, PostError, outbox};
pub use pipeline::{ForeignKeys, RequestError};
pub use posting::Posting;
pub use pubsub::Subscriptions;
pub use records::{Record, RecordStore};
pub use sentinel::Sentinels;
pub use server::{Server, ServerError};
pub use sink::{Sink, Taken};
pub use stream::{Group, Stream};
pub use target::{RedisUrls, Target, TargetError};
pub use tls::{TlsError, TlsSettings};
