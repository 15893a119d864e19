//! Several servers side by side: `--pubsub`, in AnyCable's form, so that a cluster can have servers of both kinds
//! (docs/protocols/cluster.md).

use std::{
    future::{Future, ready},
    pin::Pin,
};

use clap::ValueEnum;
use plimsoll_adapters::{Interest, Outbox, Post, PostError, Sink, Taken};
use plimsoll_cable::broadcast::{Publication, RemoteDisconnect, encode, encode_disconnect};
use plimsoll_server::{Engine, EngineError, MAX_BROADCAST_BYTES, Publisher, Sending};

/// The longest message between servers, in bytes. The text of a broadcast may grow on its way, because other servers
/// escape more characters.
pub(super) const MAX_MESSAGE_BYTES: usize = 4 * MAX_BROADCAST_BYTES;

/// What connects the servers of a cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum PubSub {
    /// Redis publish/subscribe, with a channel for each stream.
    Redis,
    /// NATS, with a subject for each stream.
    Nats,
}

impl PubSub {
    /// The engine's own name.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Redis => "Redis",
            Self::Nats => "NATS",
        }
    }

    /// The engine's name in flags and in answers to operators.
    pub(super) fn id(self) -> &'static str {
        match self {
            Self::Redis => "redis",
            Self::Nats => "nats",
        }
    }

    /// The other servers, for the log.
    pub(super) fn peers(self) -> &'static str {
        match self {
            Self::Redis => "other servers over Redis",
            Self::Nats => "other servers over NATS",
        }
    }

    /// Says what clients can rely on.
    pub(super) fn log_start(self) {
        tracing::info!(
            "Broadcasts, whispers and disconnect commands reach the clients of all servers over {}, in the form of \
             anycable-go. Each message is delivered at most once: a server whose connection to {} is lost misses the \
             messages until it is back (metric cluster_deaf_seconds), and the clients are not told.",
            self.name(),
            self.name(),
        );
    }
}

/// The engine of `--pubsub`.
#[derive(Debug)]
pub(super) struct CompatibleEngine {
    pub(super) kind: PubSub,
    pub(super) interest: Interest,
    pub(super) outbox: Outbox,
    /// The channel for commands.
    pub(super) command_channel: String,
}

impl CompatibleEngine {
    async fn post(&self, posts: Vec<Post>) -> Result<(), EngineError> {
        if let Some(post) = posts.iter().find(|post| post.payload.len() > MAX_MESSAGE_BYTES) {
            return Err(EngineError::Refused(format!(
                "the message has {} bytes on its way to other servers; expected up to {MAX_MESSAGE_BYTES}",
                post.payload.len()
            )));
        }
        self.outbox.post(posts).await.map_err(|error| match error {
            PostError::Refused(reason) => EngineError::Refused(reason),
            PostError::Away(_) | PostError::Postponed(_) | PostError::Silent { .. } => {
                EngineError::Away(error.to_string())
            }
        })
    }
}

impl Engine for CompatibleEngine {
    fn name(&self) -> &'static str {
        self.kind.id()
    }

    fn publish(&self, publications: Vec<Publication>) -> Sending<'_> {
        let posts = publications.into_iter().map(|publication| Post {
            payload: encode(&publication),
            channel: publication.stream.into(),
        });
        Box::pin(self.post(posts.collect()))
    }

    fn disconnect(&self, command: RemoteDisconnect) -> Sending<'_> {
        Box::pin(self.post(vec![Post {
            channel: self.command_channel.as_str().into(),
            payload: encode_disconnect(&command),
        }]))
    }

    fn join(&self, stream: &str) {
        self.interest.join(stream);
    }

    fn leave(&self, stream: &str) {
        self.interest.leave(stream);
    }

    fn heard<'a>(&'a self, stream: &'a str) -> Pin<Box<dyn Future<Output = ()> + Send + 'a>> {
        match self.interest.heard(stream) {
            Some(heard) => Box::pin(heard),
            None => Box::pin(ready(())),
        }
    }
}

/// Takes what the servers of the cluster send, this one included.
pub(super) struct FromCluster {
    pub(super) publisher: Publisher,
    pub(super) engine: &'static str,
}

impl Sink for FromCluster {
    async fn accept(&self, payload: &[u8], _id: Option<&str>) -> Taken {
        if let Err(error) = self.publisher.hear_payload(payload).await {
            tracing::warn!(
                "A message of another server over {} is dropped: {error}.",
                self.engine
            );
        }
        Taken::Done
    }
}
