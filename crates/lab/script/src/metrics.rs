//! The metrics of a script: k6's built-in ones and those that it makes itself.

use std::collections::HashMap;

use plimsoll_load::metrics::{
    CounterId, GaugeId, RateId, RegisterError, Registry, TrendId,
    built_in::{Cable, Data, Execution, Grpc, Http, WebSocket},
};

/// The ids of all metrics of a script; the same in all its virtual users.
#[derive(Clone, Debug)]
pub(crate) struct Metrics {
    /// The metrics that every run records.
    pub execution: Execution,
    /// Action Cable clients.
    pub cable: Cable,
    /// Bytes on sockets.
    pub data: Data,
    /// Calls over gRPC.
    pub grpc: Grpc,
    /// Requests.
    pub http: Http,
    /// WebSocket sessions.
    pub websocket: WebSocket,
    /// The script's own metrics, by name.
    custom: HashMap<String, Custom>,
}

/// A metric that a script made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Custom {
    Counter(CounterId),
    Gauge(GaugeId),
    Rate(RateId),
    Trend(TrendId),
}

impl Metrics {
    /// Registers the built-in ones.
    ///
    /// # Errors
    /// When one of their names is taken.
    pub(crate) fn register(registry: &mut Registry) -> Result<Self, RegisterError> {
        Ok(Self {
            execution: Execution::register(registry)?,
            data: Data::register(registry)?,
            grpc: Grpc::register(registry)?,
            http: Http::register(registry)?,
            websocket: WebSocket::register(registry)?,
            cable: Cable::register(registry)?,
            custom: HashMap::new(),
        })
    }

    /// Adds one of the script's own, or finds it again.
    pub(crate) fn add(&mut self, name: &str, metric: Custom) {
        self.custom.insert(name.to_owned(), metric);
    }

    /// One of the script's own metrics.
    pub(crate) fn custom(&self, name: &str) -> Option<Custom> {
        self.custom.get(name).copied()
    }
}
