//! Sends messages to the shards.

use std::sync::Arc;

use plimsoll_cable::broadcast::{
    self, Broadcast, BroadcastError, DeliveryOptions, Publication, RemoteDisconnect,
};
use plimsoll_hub::SessionId;
use plimsoll_telemetry::{Counter, Histogram, Registry};
use smallvec::SmallVec;
use tokio::sync::{
    OwnedSemaphorePermit, Semaphore,
    mpsc::{self, error::TrySendError},
    oneshot,
};

use crate::{
    admin::Inquiry,
    archive::Archive,
    awaited::Awaited,
    engine::{Engine, EngineError},
    intake::Intake,
    mailbox::{Body, Completion, Excluded, Letter, Outgoing, Payload},
    presence_store::Membership,
};

mod members;
mod positions;

/// The capacity of one shard's mailbox, in letters. Overflow rule: the publisher waits, which slows the source down (a
/// client's connection is not read meanwhile, a broadcast request is not answered yet).
const CAPACITY: usize = 1024;

/// The unit in which payloads on their way are counted, in bytes.
const ROOM_UNIT: usize = 1024;

/// The largest payload of a backend, in bytes: a batch of a thousand messages of a kilobyte fits.
pub const MAX_BROADCAST_BYTES: usize = 1 << 20;

/// Sends publications to every shard.
#[derive(Debug, Clone)]
pub struct Publisher {
    mailboxes: Arc<[mpsc::Sender<Letter>]>,
    room: Arc<Semaphore>,
    max_room: u32,
    metrics: Arc<Metrics>,
    intake: Intake,
    /// Where messages are kept. `None`: they are not.
    archive: Option<Arc<Archive>>,
    /// Sessions that wait for their clients. `None`: none do.
    awaited: Option<Arc<Awaited>>,
    /// Who is present. `None`: no client is.
    members: Option<Arc<dyn Membership>>,
    /// The way to the other servers of a cluster. `None`: this server is alone.
    engine: Option<Arc<dyn Engine>>,
}

/// What the server keeps for clients that are away.
#[derive(Debug, Default)]
pub(crate) struct Kept {
    pub(crate) archive: Option<Arc<Archive>>,
    pub(crate) awaited: Option<Arc<Awaited>>,
    pub(crate) members: Option<Arc<dyn Membership>>,
}

/// The type of whispers between the servers of a cluster. Clients do not see it (docs/protocols/extended.md, Whispers).
const WHISPER: &str = "whisper";

