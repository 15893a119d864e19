//! A server's settings. Their defaults and their names for people are defined by the command line.

use std::{fmt, num::NonZeroUsize, sync::Arc, time::Duration};

use plimsoll_broker::{Settings, presence};
use plimsoll_telemetry::{Metric, Registry, Tags};

use crate::{
    AllowedOrigins, Engine, Operations, PathPattern, PingPrecision, PresenceStore, ProxiedHeaders, Resuming,
    SessionStore, Tls, Webhook,
};

/// The settings of one server.
#[derive(Debug, Clone)]
pub struct Config {
    /// Paths that serve Action Cable, for example `/cable`.
    pub paths: Vec<PathPattern>,
    /// The path of event streams. `None` disables them.
    pub events_path: Option<String>,
    /// Reading streams over plain HTTP. `None` disables it. Without a broker there is nothing to read.
    pub durable_streams: Option<DurableStreams>,
    /// The path that answers 200 while the process lives.
    pub health_path: String,
    /// The path that answers 200 while every dependency of the server is up, and 503 otherwise.
    pub ready_path: String,
    /// The metrics page for Prometheus. `None` disables it.
    pub metrics_page: Option<MetricsPage>,
    /// The page for operators. `None` disables it.
    pub admin_page: Option<AdminPage>,
    /// Broadcasts over HTTP. `None` disables them.
    pub broadcasts: Option<Broadcasts>,
    /// The REST API. `None` disables it.
    pub api: Option<Api>,
    /// What the server keeps for clients that are away. `None`: nothing.
    pub broker: Option<Broker>,
    /// The way to the other servers of a cluster. `None`: this server is alone.
    pub engine: Option<Arc<dyn Engine>>,
    /// Where joins and leaves are told. `None`: nowhere. Without a broker there are none.
    pub presence_webhook: Option<Webhook>,
    /// The largest client message in bytes, after reassembly. A larger one ends the connection with code 1009.
    pub max_message_bytes: usize,
    /// The most unsent bytes for one connection. A slower client is disconnected.
    pub max_pending_bytes: usize,
    /// The memory limit for all clients together, in bytes: unsent frames and incomplete messages. Each shard has an
    /// equal part.
    pub max_pending_total: usize,
    /// The memory limit for all request bodies that are being read, in bytes, including the messages made from them.
    /// The same amount again is allowed for published messages that the shards have not taken yet.
    pub max_body_total: usize,
    /// Connections beyond this number are answered 503.
    pub max_connections: usize,
    /// Connections beyond this number from one IPv4 address, or one IPv6 network of 64 bits, are answered 429.
    pub max_connections_per_address: Option<NonZeroUsize>,
    /// The TLS settings of all listeners. `None`: the listeners speak plain TCP.
    pub tls: Option<Tls>,
    /// The origins whose pages may open a WebSocket or an event stream. Other pages get 403.
    pub allowed_origins: AllowedOrigins,
    /// Time between pings of a cable connection, at least a second.
    pub ping_interval: Duration,
    /// The unit of the timestamp in a ping. A client may ask for another unit, and for another interval.
    pub ping_precision: PingPrecision,
    /// How long a client may take to answer a ping: clients of the extended protocol, and with native pings all
    /// WebSocket clients. `None`: no answer is demanded.
    pub pong_timeout: Option<Duration>,
    /// Whether cable connections get WebSocket's own pings, too.
    pub native_pings: bool,
    /// How long a client may take for the TLS handshake and its whole request head.
    pub handshake_timeout: Duration,
    /// The request headers that the application receives.
    pub proxied_headers: ProxiedHeaders,
    /// The time over which a server that stops sends its clients away, one after the other, before it drains. Zero: it
    /// drains at once.
    pub slow_drain: Duration,
    /// How long the sessions may take to close at shutdown before they are cut off.
    pub drain_timeout: Duration,
    /// How long the whole shutdown may take, including the sessions' part. The application gets the remaining time, at
    /// least half a second, to receive the Disconnect calls.
    pub shutdown_timeout: Duration,
    /// Whether the paths `/echo`, `/json` and `/binary` exist. The application is not asked about their clients, and
    /// every client of the last two may publish to all others.
    pub serves_load_tests: bool,
    /// Whether every path except those for HTTP echoes. No other endpoint exists then.
    pub echoes_everywhere: bool,
    /// Whether `/` serves the demo's chat room, whose application is [`Chat`](crate::application::Chat).
    pub serves_demo_page: bool,
    /// Whether `/echo` greets a client before it echoes.
    pub greets_echo: bool,
    /// Whether messages for many clients go out through `io_uring`, where the kernel permits it.
    pub uses_io_uring: bool,
    /// Whether the server accepts permessage-deflate when a client offers it.
    pub compresses: bool,
    /// Time between two counts of the distinct streams and clients for the metrics.
    pub stats_interval: Duration,
    /// Number of shards (threads), at least one.
    pub n_shards: usize,
    /// The registry in which the server creates its metrics, and from which it answers metrics requests.
    pub registry: Registry,
}

