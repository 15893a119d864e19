//! What a server is told at start. Defaults and names for people live with the command line.

use std::{fmt, num::NonZeroUsize, time::Duration};

use plimsoll_telemetry::{Registry, Tags};

use crate::{AllowedOrigins, PathPattern, PingPrecision, ProxiedHeaders, Tls};

/// The settings of one server.
#[derive(Debug, Clone)]
pub struct Config {
    /// Paths that speak Action Cable, for example `/cable`.
    pub paths: Vec<PathPattern>,
    /// The path of event streams; none: there are none.
    pub events_path: Option<String>,
    /// The path that answers 200 while the process lives.
    pub health_path: String,
    /// The path that answers 200 while everything that the server needs is there, and 503 otherwise.
    pub ready_path: String,
    /// Metrics for Prometheus, if anybody may read them.
    pub metrics_page: Option<MetricsPage>,
    /// The page for operators, if there is one.
    pub admin_page: Option<AdminPage>,
    /// Broadcasts over HTTP, if any are taken.
    pub broadcasts: Option<Broadcasts>,
    /// Largest client message in bytes, after reassembly; a larger one ends the connection with code 1009.
    pub max_message_bytes: usize,
    /// Cap on the bytes that wait for one connection that does not take them.
    pub max_pending_bytes: usize,
    /// What all clients together may occupy, in bytes: unsent frames and what has not arrived completely. Each shard has
    /// an equal part of it.
    pub max_pending_total: usize,
    /// What all request bodies that are being read may occupy together, in bytes, with what is made of them; and as much
    /// again for published messages that the shards have yet to take.
    pub max_body_total: usize,
    /// Connections beyond this number are answered 503.
    pub max_connections: usize,
    /// Connections beyond this number from one IPv4 address, or one IPv6 network of 64 bits, are answered 429.
    pub max_connections_per_address: Option<NonZeroUsize>,
    /// All listeners speak TLS, if there is a certificate.
    pub tls: Option<Tls>,
    /// Whose pages may open a WebSocket or an event stream; others are answered 403.
    pub allowed_origins: AllowedOrigins,
    /// Time between pings of a cable connection, at least a second.
    pub ping_interval: Duration,
    /// The unit of the timestamp in a ping. A client may ask for another unit, and for another interval.
    pub ping_precision: PingPrecision,
    /// How long a client may take for the TLS handshake and its whole request head.
    pub handshake_timeout: Duration,
    /// What the application gets of a client's request.
    pub proxied_headers: ProxiedHeaders,
    /// How long the sessions get to say goodbye at shutdown before they are cut.
    pub drain_timeout: Duration,
    /// How long the whole shutdown may take, the sessions' goodbye included; the rest is the application's, to
    /// learn of the sessions that ended. It gets half a second at the least.
    pub shutdown_timeout: Duration,
    /// Whether there are `/echo`, `/json` and `/binary`. No application is asked about their clients, and on the last
    /// two each of them may publish to all.
    pub serves_load_tests: bool,
    /// Whether every path but those for HTTP echoes, and nothing else is spoken.
    pub echoes_everywhere: bool,
    /// Whether `/` is the chat room of the demo, whose application is [`Chat`](crate::application::Chat).
    pub serves_demo_page: bool,
    /// Whether `/echo` greets a client before it echoes.
    pub greets_echo: bool,
    /// Whether permessage-deflate is agreed to when a client offers it.
    pub compresses: bool,
    /// Time between two counts of streams and distinct clients for the metrics.
    pub stats_interval: Duration,
    /// Number of shards (threads), at least one.
    pub n_shards: usize,
    /// Where the server makes its metrics, and reads all of them when it is asked.
    pub registry: Registry,
}

/// Where Prometheus reads metrics.
#[derive(Debug, Clone)]
pub struct MetricsPage {
    /// The path on the metrics listener.
    pub path: String,
    /// Whether the clients' listeners have the path too.
    pub on_main_port: bool,
    /// Labels on every metric.
    pub tags: Tags,
}

/// The page for operators at `/admin`.
#[derive(Clone)]
pub struct AdminPage {
    /// What who wants to see it must know.
    pub secret: String,
    /// Whether the clients' listeners have it too.
    pub on_main_port: bool,
}

/// Without the secret.
impl fmt::Debug for AdminPage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AdminPage")
            .field("on_main_port", &self.on_main_port)
            .finish_non_exhaustive()
    }
}

impl Config {
    /// `https` with TLS, whatever a proxy in front of the server speaks (docs/protocols/cable.md, Connecting).
    pub(crate) fn http_scheme(&self) -> &'static str {
        match self.tls {
            Some(_) => "https",
            None => "http",
        }
    }
}

/// How the server takes broadcasts over HTTP.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broadcasts {
    /// The path that takes them.
    pub path: String,
    /// Whether they are taken on the clients' listeners. Otherwise they are on the listeners for broadcasts only.
    pub on_main_port: bool,
    /// Who may broadcast.
    pub access: BroadcastAccess,
    /// Whether pages of the allowed origins may broadcast.
    pub cors: bool,
}

/// Who may publish through `POST /_broadcast`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BroadcastAccess {
    /// Whoever sends `Authorization: Bearer <key>`.
    Key(String),
    /// Programs that ask under a name of this machine, or under `host`; no web pages but those of the allowed origins. For
    /// listeners on loopback addresses.
    Local {
        /// The name that the operator has for this machine.
        host: String,
    },
    /// Everybody but web pages of other origins than the allowed ones.
    Everybody,
}