/// Why a backend's broadcast was not accepted. No part of it was published, unless the connection to the engine broke in
/// the middle of a batch.
#[derive(Debug, thiserror::Error)]
pub enum AcceptError {
    /// The payload is not valid.
    #[error(transparent)]
    Invalid(#[from] BroadcastError),
    /// The sessions of this server are ending. Another server has to publish the message.
    #[error("the server is stopping")]
    Stopping,
    /// The engine of the cluster did not take it.
    #[error(transparent)]
    Engine(#[from] EngineError),
}

/// Counters of broadcasts under AnyCable's names, and a histogram that AnyCable lacks (docs/reference/metrics.md).
#[derive(Debug)]
struct Metrics {
    publications: Counter,
    broadcasts: Counter,
    remote_commands: Counter,
    failed: Counter,
    unsent: Counter,
    duration: Histogram,
}

impl Publisher {
    /// Creates the mailboxes of `n_shards` shards. At most `max_bytes` bytes of payloads may be on their way to them.
    pub(crate) fn new(
        n_shards: usize,
        max_bytes: usize,
        kept: Kept,
        engine: Option<Arc<dyn Engine>>,
        registry: &Registry,
    ) -> (Self, Vec<mpsc::Receiver<Letter>>) {
        let max_room = u32::try_from(max_bytes / ROOM_UNIT).unwrap_or(u32::MAX).max(1);
        let (senders, receivers): (Vec<_>, _) = (0..n_shards).map(|_| mpsc::channel(CAPACITY)).unzip();
        (
            Self {
                mailboxes: senders.into(),
                room: Arc::new(Semaphore::new(max_room as usize)),
                max_room,
                metrics: Arc::new(Metrics::new(registry)),
                intake: Intake::default(),
                archive: kept.archive,
                awaited: kept.awaited,
                members: kept.members,
                engine,
            },
            receivers,
        )
    }

    /// Sends a message to all listeners of its stream, in a cluster on all servers. Waits only while a shard's mailbox is
    /// full, or until the engine of the cluster has the message; if it is away, the message is dropped and counted.
    /// Messages of one caller arrive in the order of its calls.
    pub async fn publish(&self, publication: Publication) {
        if let Some(engine) = &self.engine {
            return self.count_unsent(engine.publish(vec![publication]).await);
        }
        self.hear(publication).await;
    }

    /// Sends a message to all listeners on this server: one of the engine, or one that every server gets.
    pub async fn hear(&self, publication: Publication) {
        let completion = self.completion(None);
        self.post_publication(publication, completion).await;
    }

    /// Like [`Publisher::publish`], but waits until the message is written to every listener whose socket has room. For
    /// callers whose next message must not overtake this one. In a cluster, until the engine has the message.
    pub async fn deliver(&self, publication: Publication) {
        if self.engine.is_some() {
            return self.publish(publication).await;
        }
        let (completion, completed) = oneshot::channel();
        let completion = self.completion(Some(completion));
        self.post_publication(publication, completion).await;
        // No value is ever sent; the drop of the sender is the signal.
        let _dropped = completed.await;
    }

    /// Publishes a backend's payload of up to [`MAX_BROADCAST_BYTES`]. When this returns, all shards have it, and every
    /// listening session gets it before its connection ends; in a cluster, the engine has it.
    ///
    /// # Errors
    /// See [`AcceptError`].
    pub async fn accept(&self, payload: &[u8]) -> Result<(), AcceptError> {
        self.accept_once(payload, None).await
    }

    /// Like [`Publisher::accept`]. An engine that keeps messages takes a payload with one key once.
    ///
    /// # Errors
    /// See [`AcceptError`].
    pub async fn accept_once(&self, payload: &[u8], key: Option<&str>) -> Result<(), AcceptError> {
        let Some(engine) = &self.engine else {
            return self.accept_here(payload).await;
        };
        let _pass = self.intake.enter().ok_or(AcceptError::Stopping)?;
        match self.parse(payload)? {
            Broadcast::Publications(publications) => {
                let n_publications = publications.len();
                engine.publish_once(publications, key).await?;
                self.metrics.publications.add(n_publications as u64);
            }
            Broadcast::Disconnect(command) => engine.disconnect(command).await?,
        }
        Ok(())
    }

    /// Like [`Publisher::accept`], but only for the clients of this server: for payloads that every server gets.
    ///
    /// # Errors
    /// See [`AcceptError`].
    pub async fn accept_here(&self, payload: &[u8]) -> Result<(), AcceptError> {
        let _pass = self.intake.enter().ok_or(AcceptError::Stopping)?;
        match self.parse(payload)? {
            Broadcast::Publications(publications) => {
                self.metrics.publications.add(publications.len() as u64);
                for publication in publications {
                    self.hear(publication).await;
                }
            }
            Broadcast::Disconnect(command) => self.hear_disconnect(command).await,
        }
        Ok(())
    }

    fn parse(&self, payload: &[u8]) -> Result<Broadcast, BroadcastError> {
        broadcast::parse(payload).inspect_err(|_| self.metrics.failed.increment())
    }

    /// Handles a payload that the engine has delivered: a message or a command, of this server or another one. One that
    /// is not valid is counted.
    ///
    /// # Errors
    /// The payload is not valid.
    pub async fn hear_payload(&self, payload: &[u8]) -> Result<(), BroadcastError> {
        match self.parse(payload)? {
            Broadcast::Publications(publications) => {
                for mut publication in publications {
                    let kind = &mut publication.options.broadcast_type;
                    kind.take_if(|kind| **kind == *WHISPER);
                    self.hear(publication).await;
                }
            }
            Broadcast::Disconnect(command) => self.hear_disconnect(command).await,
        }
        Ok(())
    }

    /// Ends the sessions of this server that a command names.
    pub async fn hear_disconnect(&self, command: RemoteDisconnect) {
        self.metrics.remote_commands.increment();
        self.metrics.broadcasts.increment();
        let farewells = self
            .awaited
            .iter()
            .flat_map(|awaited| awaited.revoke(&command.identifiers));
        let farewells: Vec<_> = farewells.collect();
        if !farewells.is_empty() {
            let farewells = Letter::Farewells(farewells);
            post(&self.mailboxes[0], farewells).await;
        }
        let command = Arc::new(command);
        for mailbox in self.mailboxes.iter() {
            post(mailbox, Letter::Disconnect(Arc::clone(&command))).await;
        }
    }

    /// Puts a question of an operator to all shards.
    pub(crate) async fn inquire(&self, inquiry: Inquiry) {
        let inquiry = Arc::new(inquiry);
        for mailbox in self.mailboxes.iter() {
            post(mailbox, Letter::Inquire(Arc::clone(&inquiry))).await;
        }
    }

    /// Counts a message of a client or of an embedded application that the engine did not take.
    fn count_unsent(&self, sent: Result<(), EngineError>) {
        if let Err(error) = sent {
            self.metrics.unsent.increment();
            tracing::debug!(%error, "A message is dropped.");
        }
    }

    /// Accepts no more broadcasts of backends, and then tells every shard, behind the last broadcast, that its sessions
    /// may end.
    pub(crate) async fn close(&self) {
        self.intake.close().await;
        for mailbox in self.mailboxes.iter() {
            post(mailbox, Letter::Drain).await;
        }
    }

    /// Whether the server takes no more work because it is stopping. All shards see the change at the same moment.
    pub(crate) fn is_closed(&self) -> bool {
        self.intake.is_closed()
    }

    /// Completes when the server takes no more work.
    pub(crate) async fn closed(&self) {
        self.intake.closed().await;
    }

    pub(crate) async fn deliver_payload(&self, stream: String, payload: Payload) {
        let (completion, completed) = oneshot::channel();
        self.post_to_all(Outgoing {
            stream,
            body: Body::Passing(payload),
            excluded: None,
            room: None,
            _completion: self.completion(Some(completion)),
        })
        .await;
        let _dropped = completed.await;
    }

    /// Sends a client's whisper to the other listeners of a stream. `message` is JSON text; the sender is named by its
    /// shard, its number there, and its session id.
    pub(crate) async fn whisper(
        &self,
        (shard, sender, sid): (usize, SessionId, &str),
        stream: String,
        message: String,
    ) {
        if self.engine.is_some() {
            let whisper = Publication {
                stream,
                message,
                options: DeliveryOptions {
                    exclude_socket: Some(sid.into()),
                    broadcast_type: Some(WHISPER.into()),
                    is_transient: true,
                },
            };
            return self.publish(whisper).await;
        }
        self.post_to_all(Outgoing {
            stream,
            body: Body::Passing(Payload::Json(message)),
            excluded: Some(Excluded::Session { shard, id: sender }),
            room: None,
            _completion: self.completion(None),
        })
        .await;
    }

    /// A session of this server goes on elsewhere, or is to: its connection is cut.
    pub async fn release(&self, sid: &str) {
        let open = self.awaited.as_ref().and_then(|awaited| awaited.find_open(sid));
        if let Some(open) = open {
            self.replace(open.shard, open.session).await;
        }
    }

    /// Cuts a session's connection on shard number `shard`, because its client has come back with another one.
    pub(crate) async fn replace(&self, shard: usize, session: SessionId) {
        post(&self.mailboxes[shard], Letter::Replace(session)).await;
    }

    /// Sends to one session of shard number `shard`, behind all earlier publications.
    pub(crate) async fn send_direct(&self, shard: usize, session: SessionId, payload: Payload) {
        post(&self.mailboxes[shard], Letter::Direct(session, payload)).await;
    }

    fn completion(&self, waiting: Option<oneshot::Sender<()>>) -> Completion {
        Completion::new(self.metrics.duration.clone(), waiting)
    }

    async fn post_publication(&self, publication: Publication, completion: Completion) {
        let archive = self
            .archive
            .as_ref()
            .filter(|_| !publication.options.is_transient);
        let outgoing = Outgoing::new(publication, completion);
        match archive {
            Some(archive) => self.keep_and_post(archive, outgoing).await,
            None => self.post_to_all(outgoing).await,
        }
    }

    /// Keeps a message and posts it to all shards. All mailboxes take the messages of a stream in the order of their
    /// offsets, and if the caller gives up, either all of this happened or nothing.
    async fn keep_and_post(&self, archive: &Archive, outgoing: Outgoing) {
        let places = self.reserve(outgoing.body.payload().len()).await;
        archive.keep(outgoing, |outgoing| places.fill(outgoing));
    }

    /// Reserves places for one message of up to `n_bytes` bytes in the mailboxes of all shards. A caller that changes
    /// something under a lock can then post the news of it under the same lock.
    pub(crate) async fn reserve(&self, n_bytes: usize) -> Places<'_> {
        let room = self.room(n_bytes).await;
        let mut in_mailboxes: SmallVec<[_; 8]> = SmallVec::new();
        for mailbox in self.mailboxes.iter() {
            // A closed mailbox means that the server is stopping.
            in_mailboxes.extend(mailbox.reserve().await.ok());
        }
        Places {
            publisher: self,
            room,
            in_mailboxes,
        }
    }

    /// Waits until a payload may be on its way. A payload larger than all the room waits until no other is on its way.
    async fn room(&self, n_bytes: usize) -> Option<OwnedSemaphorePermit> {
        let n_units = u32::try_from(n_bytes / ROOM_UNIT + 1).unwrap_or(u32::MAX);
        let room = Arc::clone(&self.room).acquire_many_owned(n_units.min(self.max_room));
        room.await.ok()
    }

    /// Posts to all shards, after waiting for room.
    async fn post_to_all(&self, mut outgoing: Outgoing) {
        outgoing.room = self.room(outgoing.body.payload().len()).await;
        self.metrics.broadcasts.increment();
        let outgoing = Arc::new(outgoing);
        for mailbox in self.mailboxes.iter() {
            post(mailbox, Letter::Publish(Arc::clone(&outgoing))).await;
        }
    }
}

/// Places for one message in the mailboxes of all shards. The drop of unused ones frees them.
pub(crate) struct Places<'a> {
    publisher: &'a Publisher,
    room: Option<OwnedSemaphorePermit>,
    in_mailboxes: SmallVec<[mpsc::Permit<'a, Letter>; 8]>,
}

impl Places<'_> {
    /// Posts a message that is not kept.
    pub(crate) fn post(self, stream: String, payload: Payload) {
        let outgoing = Outgoing {
            stream,
            body: Body::Passing(payload),
            excluded: None,
            room: None,
            _completion: self.publisher.completion(None),
        };
        self.fill(outgoing);
    }

