//! A shard's metrics. They have AnyCable's names where AnyCable has the metric. All are listed in
//! docs/reference/metrics.md.

use std::io;

use http::StatusCode;
use plimsoll_hub::Outbox;
use plimsoll_telemetry::{Counter, Gauge, Histogram, Registry};

use crate::ending::Ending;

/// The help text of `goroutines_num`, which has a cell per shard here and one for all open connections.
pub(crate) const TASKS_HELP: &str =
    "Tasks that serve connections: one per connection, one more while it is full";

/// One shard's cells. On the hot path a portion of sessions is counted at once, never a single write.
#[derive(Debug)]
pub(crate) struct Metrics {
    pub(crate) clients: Gauge,
    pub(crate) event_streams: Gauge,
    /// Requests to read a stream over HTTP.
    pub(crate) durable_reads: Counter,
    pub(crate) durable_polls: Counter,
    pub(crate) durable_polling: Gauge,
    pub(crate) durable_streams: Counter,
    pub(crate) durable_listening: Gauge,
    pub(crate) client_messages: Counter,
    pub(crate) failed_client_messages: Counter,
    pub(crate) received_bytes: Counter,
    pub(crate) server_messages: Counter,
    pub(crate) failed_server_messages: Counter,
    timed_out_server_messages: Counter,
    pub(crate) sent_bytes: Counter,
    failed_auths: Counter,
    slow_clients: Counter,
    silent_clients: Counter,
    pub(crate) given_up_clients: Counter,
    pub(crate) pending_memory: Gauge,
    pub(crate) accepted_connections: Counter,
    refused: Refused,
    pub(crate) blocked_clients: Gauge,
    pub(crate) blocked_tasks: Gauge,
    pub(crate) pending_bytes: Gauge,
    pub(crate) loop_lag: Histogram,
    pub(crate) rings: Gauge,
}

/// Connections that were refused, by reason. The set of reasons is fixed. With a series per status, clients could
/// create series at will.
#[derive(Debug)]
struct Refused {
    overload: Counter,
    timeout: Counter,
    origin: Counter,
    tls: Counter,
    malformed: Counter,
}

impl Metrics {
    pub(crate) fn new(registry: &Registry) -> Self {
        Self {
            clients: registry.gauge("clients_num", "Sessions that are open"),
            event_streams: registry.gauge("sse_clients_num", "Sessions that are event streams"),
            durable_reads: registry.counter(
                "ds_requests_total",
                "Requests to read a stream of Durable Streams",
            ),
            durable_polls: registry.counter(
                "ds_poll_clients_total",
                "Reads of Durable Streams that may wait for a message",
            ),
            durable_polling: registry.gauge(
                "ds_poll_clients_num",
                "Reads of Durable Streams that wait for a message",
            ),
            durable_streams: registry.counter(
                "ds_sse_clients_total",
                "Reads of Durable Streams that go on as events",
            ),
            durable_listening: registry.gauge(
                "ds_sse_clients_num",
                "Reads of Durable Streams whose events go on",
            ),
            client_messages: registry.counter("client_msg_total", "Readable messages from clients"),
            failed_client_messages: registry.counter(
                "failed_client_msg_total",
                "Unreadable messages from clients, and protocol violations",
            ),
            received_bytes: registry.counter("data_rcvd_total", "Bytes received on sessions' connections"),
            server_messages: registry.counter(
                "server_msg_total",
                "Messages queued for clients, each recipient counted; pings are not",
            ),
            failed_server_messages: registry.counter(
                "failed_server_msg_total",
                "Messages that waited for a client whose connection ended",
            ),
            timed_out_server_messages: registry.counter(
                "timeout_server_msg_total",
                "Failed messages whose client acknowledged nothing for too long",
            ),
            sent_bytes: registry.counter("data_sent_total", "Bytes sent on sessions' connections"),
            failed_auths: registry.counter("failed_auths_total", "Clients that the application refused"),
            slow_clients: registry.counter(
                "disconnected_slow_clients_total",
                "Sessions that ended because their outbox was full",
            ),
            silent_clients: registry.counter(
                "disconnected_no_pong_total",
                "Sessions that ended because their client did not answer a ping",
            ),
            given_up_clients: registry.counter(
                "disconnected_for_memory_total",
                "Slow sessions that ended because the outboxes of all clients took too much memory",
            ),
            pending_memory: registry.gauge(
                "pending_memory_bytes",
                "Memory of messages that wait for clients, and of incomplete messages from clients",
            ),
            accepted_connections: registry.counter("connections_total", "Connections that were accepted"),
            refused: Refused::new(registry),
            blocked_clients: registry.gauge(
                "blocked_clients_num",
                "Sessions whose connection accepts no more bytes at the moment",
            ),
            blocked_tasks: registry.gauge("goroutines_num", TASKS_HELP),
            rings: registry.gauge(
                "io_uring_shards_num",
                "Threads that write messages for many clients through io_uring",
            ),
            pending_bytes: registry.gauge(
                "pending_bytes",
                "Bytes that wait for sessions whose connection accepts no more",
            ),
            loop_lag: registry.histogram(
                "event_loop_lag_seconds",
                "The lateness of a shard's timer, which shows how busy the shard is",
                &[],
            ),
        }
    }

    /// Counts a session that is told to end.
    pub(crate) fn count_ending(&self, ending: Ending) {
        match ending {
            Ending::AuthFailed => self.failed_auths.increment(),
            Ending::TooSlow => self.slow_clients.increment(),
            Ending::NoPong => self.silent_clients.increment(),
            Ending::Violation(_) | Ending::NotACommand(_) | Ending::NotInContract => {
                self.failed_client_messages.increment();
            }
            _ => {}
        }
    }

    /// Counts a connection that broke while these frames were unsent. The number of failed frames is counted when the
    /// session ends.
    pub(crate) fn count_lost(&self, error: &io::Error, outbox: &Outbox) {
        if error.kind() == io::ErrorKind::TimedOut {
            self.timed_out_server_messages.add(outbox.n_frames() as u64);
        }
    }

    /// Counts a connection that is answered with an error before it becomes a session.
    pub(crate) fn count_refusal(&self, status: StatusCode) {
        let counter = match status {
            StatusCode::SERVICE_UNAVAILABLE | StatusCode::TOO_MANY_REQUESTS => &self.refused.overload,
            StatusCode::REQUEST_TIMEOUT => &self.refused.timeout,
            StatusCode::FORBIDDEN => &self.refused.origin,
            _ => &self.refused.malformed,
        };
        counter.increment();
    }

    /// Counts a failed TLS handshake.
    pub(crate) fn count_insecure(&self) {
        self.refused.tls.increment();
    }

    /// Counts a connection that is dropped without an answer, because there are too many already.
    pub(crate) fn count_dropped(&self) {
        self.refused.overload.increment();
    }
}

impl Refused {
    fn new(registry: &Registry) -> Self {
        let counter = |reason| {
            registry.labelled_counter(
                "refused_connections_total",
                "Connections that were refused: overload (limits, stopping), timeout, origin, tls, malformed",
                &[("reason", reason)],
            )
        };
        Self {
            overload: counter("overload"),
            timeout: counter("timeout"),
            origin: counter("origin"),
            tls: counter("tls"),
            malformed: counter("malformed"),
        }
    }
}