/// What the server keeps for clients that are away.
#[derive(Debug, Clone)]
pub struct Broker {
    /// The limits of the messages of streams.
    pub history: Settings,
    /// The limits of sessions whose clients may come back. `None`: no session is resumed.
    pub resuming: Option<Resuming>,
    /// The store in which servers leave each other their sessions. `None`: a session goes on at its own server.
    pub sessions: Option<Arc<dyn SessionStore>>,
    /// The store in which servers say who is present at each of them. `None`: each server knows its own members.
    pub members: Option<Arc<dyn PresenceStore>>,
    /// The limits of presence. `None`: no client is present anywhere.
    pub presence: Option<presence::Settings>,
}

/// Reading streams over plain HTTP: Durable Streams.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DurableStreams {
    /// The path above the streams, without a slash at its end.
    pub path: String,
    /// Whether only the stream is checked, and the application is not asked about the client.
    pub skips_auth: bool,
    /// How long a long poll waits for a message.
    pub poll_interval: Duration,
    /// How long an answer with events goes on.
    pub sse_ttl: Duration,
}

/// The page from which Prometheus reads metrics.
#[derive(Debug, Clone)]
pub struct MetricsPage {
    /// The path on the metrics listener.
    pub path: String,
    /// Whether the clients' listeners serve the path, too.
    pub on_main_port: bool,
    /// Labels on every metric.
    pub tags: Tags,
    /// Reads metrics whose names have no prefix, because other programs have them as well. Called for each request.
    pub unprefixed: fn() -> Vec<Metric>,
}

/// The page for operators at `/admin`.
#[derive(Clone)]
pub struct AdminPage {
    /// The secret that a visitor must send.
    pub secret: String,
    /// Whether the clients' listeners serve the page, too.
    pub on_main_port: bool,
    /// What the process around the server tells operators, and does for them.
    pub operations: Arc<dyn Operations>,
}

/// Omits the secret.
impl fmt::Debug for AdminPage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AdminPage")
            .field("on_main_port", &self.on_main_port)
            .finish_non_exhaustive()
    }
}

impl Config {
    /// `https` if the listeners use TLS, else `http`, whatever a proxy in front of the server speaks
    /// (docs/protocols/cable.md, Connecting).
    pub(crate) fn http_scheme(&self) -> &'static str {
        match self.tls {
            Some(_) => "https",
            None => "http",
        }
    }
}

/// The rules for broadcasts over HTTP.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broadcasts {
    /// The path for broadcasts.
    pub path: String,
    /// Whether the clients' listeners take broadcasts. If not, only the listeners for broadcasts do.
    pub on_main_port: bool,
    /// Who may broadcast.
    pub access: BackendAccess,
    /// Whether pages of the allowed origins may broadcast.
    pub cors: bool,
}

/// The REST API for backends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Api {
    /// The path of the API, without a slash at its end.
    pub path: String,
    /// Whether the clients' listeners serve the API. If not, only its own listeners do.
    pub on_main_port: bool,
    /// Who may use it.
    pub access: BackendAccess,
}

/// Who may publish through `POST /_broadcast`, and use the REST API.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BackendAccess {
    /// Senders of `Authorization: Bearer <key>`.
    Key(String),
    /// Programs that use a name of this machine, or `host`, as the server's name. Web pages may broadcast only from the
    /// allowed origins. For listeners on loopback addresses.
    Local {
        /// The operator's name for this machine.
        host: String,
    },
    /// Everyone except web pages of origins that are not allowed.
    Everybody,
}
