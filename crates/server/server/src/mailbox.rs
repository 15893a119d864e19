//! What the shards find in their mailboxes.

use std::{sync::Arc, time::Instant};

use plimsoll_cable::broadcast::{Publication, RemoteDisconnect};
use plimsoll_hub::SessionId;
use plimsoll_telemetry::Histogram;
use tokio::sync::{OwnedSemaphorePermit, oneshot};

/// Something that all listeners of a stream get. Every shard holds it until its listeners are served, so its
/// drop tells that all are.
#[derive(Debug)]
pub(crate) struct Outgoing {
    pub(crate) stream: String,
    pub(crate) payload: Payload,
    /// A listener who gets nothing.
    pub(crate) excluded: Option<Excluded>,
    /// What it takes of the room for publications on their way; none before it was posted.
    pub(crate) room: Option<OwnedSemaphorePermit>,
    /// Dropped with the publication.
    pub(crate) _completion: Completion,
}

/// The body of a message.
#[derive(Debug)]
pub(crate) enum Payload {
    /// JSON text. Cable subscribers get it inside an envelope with their identifier, others bare.
    Json(String),
    /// As [`Payload::Json`]; the envelope says that the message is of this type.
    Typed { kind: Box<str>, text: String },
    /// Bytes for a binary frame.
    Binary(Vec<u8>),
}

impl Payload {
    /// Bytes of the body.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Json(text) | Self::Typed { text, .. } => text.len(),
            Self::Binary(bytes) => bytes.len(),
        }
    }
}

/// Which session does not get a publication.
#[derive(Debug)]
pub(crate) enum Excluded {
    /// The one with this session id, on whatever shard it is.
    Sid(Box<str>),
    /// This one of the shard with this number.
    Session { shard: usize, id: SessionId },
}

/// What a shard finds in its mailbox.
#[derive(Debug)]
pub(crate) enum Letter {
    /// For every listener of a stream on this shard.
    Publish(Arc<Outgoing>),
    /// For one session of this shard, after everything that was published before it.
    Direct(SessionId, Payload),
    /// For every session of this shard with these identifiers, after everything that was published before it.
    Disconnect(Arc<RemoteDisconnect>),
    /// The server stops: every broadcast that it took is in front of this letter, so the sessions may end.
    Drain,
}

/// What happens when all listeners of a publication were served.
#[derive(Debug)]
pub(crate) struct Completion {
    started: Instant,
    duration: Histogram,
    /// Its drop tells who waits; see [`crate::Publisher::deliver`].
    _waiting: Option<oneshot::Sender<()>>,
}

impl Completion {
    /// Counts from now on; `duration` gets the result.
    pub(crate) fn new(duration: Histogram, waiting: Option<oneshot::Sender<()>>) -> Self {
        Self {
            started: Instant::now(),
            duration,
            _waiting: waiting,
        }
    }
}

impl Drop for Completion {
    fn drop(&mut self) {
        self.duration.observe(self.started.elapsed());
    }
}

impl Outgoing {
    pub(crate) fn new(publication: Publication, completion: Completion) -> Self {
        let Publication {
            stream,
            message: text,
            options,
        } = publication;
        Self {
            stream,
            payload: match options.broadcast_type {
                Some(kind) => Payload::Typed { kind, text },
                None => Payload::Json(text),
            },
            excluded: options.exclude_socket.map(Excluded::Sid),
            room: None,
            _completion: completion,
        }
    }
}
