//! The state that the tasks of one shard share.

use std::{
    cell::{Cell, RefCell},
    collections::BTreeMap,
    rc::Rc,
    sync::Arc,
};

use plimsoll_hub::{Budget, Format, Hub, SessionId};
use plimsoll_websocket as websocket;
use tokio::{sync::Notify, time::Instant};

use crate::{
    Config, Publisher,
    admin::Admin,
    application::Application,
    archive::{Archive, View},
    awaited::Awaited,
    calls_under_way::CallsUnderWay,
    connection::Connection,
    deadlines::Deadlines,
    encoding, engine,
    heartbeat::{Heartbeat, TICK},
    idempotency::Publications,
    identities::Identities,
    mailbox::Outgoing,
    metrics::Metrics,
    open_connections::OpenConnections,
    pace::Pace,
    pending_subscriptions::PendingSubscriptions,
    pongs::Pongs,
    request_bodies::RequestBodies,
    ring::Ring,
    roll::Roll,
    webhook::Herald,
};

/// Size of the buffer into which all sessions of a shard are read. A typical command is a few hundred bytes; 64 KiB
/// takes the largest default message in one read.
const SCRATCH_BYTES: usize = 64 * 1024;

/// The sessions of a shard.
pub(crate) type Sessions = Hub<Rc<Connection>, Arc<Outgoing>>;

/// The state of one shard. It stays on its thread; a `RefCell` is borrowed only between two `await`s.
pub(crate) struct Shard {
    pub(crate) number: usize,
    pub(crate) config: Arc<Config>,
    pub(crate) application: Arc<dyn Application>,
    pub(crate) publisher: Publisher,
    pub(crate) shared: Shared,
    pub(crate) hub: RefCell<Sessions>,
    /// Sends to many sessions at once. `None`: each is sent to by a system call.
    pub(crate) ring: Option<RefCell<Ring>>,
    /// What the shard has seen of the archive. `None`: there is none.
    pub(crate) view: Option<View>,
    pub(crate) heartbeat: RefCell<Heartbeat>,
    /// The clients whose answers to pings are watched. `None`: no answers are demanded.
    pub(crate) pongs: Option<RefCell<Pongs>>,
    pub(crate) closing: RefCell<Deadlines>,
    pub(crate) identities: RefCell<Identities>,
    pub(crate) codec: Codec,
    pub(crate) metrics: Metrics,
    /// Sessions whose socket is full at the moment, and since when.
    pub(crate) blocked: RefCell<BTreeMap<SessionId, Instant>>,
    /// The memory use at which room is made; see [`crate::memory`].
    pub(crate) makes_room_at: Cell<usize>,
    pub(crate) calls: CallsUnderWay,
    /// Clients that were refused because of their sub-protocols.
    pub(crate) not_served: Cell<u64>,
    pub(crate) draining: Draining,
}

/// The state that all shards share.
#[derive(Clone)]
pub(crate) struct Shared {
    pub(crate) open_connections: OpenConnections,
    pub(crate) pending_subscriptions: PendingSubscriptions,
    pub(crate) request_bodies: RequestBodies,
    /// Publications of the REST API with a key, so that none is repeated.
    pub(crate) publications: Arc<Publications>,
    /// The messages that are kept. `None`: none are.
    pub(crate) archive: Option<Arc<Archive>>,
    /// Sessions whose clients may come back. `None`: no session is resumed.
    pub(crate) awaited: Option<Arc<Awaited>>,
    /// Who is present on each stream. `None`: presence is not kept.
    pub(crate) roll: Option<Arc<Roll>>,
    /// Tells the webhook who comes and leaves. `None`: there is none.
    pub(crate) herald: Option<Arc<Herald>>,
    /// The admin page's state, if there is such a page.
    pub(crate) admin: Option<Arc<Admin>>,
}

/// What the sessions of a shard read and write with, one after another.
pub(crate) struct Codec {
    /// The one buffer into which all sessions are read.
    pub(crate) scratch: RefCell<Box<[u8]>>,
    pub(crate) deflater: RefCell<websocket::deflate::Deflater>,
    /// The limits and extensions of all decoders.
    pub(crate) decoding: websocket::Config,
}

