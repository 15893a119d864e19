//! How publications reach the shards.

use std::sync::Arc;

use plimsoll_cable::broadcast::{self, Broadcast, BroadcastError, Publication, RemoteDisconnect};
use plimsoll_hub::SessionId;
use tokio::sync::{
    mpsc::{self, error::TrySendError},
    oneshot,
};

/// Letters that may wait for one shard. Overflow rule: the publisher waits, so that pressure reaches whoever
/// publishes (a client's connection is not read meanwhile, a broadcast request is not answered yet).
const CAPACITY: usize = 1024;

/// Something that all listeners of a stream get. Every shard holds it until its listeners are served, so its
/// drop tells that all are.
#[derive(Debug)]
pub(crate) struct Outgoing {
    pub(crate) stream: String,
    pub(crate) payload: Payload,
    /// A listener who gets nothing.
    pub(crate) excluded: Option<Excluded>,
    /// Dropped with the publication; see [`Publisher::deliver`].
    _completion: Option<oneshot::Sender<()>>,
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

/// Which session does not get a publication.
#[derive(Debug)]
pub(crate) enum Excluded {
    /// The one with this session id, on whatever shard it is.
    Sid(Box<str>),
    /// This one of the shard with this number.
    Session { shard: usize, id: SessionId },
}

/// The type of messages that a client sends to the others, as AnyCable names it.
const WHISPER: &str = "whisper";

/// What a shard finds in its mailbox.
#[derive(Debug)]
pub(crate) enum Letter {
    /// For every listener of a stream on this shard.
    Publish(Arc<Outgoing>),
    /// For one session of this shard, after everything that was published before it.
    Direct(SessionId, Payload),
    /// For every session of this shard with these identifiers, after everything that was published before it.
    Disconnect(Arc<RemoteDisconnect>),
}

/// Sends publications to every shard.
#[derive(Debug, Clone)]
pub struct Publisher {
    mailboxes: Arc<[mpsc::Sender<Letter>]>,
}

impl Publisher {
    /// Makes the mailboxes of `n_shards` shards.
    pub(crate) fn new(n_shards: usize) -> (Self, Vec<mpsc::Receiver<Letter>>) {
        let (senders, receivers): (Vec<_>, _) = (0..n_shards).map(|_| mpsc::channel(CAPACITY)).unzip();
        (
            Self {
                mailboxes: senders.into(),
            },
            receivers,
        )
    }

    /// Sends a message to all listeners of its stream; waits only while a shard's mailbox is full. Messages of
    /// one caller arrive in the order of its calls.
    pub async fn publish(&self, publication: Publication) {
        self.post_to_all(Outgoing::new(publication, None)).await;
    }

    /// As [`Publisher::publish`], and waits until the message is written to every listener whose connection
    /// takes it. For those who must not get ahead of their own messages.
    pub async fn deliver(&self, publication: Publication) {
        let (completion, completed) = oneshot::channel();
        self.post_to_all(Outgoing::new(publication, Some(completion)))
            .await;
        // Nobody ever sends: the sender's drop is the message.
        let _dropped = completed.await;
    }

    /// Carries out a broadcast payload as a backend sent it. When this returns, all shards have it.
    ///
    /// # Errors
    /// When the payload is not valid; nothing of it was done then.
    pub async fn accept(&self, payload: &[u8]) -> Result<(), BroadcastError> {
        match broadcast::parse(payload)? {
            Broadcast::Publications(publications) => {
                for publication in publications {
                    self.publish(publication).await;
                }
            }
            Broadcast::Disconnect(command) => {
                let command = Arc::new(command);
                for mailbox in self.mailboxes.iter() {
                    post(mailbox, Letter::Disconnect(Arc::clone(&command))).await;
                }
            }
        }
        Ok(())
    }

    pub(crate) async fn deliver_payload(&self, stream: String, payload: Payload) {
        let (completion, completed) = oneshot::channel();
        self.post_to_all(Outgoing {
            stream,
            payload,
            excluded: None,
            _completion: Some(completion),
        })
        .await;
        let _dropped = completed.await;
    }

    /// Sends what a client says to the other listeners of a stream; `message` is JSON text.
    pub(crate) async fn whisper(&self, shard: usize, sender: SessionId, stream: String, message: String) {
        self.post_to_all(Outgoing {
            stream,
            payload: Payload::Typed {
                kind: WHISPER.into(),
                text: message,
            },
            excluded: Some(Excluded::Session { shard, id: sender }),
            _completion: None,
        })
        .await;
    }

    /// Sends to one session of shard number `shard`, behind everything published before.
    pub(crate) async fn send_direct(&self, shard: usize, session: SessionId, payload: Payload) {
        post(&self.mailboxes[shard], Letter::Direct(session, payload)).await;
    }

    async fn post_to_all(&self, outgoing: Outgoing) {
        let outgoing = Arc::new(outgoing);
        for mailbox in self.mailboxes.iter() {
            post(mailbox, Letter::Publish(Arc::clone(&outgoing))).await;
        }
    }
}

impl Outgoing {
    fn new(publication: Publication, completion: Option<oneshot::Sender<()>>) -> Self {
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
            _completion: completion,
        }
    }
}

/// A closed mailbox means that the server stops; the letter has nobody left to read it.
async fn post(mailbox: &mpsc::Sender<Letter>, letter: Letter) {
    if let Err(TrySendError::Full(letter)) = mailbox.try_send(letter) {
        drop(mailbox.send(letter).await);
    }
}
