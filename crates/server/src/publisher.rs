//! How messages reach the shards.

use std::sync::Arc;

use plimsoll_cable::broadcast::{self, Broadcast, BroadcastError, Publication};
use plimsoll_hub::SessionId;
use plimsoll_telemetry::{Counter, Histogram, Registry};
use tokio::sync::{
    mpsc::{self, error::TrySendError},
    oneshot,
};

use crate::mailbox::{Completion, Excluded, Letter, Outgoing, Payload};

/// Letters that may wait for one shard. Overflow rule: the publisher waits, so that pressure reaches whoever
/// publishes (a client's connection is not read meanwhile, a broadcast request is not answered yet).
const CAPACITY: usize = 1024;

/// The largest payload of a backend, in bytes: a batch of a thousand messages of a kilobyte fits.
pub const MAX_BROADCAST_BYTES: usize = 1 << 20;

/// The type of messages that a client sends to the others, as AnyCable names it.
const WHISPER: &str = "whisper";

/// Sends publications to every shard.
#[derive(Debug, Clone)]
pub struct Publisher {
    mailboxes: Arc<[mpsc::Sender<Letter>]>,
    metrics: Arc<Metrics>,
}

/// What is counted of broadcasts, under AnyCable's names (spec §6); the duration is ours.
#[derive(Debug)]
struct Metrics {
    publications: Counter,
    broadcasts: Counter,
    remote_commands: Counter,
    failed: Counter,
    duration: Histogram,
}

impl Publisher {
    /// Makes the mailboxes of `n_shards` shards.
    pub(crate) fn new(n_shards: usize, registry: &Registry) -> (Self, Vec<mpsc::Receiver<Letter>>) {
        let (senders, receivers): (Vec<_>, _) = (0..n_shards).map(|_| mpsc::channel(CAPACITY)).unzip();
        (
            Self {
                mailboxes: senders.into(),
                metrics: Arc::new(Metrics::new(registry)),
            },
            receivers,
        )
    }

    /// Sends a message to all listeners of its stream; waits only while a shard's mailbox is full. Messages of
    /// one caller arrive in the order of its calls.
    pub async fn publish(&self, publication: Publication) {
        self.post_to_all(Outgoing::new(publication, self.completion(None)))
            .await;
    }

    /// As [`Publisher::publish`], and waits until the message is written to every listener whose connection
    /// takes it. For those who must not get ahead of their own messages.
    pub async fn deliver(&self, publication: Publication) {
        let (completion, completed) = oneshot::channel();
        let completion = self.completion(Some(completion));
        self.post_to_all(Outgoing::new(publication, completion)).await;
        // Nobody ever sends: the sender's drop is the message.
        let _dropped = completed.await;
    }

    /// Carries out a broadcast payload as a backend sent it, of up to [`MAX_BROADCAST_BYTES`]. When this returns, all
    /// shards have it.
    ///
    /// # Errors
    /// When the payload is not valid; nothing of it was done then.
    pub async fn accept(&self, payload: &[u8]) -> Result<(), BroadcastError> {
        let broadcast = broadcast::parse(payload).inspect_err(|_| self.metrics.failed.increment())?;
        match broadcast {
            Broadcast::Publications(publications) => {
                self.metrics.publications.add(publications.len() as u64);
                for publication in publications {
                    self.publish(publication).await;
                }
            }
            Broadcast::Disconnect(command) => {
                self.metrics.remote_commands.increment();
                self.metrics.broadcasts.increment();
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
            _completion: self.completion(Some(completion)),
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
            _completion: self.completion(None),
        })
        .await;
    }

    /// Sends to one session of shard number `shard`, behind everything published before.
    pub(crate) async fn send_direct(&self, shard: usize, session: SessionId, payload: Payload) {
        post(&self.mailboxes[shard], Letter::Direct(session, payload)).await;
    }

    fn completion(&self, waiting: Option<oneshot::Sender<()>>) -> Completion {
        Completion::new(self.metrics.duration.clone(), waiting)
    }

    async fn post_to_all(&self, outgoing: Outgoing) {
        self.metrics.broadcasts.increment();
        let outgoing = Arc::new(outgoing);
        for mailbox in self.mailboxes.iter() {
            post(mailbox, Letter::Publish(Arc::clone(&outgoing))).await;
        }
    }
}

impl Metrics {
    fn new(registry: &Registry) -> Self {
        Self {
            publications: registry.counter("publications_total", "Messages taken from backends."),
            broadcasts: registry.counter(
                "broadcast_msg_total",
                "Messages and commands handed to the clients of this server.",
            ),
            remote_commands: registry.counter("remote_commands_total", "Commands taken from backends."),
            failed: registry.counter(
                "failed_broadcast_msg_total",
                "Payloads from backends that are not valid.",
            ),
            duration: registry.histogram(
                "broadcast_duration_seconds",
                "From taking a message to its last write on this server.",
                &[],
            ),
        }
    }
}

/// A closed mailbox means that the server stops; the letter has nobody left to read it.
async fn post(mailbox: &mpsc::Sender<Letter>, letter: Letter) {
    if let Err(TrySendError::Full(letter)) = mailbox.try_send(letter) {
        drop(mailbox.send(letter).await);
    }
}

#[cfg(test)]
mod tests {
    use plimsoll_telemetry::Value;

    use super::*;

    fn value(registry: &Registry, name: &str) -> u64 {
        let snapshot = registry.snapshot();
        match &snapshot.metric(name).expect("it is registered").series[0].value {
            Value::Counter(count) => *count,
            Value::Histogram(histogram) => histogram.count(),
            Value::Gauge(_) => panic!("{name} is no gauge"),
        }
    }

    #[track_caller]
    fn check(registry: &Registry, expected: [u64; 4]) {
        let names = [
            "publications_total",
            "broadcast_msg_total",
            "remote_commands_total",
            "failed_broadcast_msg_total",
        ];
        assert_eq!(names.map(|name| value(registry, name)), expected, "{names:?}");
    }

    #[tokio::test]
    async fn counts_once_per_server_however_many_shards_there_are() {
        let registry = Registry::default();
        let (publisher, _mailboxes) = Publisher::new(3, &registry);
        check(&registry, [0; 4]);
        let batch = br#"[{"stream":"a","data":"1"},{"stream":"b","data":"2"}]"#;
        publisher.accept(batch).await.expect("valid");
        check(&registry, [2, 2, 0, 0]);
        let disconnect = br#"{"command":"disconnect","payload":{"identifier":"i"}}"#;
        publisher.accept(disconnect).await.expect("valid");
        check(&registry, [2, 3, 1, 0]);
        publisher.accept(b"nonsense").await.expect_err("invalid");
        check(&registry, [2, 3, 1, 1]);
        publisher.publish(Publication::from_json("a", "3")).await;
        check(&registry, [2, 4, 1, 1]);
    }

    #[tokio::test]
    async fn a_message_takes_until_the_last_shard_is_done_with_it() {
        let registry = Registry::default();
        let (publisher, mut mailboxes) = Publisher::new(2, &registry);
        publisher.publish(Publication::from_json("a", "1")).await;
        let n_done = || value(&registry, "broadcast_duration_seconds");
        drop(mailboxes[0].recv().await);
        assert_eq!(n_done(), 0);
        drop(mailboxes[1].recv().await);
        assert_eq!(n_done(), 1);
    }
}