    /// Posts a letter to each shard.
    fn fill_with(self, letter: impl Fn() -> Letter) {
        for place in self.in_mailboxes {
            place.send(letter());
        }
    }

    fn fill(self, mut outgoing: Outgoing) {
        outgoing.room = self.room;
        self.publisher.metrics.broadcasts.increment();
        let outgoing = Arc::new(outgoing);
        for place in self.in_mailboxes {
            place.send(Letter::Publish(Arc::clone(&outgoing)));
        }
    }
}

impl Metrics {
    fn new(registry: &Registry) -> Self {
        Self {
            publications: registry.counter("publications_total", "Messages accepted from backends."),
            broadcasts: registry.counter(
                "broadcast_msg_total",
                "Messages and commands handed to the clients of this server.",
            ),
            remote_commands: registry.counter("remote_commands_total", "Commands accepted from backends."),
            failed: registry.counter("failed_broadcast_msg_total", "Invalid payloads from backends."),
            unsent: registry.counter(
                "cluster_unsent_msg_total",
                "Messages of clients and embedded applications that the cluster's engine did not take.",
            ),
            duration: registry.histogram(
                "broadcast_duration_seconds",
                "Time from accepting a message to its last write on this server.",
                &[],
            ),
        }
    }
}

/// Posts a letter. A closed mailbox means that the server is stopping, so the letter is dropped.
async fn post(mailbox: &mpsc::Sender<Letter>, letter: Letter) {
    if let Err(TrySendError::Full(letter)) = mailbox.try_send(letter) {
        drop(mailbox.send(letter).await);
    }
}

