//! Counters and timings of Artillery's files, with Artillery's names (docs/reference/artillery.md, Figures).
//!
//! The registry has the common names of all front ends, so that every output can use them; reports read [`NAMES`].
//! Counters whose names hold a status, an error or a scenario are tallies, with Artillery's names from the start.

use plimsoll_load::metrics::{
    Contains, CounterId, RegisterError, Registry, TrendId,
    built_in::{Data, WebSocket},
};

/// Registered names with Artillery's.
pub const NAMES: &[(&str, &str)] = &[
    ("vusers_created", "vusers.created"),
    ("vusers_completed", "vusers.completed"),
    ("vusers_failed", "vusers.failed"),
    ("vusers_skipped", "vusers.skipped"),
    ("vusers_session_length", "vusers.session_length"),
    ("vusers_lateness", "vusers.lateness"),
    ("http_reqs", "http.requests"),
    ("http_responses", "http.responses"),
    ("http_downloaded", "http.downloaded_bytes"),
    ("http_response_time", "http.response_time"),
    ("http_response_time_2xx", "http.response_time.2xx"),
    ("http_response_time_3xx", "http.response_time.3xx"),
    ("http_response_time_4xx", "http.response_time.4xx"),
    ("http_response_time_5xx", "http.response_time.5xx"),
    ("http_dns", "http.dns"),
    ("http_tcp", "http.tcp"),
    ("http_tls", "http.tls"),
    ("http_total", "http.total"),
    ("ws_msgs_sent", "websocket.messages_sent"),
    ("ws_msgs_received", "websocket.messages_received"),
    ("ws_connecting", "websocket.connect_time"),
    ("ws_response_time", "websocket.response_time"),
    ("ws_untimed", "websocket.untimed"),
    ("ws_inbox_dropped", "websocket.inbox_dropped"),
];

/// Counters that have a rate besides, under its name.
pub const RATES: &[(&str, &str)] = &[
    ("http_reqs", "http.request_rate"),
    ("ws_msgs_sent", "websocket.send_rate"),
    ("ws_msgs_received", "websocket.receive_rate"),
];

/// Handles of all metrics.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Metrics {
    /// Users that arrived.
    pub(crate) created: CounterId,
    /// Users that did all steps.
    pub(crate) completed: CounterId,
    /// Users that failed in a step.
    pub(crate) failed: CounterId,
    /// Arrivals that a phase's limit turned away.
    pub(crate) skipped: CounterId,
    /// From the moment at which a user was to arrive to the end of its last step; only of users that completed.
    pub(crate) session_length: TrendId,
    /// Bytes on sockets.
    pub(crate) data: Data,
    /// How late a user arrived, because of the generator.
    pub(crate) lateness: TrendId,
    /// Requests over HTTP.
    pub(crate) http: Http,
    /// WebSockets.
    pub(crate) websocket: WebSocket,
    /// From sending a message to the answer: the first awaited one, or the message itself returning.
    pub(crate) response_time: TrendId,
    /// Messages that could not be timed, because too many others were in flight.
    pub(crate) untimed: CounterId,
    /// Messages that a full inbox lost.
    pub(crate) inbox_dropped: CounterId,
}

/// Handles of the engine `http`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Http {
    /// Sent requests, including those that follow redirects.
    pub(crate) requests: CounterId,
    /// Answered requests.
    pub(crate) responses: CounterId,
    /// Bytes of bodies, without their content codings.
    pub(crate) downloaded_bytes: CounterId,
    /// From the begin of sending to the first byte of the answer.
    pub(crate) response_time: TrendId,
    /// Response times by the first digit of the status, from 2 to 5.
    by_class: [TrendId; 4],
    /// The parts of a request; without samples unless `extendedMetrics` is set.
    pub(crate) parts: Parts,
}

/// The parts of a request. On a reused connection the first three take no time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Parts {
    /// Looking up the name, and waiting for a connection.
    pub(crate) dns: TrendId,
    /// The TCP connection.
    pub(crate) tcp: TrendId,
    /// The TLS handshake.
    pub(crate) tls: TrendId,
    /// From the beginning to the last byte of the answer.
    pub(crate) total: TrendId,
}

impl Http {
    fn register(registry: &mut Registry) -> Result<Self, RegisterError> {
        let mut of_class = |class| registry.trend(&format!("http_response_time_{class}xx"));
        let by_class = [of_class(2)?, of_class(3)?, of_class(4)?, of_class(5)?];
        Ok(Self {
            requests: registry.counter("http_reqs", Contains::Default)?,
            responses: registry.counter("http_responses", Contains::Default)?,
            downloaded_bytes: registry.counter("http_downloaded", Contains::Data)?,
            response_time: registry.trend("http_response_time")?,
            by_class,
            parts: Parts {
                dns: registry.trend("http_dns")?,
                tcp: registry.trend("http_tcp")?,
                tls: registry.trend("http_tls")?,
                total: registry.trend("http_total")?,
            },
        })
    }

    /// The distribution of answers with such a status.
    pub(crate) fn of_class(&self, status: u16) -> Option<TrendId> {
        let class = usize::from(status / 100).checked_sub(2)?;
        self.by_class.get(class).copied()
    }
}

impl Metrics {
    /// Registers all metrics.
    pub(crate) fn register(registry: &mut Registry) -> Result<Self, RegisterError> {
        let mut counter = |name| registry.counter(name, Contains::Default);
        Ok(Self {
            created: counter("vusers_created")?,
            completed: counter("vusers_completed")?,
            failed: counter("vusers_failed")?,
            skipped: counter("vusers_skipped")?,
            untimed: counter("ws_untimed")?,
            inbox_dropped: counter("ws_inbox_dropped")?,
            session_length: registry.trend("vusers_session_length")?,
            lateness: registry.trend("vusers_lateness")?,
            response_time: registry.trend("ws_response_time")?,
            data: Data::register(registry)?,
            http: Http::register(registry)?,
            websocket: WebSocket::register(registry)?,
        })
    }
}
