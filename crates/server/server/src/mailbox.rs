//! The letters in a shard's mailbox.

use std::{sync::Arc, time::Instant};

use plimsoll_broker::Entry;

use plimsoll_cable::broadcast::{Publication, RemoteDisconnect};
use plimsoll_hub::SessionId;
use plimsoll_telemetry::Histogram;
use tokio::sync::{OwnedSemaphorePermit, oneshot};

use crate::{admin::Inquiry, application::DisconnectRequest};

/// A message for all listeners of a stream. Every shard holds it until its listeners are served, so its drop means that
/// all of them are.
#[derive(Debug)]
pub(crate) struct Outgoing {
    pub(crate) stream: String,
    pub(crate) body: Body,
    /// A listener that does not get the message.
    pub(crate) excluded: Option<Excluded>,
    /// The message's share of the room for publications on their way. `None` before it is posted.
    pub(crate) room: Option<OwnedSemaphorePermit>,
    /// Dropped with the publication.
    pub(crate) _completion: Completion,
}

/// A message that the history keeps, with its position.
pub(crate) type Kept = Entry<Payload>;

/// A message, on its own or as the history has it.
#[derive(Debug)]
pub(crate) enum Body {
    /// Not kept.
    Passing(Payload),
    /// Kept.
    Kept(Arc<Kept>),
}

impl Body {
    /// The payload.
    pub(crate) fn payload(&self) -> &Payload {
        match self {
            Self::Passing(payload) => payload,
            Self::Kept(kept) => &kept.value,
        }
    }
}

/// The payload of a message.
#[derive(Debug)]
pub(crate) enum Payload {
    /// JSON text. Cable subscribers get it inside an envelope with their identifier, others bare.
    Json(String),
    /// Like [`Payload::Json`], with an envelope that names this message type.
    Typed { kind: Box<str>, text: String },
    /// Bytes for a binary frame.
    Binary(Vec<u8>),
}

impl Payload {
    /// The message's type, if it has one, and its JSON text. `None` for bytes.
    pub(crate) fn json(&self) -> Option<(Option<&str>, &str)> {
        match self {
            Self::Json(text) => Some((None, text)),
            Self::Typed { kind, text } => Some((Some(kind), text)),
            Self::Binary(_) => None,
        }
    }

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
    /// The session with this id, on any shard.
    Sid(Box<str>),
    /// The session with this number on one shard.
    Session { shard: usize, id: SessionId },
}

/// An entry in a shard's mailbox.
#[derive(Debug)]
pub(crate) enum Letter {
    /// For all listeners of a stream on this shard.
    Publish(Arc<Outgoing>),
    /// For one session of this shard, after all earlier publications.
    Direct(SessionId, Payload),
    /// For every session of this shard with these identifiers, after all earlier publications.
    Disconnect(Arc<RemoteDisconnect>),
    /// Tells the application about sessions that no client will resume.
    Farewells(Vec<DisconnectRequest>),
    /// The archive has changed up to this serial number, and no listener has to know.
    Seen(u64),
    /// The listeners of a stream may have missed messages. The archive has changed up to the serial number.
    Lost { stream: Box<str>, serial: u64 },
    /// Cuts the connection of this session, because its client has come back with another one.
    Replace(SessionId),
    /// A question or an order of an operator.
    Inquire(Arc<Inquiry>),
    /// The server stops. Every accepted broadcast is in front of this letter, so the sessions may end.
    Drain,
}

/// Completes a publication when all its listeners are served.
#[derive(Debug)]
pub(crate) struct Completion {
    started: Instant,
    duration: Histogram,
    /// Its drop notifies the waiting publisher; see [`crate::Publisher::deliver`].
    _waiting: Option<oneshot::Sender<()>>,
}

impl Completion {
    /// Starts the measurement; `duration` records the result.
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
            body: Body::Passing(match options.broadcast_type {
                Some(kind) => Payload::Typed { kind, text },
                None => Payload::Json(text),
            }),
            excluded: options.exclude_socket.map(Excluded::Sid),
            room: None,
            _completion: completion,
        }
    }
}
