//! What a server is told at start. Defaults and names for people live with the command line.

use std::{num::NonZeroUsize, time::Duration};

use plimsoll_telemetry::Registry;

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
    /// The path that takes broadcasts.
    pub broadcast_path: String,
    /// Who may broadcast over HTTP on the main listener.
    pub broadcast_access: BroadcastAccess,
    /// Whether pages of the allowed origins may broadcast over HTTP.
    pub broadcast_cors: bool,
    /// Largest client message in bytes, after reassembly; a larger one ends the connection with code 1009.
    pub max_message_bytes: usize,
    /// Cap on the bytes that wait for one connection that does not take them.
    pub max_pending_bytes: usize,
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
    /// How long the sessions get to say goodbye at shutdown before they are cut. The application gets what they
    /// leave of it to finish, and half a second at the least.
    pub drain_timeout: Duration,
    /// Whether `/echo` greets a client before it echoes.
    pub greets_echo: bool,
    /// Whether permessage-deflate is agreed to when a client offers it.
    pub compresses: bool,
    /// Number of shards (threads), at least one.
    pub n_shards: usize,
    /// Where the server makes its metrics, and reads all of them when it is asked.
    pub registry: Registry,
}

impl Config {
    /// `https` with TLS. What a proxy in front of it spoke does not matter (spec §2.1).
    pub(crate) fn http_scheme(&self) -> &'static str {
        match self.tls {
            Some(_) => "https",
            None => "http",
        }
    }
}

/// Who may publish through `POST /_broadcast`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BroadcastAccess {
    /// Whoever sends `Authorization: Bearer <key>`.
    Key(String),
    /// Anybody, on every listener.
    Everybody,
    /// Anybody who reaches the separate broadcast listener; the main listener has no such path. Nobody, when there
    /// is no such listener.
    SeparateListener,
}