/// The end of a shard, and the two moments in which a server that stops waits for its shards.
#[derive(Default)]
pub(crate) struct Draining {
    /// Whether the clients are being sent away one after the other.
    pub(crate) sends_away: Cell<bool>,
    /// Told once, when every broadcast that the server took is in the outboxes.
    pub(crate) may_drain: Notify,
    /// Notified whenever the last session is gone.
    pub(crate) emptied: Notify,
}

impl Codec {
    fn new(config: &Config) -> Self {
        Self {
            scratch: RefCell::new(vec![0; SCRATCH_BYTES].into_boxed_slice()),
            deflater: RefCell::new(websocket::deflate::Deflater::new(
                websocket::deflate::Direction::STATELESS,
            )),
            decoding: websocket::Config {
                role: websocket::Role::Server,
                max_message_bytes: config.max_message_bytes,
                deflate: config.compresses.then(websocket::deflate::Preferences::default),
            },
        }
    }
}

impl Shard {
    pub(crate) fn new(
        number: usize,
        config: Arc<Config>,
        application: Arc<dyn Application>,
        publisher: Publisher,
        shared: Shared,
    ) -> Self {
        let budget = Budget::new(config.max_pending_total / config.n_shards);
        let mut hub = Hub::new(config.max_pending_bytes, budget);
        if let Some(engine) = &config.engine {
            hub.watch_streams(engine::watcher(Arc::clone(engine)));
        }
        let metrics = Metrics::new(&config.registry);
        let ring = if config.uses_io_uring { ring() } else { None };
        metrics.rings.add(ring.iter().len() as i64);
        Self {
            number,
            view: shared.archive.clone().map(View::new),
            makes_room_at: Cell::new(hub.budget().tight_at()),
            hub: RefCell::new(hub),
            ring,
            heartbeat: RefCell::new(Heartbeat::new(Pace::new(
                config.ping_interval,
                config.ping_precision,
            ))),
            pongs: config
                .pong_timeout
                .map(|timeout| RefCell::new(Pongs::new(timeout, TICK))),
            closing: RefCell::default(),
            identities: RefCell::default(),
            codec: Codec::new(&config),
            application,
            publisher,
            shared,
            metrics,
            blocked: RefCell::default(),
            config,
            calls: CallsUnderWay::default(),
            not_served: Cell::new(0),
            draining: Draining::default(),
        }
    }

    /// Whether clients are to use another server: this one sends its clients away, or takes no more work at all.
    pub(crate) fn is_stopping(&self) -> bool {
        self.draining.sends_away.get() || self.publisher.is_closed()
    }

    /// Adds a connection to the hub; `format` is one of [`crate::encoding`]'s.
    pub(crate) fn open_session(self: &Rc<Self>, connection: Rc<Connection>, format: Format) -> OpenSession {
        let id = self.hub.borrow_mut().insert(connection, format);
        self.metrics.clients.add(1);
        if encoding::event_stream(format).is_some() {
            self.metrics.event_streams.add(1);
        }
        OpenSession {
            shard: Rc::clone(self),
            id,
        }
    }
}

/// A session's entry in the hub. Its drop removes the session from the hub, however the session's task ends.
pub(crate) struct OpenSession {
    pub(crate) shard: Rc<Shard>,
    pub(crate) id: SessionId,
}

impl Drop for OpenSession {
    fn drop(&mut self) {
        let metrics = &self.shard.metrics;
        let mut hub = self.shard.hub.borrow_mut();
        if let Some((connection, outbox)) = hub.get_mut(self.id) {
            metrics.failed_server_messages.add(outbox.n_frames() as u64);
            // Otherwise the task that waits for room would keep the connection for as long as its client does not read.
            if outbox.is_blocked() {
                connection.cut();
            }
        }
        if hub.format(self.id).and_then(encoding::event_stream).is_some() {
            metrics.event_streams.sub(1);
        }
        drop(hub.remove(self.id));
        metrics.clients.sub(1);
        if hub.is_empty() {
            self.shard.draining.emptied.notify_waiters();
        }
    }
}

/// A ring, if the kernel still permits one: it was asked before the server started.
fn ring() -> Option<RefCell<Ring>> {
    match Ring::new() {
        Ok(ring) => Some(RefCell::new(ring)),
        Err(error) => {
            tracing::warn!(
                "A thread writes with a system call for each client: io_uring is not available ({error})."
            );
            None
        }
    }
}