#[cfg(test)]
mod tests {
    use std::pin::Pin;

    use plimsoll_telemetry::Value;

    use super::*;

    fn value(registry: &Registry, name: &str) -> u64 {
        let snapshot = registry.snapshot();
        match &snapshot.metric(name).expect("it is registered").series[0].value {
            Value::Counter(count) => *count,
            Value::Histogram(histogram) => histogram.count(),
            Value::Gauge(_) => panic!("{name} is not a gauge"),
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
        let (publisher, _mailboxes) = Publisher::new(3, 1 << 20, Kept::default(), None, &registry);
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
        let (publisher, mut mailboxes) = Publisher::new(2, 1 << 20, Kept::default(), None, &registry);
        publisher.publish(Publication::from_json("a", "1")).await;
        let n_done = || value(&registry, "broadcast_duration_seconds");
        drop(mailboxes[0].recv().await);
        assert_eq!(n_done(), 0);
        drop(mailboxes[1].recv().await);
        assert_eq!(n_done(), 1);
    }

    async fn is_waiting(publishing: Pin<&mut impl Future<Output = ()>>) -> bool {
        tokio::select! {
            biased;
            () = publishing => false,
            () = std::future::ready(()) => true,
        }
    }

    #[tokio::test]
    async fn a_publisher_waits_while_too_many_bytes_are_on_their_way() {
        let (publisher, mut mailboxes) =
            Publisher::new(2, 100 * 1024, Kept::default(), None, &Registry::default());
        let message = |n_bytes| Publication::from_json("a", "x".repeat(n_bytes));
        publisher.publish(message(60 * 1024)).await;
        let mut second = std::pin::pin!(publisher.publish(message(60 * 1024)));
        assert!(is_waiting(second.as_mut()).await);
        drop(mailboxes[0].recv().await);
        assert!(is_waiting(second.as_mut()).await, "the other shard still has it");
        drop(mailboxes[1].recv().await);
        second.await;
        drop((mailboxes[0].recv().await, mailboxes[1].recv().await));
        publisher.publish(message(1 << 20)).await;
    }
}
