//! k6's built-in metrics under their names (docs/protocols/k6.md, Metrics). Each protocol's client registers its own
//! set.

use super::{Contains, CounterId, GaugeId, RateId, RegisterError, Registry, TrendId};

/// What every run records.
#[derive(Clone, Copy, Debug)]
pub struct Execution {
    /// Iterations that ran to their end.
    pub iterations: CounterId,
    /// From the actual start of an iteration to its end.
    pub iteration_duration: TrendId,
    /// From an iteration's scheduled start to its end: the latency of a real arrival. Not in k6.
    pub iteration_duration_scheduled: TrendId,
    /// From that moment to the actual start: the generator's own lateness. Not in k6.
    pub iteration_lateness: TrendId,
    /// Scheduled iterations without a free virtual user.
    pub dropped_iterations: CounterId,
    /// Virtual users that are active.
    pub vus: GaugeId,
    /// Virtual users that exist.
    pub vus_max: GaugeId,
    /// Durations of groups.
    pub group_duration: TrendId,
}

impl Execution {
    /// Registers the metrics.
    ///
    /// # Errors
    /// A name is in use for another kind of metric. This applies to the other sets below, too.
    pub fn register(registry: &mut Registry) -> Result<Self, RegisterError> {
        registry.rate("checks")?;
        Ok(Self {
            iterations: registry.counter("iterations", Contains::Default)?,
            iteration_duration: registry.trend("iteration_duration")?,
            iteration_duration_scheduled: registry.trend("iteration_duration_scheduled")?,
            iteration_lateness: registry.trend("iteration_lateness")?,
            dropped_iterations: registry.counter("dropped_iterations", Contains::Default)?,
            vus: registry.gauge("vus", Contains::Default)?,
            vus_max: registry.gauge("vus_max", Contains::Default)?,
            group_duration: registry.trend("group_duration")?,
        })
    }
}

/// Bytes on sockets.
#[derive(Clone, Copy, Debug)]
pub struct Data {
    /// Bytes that were written.
    pub sent: CounterId,
    /// Bytes that were read.
    pub received: CounterId,
}

impl Data {
    /// Registers the metrics.
    ///
    /// # Errors
    /// As for [`Execution::register`].
    pub fn register(registry: &mut Registry) -> Result<Self, RegisterError> {
        Ok(Self {
            sent: registry.counter("data_sent", Contains::Data)?,
            received: registry.counter("data_received", Contains::Data)?,
        })
    }
}

/// Requests over HTTP.
#[derive(Clone, Copy, Debug)]
pub struct Http {
    /// Requests, including those that follow redirects.
    pub reqs: CounterId,
    /// Sending, waiting and receiving together.
    pub duration: TrendId,
    /// Waiting for a connection.
    pub blocked: TrendId,
    /// Connecting over TCP.
    pub connecting: TrendId,
    /// The TLS handshake.
    pub tls_handshaking: TrendId,
    /// Writing the request.
    pub sending: TrendId,
    /// From the request's last byte to the response's first one.
    pub waiting: TrendId,
    /// Reading the response.
    pub receiving: TrendId,
    /// Requests with an unexpected response or none.
    pub failed: RateId,
}

impl Http {
    /// Registers the metrics.
    ///
    /// # Errors
    /// As for [`Execution::register`].
    pub fn register(registry: &mut Registry) -> Result<Self, RegisterError> {
        Ok(Self {
            reqs: registry.counter("http_reqs", Contains::Default)?,
            duration: registry.trend("http_req_duration")?,
            blocked: registry.trend("http_req_blocked")?,
            connecting: registry.trend("http_req_connecting")?,
            tls_handshaking: registry.trend("http_req_tls_handshaking")?,
            sending: registry.trend("http_req_sending")?,
            waiting: registry.trend("http_req_waiting")?,
            receiving: registry.trend("http_req_receiving")?,
            failed: registry.rate("http_req_failed")?,
        })
    }
}

/// Calls over gRPC.
#[derive(Clone, Copy, Debug)]
pub struct Grpc {
    /// From the begin of a call or a stream to its end.
    pub req_duration: TrendId,
    /// Streams that were opened.
    pub streams: CounterId,
    /// Messages that were sent on streams.
    pub streams_msgs_sent: CounterId,
    /// Messages that arrived on streams.
    pub streams_msgs_received: CounterId,
}

impl Grpc {
    /// Registers the metrics.
    ///
    /// # Errors
    /// As for [`Execution::register`].
    pub fn register(registry: &mut Registry) -> Result<Self, RegisterError> {
        Ok(Self {
            req_duration: registry.trend("grpc_req_duration")?,
            streams: registry.counter("grpc_streams", Contains::Default)?,
            streams_msgs_sent: registry.counter("grpc_streams_msgs_sent", Contains::Default)?,
            streams_msgs_received: registry.counter("grpc_streams_msgs_received", Contains::Default)?,
        })
    }
}

/// WebSocket sessions.
#[derive(Clone, Copy, Debug)]
pub struct WebSocket {
    /// Attempts to connect.
    pub sessions: CounterId,
    /// Connecting, TLS and the upgrade together.
    pub connecting: TrendId,
    /// From the begin of connecting to the end of the session.
    pub session_duration: TrendId,
    /// Messages that were sent.
    pub msgs_sent: CounterId,
    /// Messages that arrived.
    pub msgs_received: CounterId,
    /// From a ping to its pong.
    pub ping: TrendId,
}

impl WebSocket {
    /// Registers the metrics.
    ///
    /// # Errors
    /// As for [`Execution::register`].
    pub fn register(registry: &mut Registry) -> Result<Self, RegisterError> {
        Ok(Self {
            sessions: registry.counter("ws_sessions", Contains::Default)?,
            connecting: registry.trend("ws_connecting")?,
            session_duration: registry.trend("ws_session_duration")?,
            msgs_sent: registry.counter("ws_msgs_sent", Contains::Default)?,
            msgs_received: registry.counter("ws_msgs_received", Contains::Default)?,
            ping: registry.trend("ws_ping")?,
        })
    }
}

/// Action Cable clients. Not in k6, whose extension has no metrics of its own.
#[derive(Clone, Copy, Debug)]
pub struct Cable {
    /// From asking for a subscription to its confirmation.
    pub subscribe_duration: TrendId,
    /// Subscriptions that were rejected.
    pub rejected: CounterId,
    /// From an action to its answer.
    pub round_trip: TrendId,
}

impl Cable {
    /// Registers the metrics.
    ///
    /// # Errors
    /// As for [`Execution::register`].
    pub fn register(registry: &mut Registry) -> Result<Self, RegisterError> {
        Ok(Self {
            subscribe_duration: registry.trend("cable_subscribe_duration")?,
            rejected: registry.counter("cable_rejected", Contains::Default)?,
            round_trip: registry.trend("cable_rtt")?,
        })
    }
}
