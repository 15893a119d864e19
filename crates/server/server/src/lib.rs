//! The cable server: listeners, session life, application calls, broadcast ingest, shutdown.
//!
//! One OS thread per *shard*, each with its own single-threaded runtime, its own listening sockets (`SO_REUSEPORT`) and
//! its own [`Hub`](plimsoll_hub::Hub). A session lives and dies on the shard that accepted it. Shards share nothing but
//! their mailboxes: a publication goes to each of them as shared bytes.
//!
//! The path of an incoming message: socket → shard's scratch buffer → decoder → [`endpoint`] → [`application`] →
//! mailbox of every shard → hub → outboxes → sockets, written without waking the sessions' tasks.
//!
//! The crate must not know the load side, the process's arguments, signals or exit codes.

mod absences;
mod accept;
mod admin;
pub mod application;
mod archive;
mod awaited;
mod calls_under_way;
mod census;
mod config;
mod connection;
mod deadlines;
mod drain;
mod encoding;
mod ending;
mod endpoint;
mod engine;
mod fanout;
mod hearing;
mod heartbeat;
mod http;
mod https;
mod idempotency;
mod identities;
mod identity;
mod inquiries;
mod intake;
pub mod jwks;
mod listener;
mod liveness;
mod log_form;
mod mailbox;
mod memory;
mod metrics;
mod network;
mod open_connections;
mod operations;
mod origins;
mod outgoing;
mod pace;
mod path_pattern;
mod pending_subscriptions;
mod pongs;
mod presence_event;
mod presence_store;
mod proxied_headers;
mod publisher;
mod purpose;
mod request_bodies;
mod ring;
mod roll;
mod server;
mod session;
mod session_store;
mod shard;
mod sid;
mod stream;
mod tails;
mod ticker;
mod tls;
mod unix_time;
mod upgrade;
mod webhook;

pub use awaited::Resuming;
pub use config::{AdminPage, Api, BackendAccess, Broadcasts, Broker, Config, DurableStreams, MetricsPage};
pub use engine::{Engine, EngineError, Sending};
pub use listener::{BindError, Listeners};
pub use operations::{LOG_LEVELS, Operations, Setting, Warning};
pub use origins::{AllowedOrigins, OriginError};
pub use pace::PingPrecision;
pub use path_pattern::{PathPattern, PathPatternError};
pub use presence_store::{PresenceStore, Present};
pub use proxied_headers::ProxiedHeaders;
pub use publisher::{AcceptError, MAX_BROADCAST_BYTES, Publisher};
pub use ring::try_io_uring;
pub use server::{Ports, run};
pub use session_store::{Answering, SessionStore, StoredSession};
pub use tls::{CertificateError, Tls};
pub use webhook::{Webhook, WebhookError, WebhookUrl, WebhookUrlError};
