//! What holds for all requests of a run.

use std::sync::Arc;

use super::KeptBodies;
use crate::{dial::Dialer, tls::Tls};

/// k6's default for idle connections per user.
const MAX_IDLE: usize = 20;

/// k6's default for idle connections to one host.
const MAX_IDLE_PER_HOST: usize = 6;

/// The largest kept body: far beyond what a load test reads on purpose, and small enough that a mistake does not take
/// the machine down.
const MAX_BODY_BYTES: usize = 256 << 20;

/// The limit of all kept bodies if the machine's memory is unknown: four of the largest bodies.
const MAX_KEPT_BYTES: usize = 4 * MAX_BODY_BYTES;

/// Settings. One value serves all workers of a run.
#[derive(Debug)]
pub struct Settings {
    /// The way to servers.
    pub dialer: Arc<Dialer>,
    /// TLS for `https`.
    pub tls: Arc<Tls>,
    /// The default `User-Agent`. Empty for none.
    pub user_agent: String,
    /// Whether HTTP/2 is offered to servers over TLS.
    pub http2: bool,
    /// Whether connections are used again.
    pub reuse_connections: bool,
    /// The most idle connections per user. The oldest is closed for a newer one.
    pub max_idle: usize,
    /// The most idle connections to one host.
    pub max_idle_per_host: usize,
    /// The largest kept body in bytes, with and without its content codings. A larger one is an error. A body that is
    /// not kept may have any size.
    pub max_body_bytes: usize,
    /// The memory limit for the kept bodies of all users.
    pub kept_bodies: KeptBodies,
}

impl Settings {
    /// k6's defaults.
    pub fn new(dialer: Arc<Dialer>, tls: Arc<Tls>) -> Self {
        Self {
            dialer,
            tls,
            user_agent: concat!("plimsoll/", env!("CARGO_PKG_VERSION")).to_owned(),
            http2: true,
            reuse_connections: true,
            max_idle: MAX_IDLE,
            max_idle_per_host: MAX_IDLE_PER_HOST,
            max_body_bytes: MAX_BODY_BYTES,
            kept_bodies: KeptBodies::new(MAX_KEPT_BYTES),
        }
    }
}
