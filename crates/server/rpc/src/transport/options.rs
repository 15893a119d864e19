//! What both ways of calling an application need to know, and the limits that they share.

use std::time::Duration;

use plimsoll_telemetry::Registry;

use crate::{status::Status, tls::Trust};

/// The version of the contract, which applications check (docs/protocols/rpc.md, Over gRPC).
pub(super) const PROTOCOL_VERSION: &str = "v1";

/// The largest reply when nothing is said about it: gRPC's own default.
const DEFAULT_MAX_REPLY_BYTES: usize = 4 << 20;

/// What both ways need to know.
#[derive(Debug, Clone)]
pub struct TransportOptions {
    /// TLS for gRPC; over HTTP the URL says it.
    pub enables_tls: bool,
    /// Whose certificates are believed.
    pub trust: Trust,
    /// The largest reply in bytes; `None`: 4 MiB.
    pub max_reply_bytes: Option<usize>,
    /// The largest request in bytes; `None`: no limit of its own, because what clients send is limited already.
    pub max_request_bytes: Option<usize>,
    /// What authenticates the server to an application over HTTP.
    pub http_secret: Option<String>,
}

/// The surroundings of a transport.
pub(crate) struct Place<'a> {
    /// Threads that make calls, besides the background thread.
    pub(crate) n_shards: usize,
    /// The longest that a connection may take to be made.
    pub(crate) connect_timeout: Duration,
    /// Calls that may be under way; more connections are not kept.
    pub(crate) concurrency: usize,
    pub(crate) registry: &'a Registry,
}

impl TransportOptions {
    pub(super) fn max_reply_bytes(&self) -> usize {
        self.max_reply_bytes.unwrap_or(DEFAULT_MAX_REPLY_BYTES)
    }

    pub(super) fn check_request_size(max_bytes: Option<usize>, n_bytes: usize) -> Result<(), Status> {
        match max_bytes {
            Some(max_bytes) if n_bytes > max_bytes => Err(Status::out_of_range(format!(
                "the request has {n_bytes} bytes, which is more than --rpc_max_call_send_size {max_bytes}"
            ))),
            _ => Ok(()),
        }
    }
}

/// A reply that is longer than it may be.
pub(super) fn too_long(max_bytes: usize) -> Status {
    Status::out_of_range(format!(
        "the reply has more than {max_bytes} bytes; a larger limit is set with --rpc_max_call_recv_size"
    ))
}
