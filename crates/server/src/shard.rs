//! What the tasks of one shard share.

use std::{
    cell::{Cell, RefCell},
    collections::BTreeMap,
    rc::Rc,
    sync::Arc,
};

use plimsoll_hub::{Format, Hub, SessionId};
use plimsoll_websocket as websocket;
use tokio::{sync::Notify, time::Instant};

use crate::{
    Config, Publisher, admin::Admin, application::Application, calls_under_way::CallsUnderWay,
    connection::Connection, deadlines::Deadlines, encoding, heartbeat::Heartbeat, identities::Identities,
    mailbox::Outgoing, metrics::Metrics, open_connections::OpenConnections, pace::Pace,
};

/// Size of the one buffer into which all sessions of a shard are read. An average command is a few hundred
/// bytes; 64 KiB takes the largest default message in one read.
const SCRATCH_BYTES: usize = 64 * 1024;

/// The sessions of a shard.
pub(crate) type Sessions = Hub<Rc<Connection>, Arc<Outgoing>>;

/// The state of one shard. It stays on its thread; a `RefCell` is borrowed only between two `await`s.
pub(crate) struct Shard {
    pub(crate) number: usize,
    pub(crate) config: Arc<Config>,
    pub(crate) application: Arc<dyn Application>,
    pub(crate) publisher: Publisher,
    /// What stands behind the admin page, if there is one.
    pub(crate) admin: Option<Arc<Admin>>,
    pub(crate) hub: RefCell<Sessions>,
    pub(crate) heartbeat: RefCell<Heartbeat>,
    pub(crate) closing: RefCell<Deadlines>,
    pub(crate) identities: RefCell<Identities>,
    pub(crate) scratch: RefCell<Box<[u8]>>,
    pub(crate) deflater: RefCell<websocket::deflate::Deflater>,
    pub(crate) decoding: websocket::Config,
    pub(crate) open_connections: OpenConnections,
    pub(crate) metrics: Metrics,
    /// Sessions whose connection takes no more bytes at the moment, and since when.
    pub(crate) blocked: RefCell<BTreeMap<SessionId, Instant>>,
    /// Set once at shutdown; new sessions are refused from then on.
    pub(crate) is_draining: Cell<bool>,
    pub(crate) calls: CallsUnderWay,
    /// Told whenever the last session is gone.
    pub(crate) emptied: Notify,
}

impl Shard {
    pub(crate) fn new(
        number: usize,
        config: Arc<Config>,
        application: Arc<dyn Application>,
        publisher: Publisher,
        open_connections: OpenConnections,
        admin: Option<Arc<Admin>>,
    ) -> Self {
        Self {
            number,
            hub: RefCell::new(Hub::new(config.max_pending_bytes)),
            heartbeat: RefCell::new(Heartbeat::new(Pace::new(
                config.ping_interval,
                config.ping_precision,
            ))),
            closing: RefCell::default(),
            identities: RefCell::default(),
            scratch: RefCell::new(vec![0; SCRATCH_BYTES].into_boxed_slice()),
            deflater: RefCell::new(websocket::deflate::Deflater::new(
                websocket::deflate::Direction::STATELESS,
            )),
            decoding: websocket::Config {
                role: websocket::Role::Server,
                max_message_bytes: config.max_message_bytes,
                deflate: config.compresses.then(websocket::deflate::Preferences::default),
            },
            application,
            publisher,
            admin,
            metrics: Metrics::new(&config.registry),
            blocked: RefCell::default(),
            config,
            open_connections,
            is_draining: Cell::new(false),
            calls: CallsUnderWay::default(),
            emptied: Notify::new(),
        }
    }

    /// Takes a connection into the hub; `format` is one of [`crate::encoding`]'s.
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

/// A session's entry in the hub; leaving the hub is tied to its end, however the session's task ends.
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
            // The task that waits for room would keep the connection for as long as its client does not read.
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
            self.shard.emptied.notify_waiters();
        }
    }
}
