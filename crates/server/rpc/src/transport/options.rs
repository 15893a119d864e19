//! Settings of both transports, and their common limits.

use std::time::Duration;

use plimsoll_telemetry::Registry;

use crate::{status::Status, tls::Trust};

/// The version of the contract. Applications check it (docs/protocols/rpc.md, Over gRPC).
pub(super) const PROTOCOL_VERSION: &str = "v1";

/// The default limit of a reply: gRPC's own default.
const DEFAULT_MAX_REPLY_BYTES: usize = 4 << 20;

/// The settings of both transports.
#[derive(Debug, Clone)]
pub struct TransportOptions {
    /// Whether gRPC uses TLS. Over HTTP the URL decides that.
    pub enables_tls: bool,
    /// The certificates to trust.
    pub trust: Trust,
    /// The largest reply in bytes; `None`: 4 MiB.
    pub max_reply_bytes: Option<usize>,
    /// The largest request in bytes. `None`: no limit of its own, because messages of clients are limited already.
    pub max_request_bytes: Option<usize>,
    /// The secret that authenticates the server to an HTTP application.
    pub http_secret: Option<String>,
}

/// The environment of a transport.
pub(crate) struct Place<'a> {
    /// Threads that make calls, besides the background thread.
    pub(crate) n_shards: usize,
    /// The longest time to make a connection.
    pub(crate) connect_timeout: Duration,
    /// The most calls in progress. More connections are not kept.
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

/// The status for a reply that exceeds the limit.
pub(super) fn too_long(max_bytes: usize) -> Status {
    Status::out_of_range(format!(
        "the reply has more than {max_bytes} bytes; raise the limit with --rpc_max_call_recv_size"
    ))
}
