//! The admin page's data as one JSON document. Counters are totals: clients compute rates from two documents, so the
//! server keeps no state per client. Documented in `docs/reference/serve.md`.

use std::{
    collections::BTreeMap,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use plimsoll_telemetry::{BUCKET_BOUNDS, Metric, Registry, Series, Value};
use serde::Serialize;

use super::slow_sessions::SlowSession;
use crate::{archive::StreamState, http::Readiness, operations::Warning, pending_subscriptions::Summary};

/// The document.
#[derive(Debug, Serialize)]
pub(crate) struct State {
    version: &'static str,
    /// The time of the document, in Unix milliseconds.
    time_ms: u64,
    /// The process's age on a monotonic clock. The difference between two documents is the time base for rates.
    uptime_ms: u64,
    shards: usize,
    max_connections: usize,
    /// The level of the log.
    log_level: &'static str,
    /// The last warnings and errors of the log, oldest first.
    warnings: Vec<Warning>,
    #[serde(flatten)]
    readiness: Readiness,
    pending_subscriptions: Summary,
    /// `None` until the first count.
    slow_sessions: Option<Vec<SlowSession>>,
    /// The streams whose kept messages take most memory. `None` without a broker.
    largest_streams: Option<Vec<StreamState>>,
    /// Upper bounds of the histograms' buckets in seconds. The last bucket has no bound.
    bucket_bounds: &'static [f64],
    metrics: BTreeMap<&'static str, Vec<SeriesState>>,
}

/// Values that the server knows and the registry does not.
#[derive(Debug)]
pub(crate) struct Facts {
    pub(crate) uptime: Duration,
    pub(crate) n_shards: usize,
    pub(crate) max_connections: usize,
    pub(crate) log_level: &'static str,
    pub(crate) warnings: Vec<Warning>,
    pub(crate) pending_subscriptions: Summary,
    pub(crate) slow_sessions: Option<Vec<SlowSession>>,
    pub(crate) largest_streams: Option<Vec<StreamState>>,
}

#[derive(Debug, Serialize)]
struct SeriesState {
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    labels: BTreeMap<&'static str, String>,
    #[serde(flatten)]
    value: ValueState,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum ValueState {
    Number { value: f64 },
    Histogram { counts: Vec<u64>, sum_seconds: f64 },
}

impl State {
    pub(crate) fn new(registry: &Registry, facts: Facts, now: SystemTime) -> Self {
        let time = now.duration_since(UNIX_EPOCH).unwrap_or_default();
        let metrics = registry.snapshot().metrics;
        Self {
            version: env!("CARGO_PKG_VERSION"),
            time_ms: milliseconds(time),
            uptime_ms: milliseconds(facts.uptime),
            shards: facts.n_shards,
            max_connections: facts.max_connections,
            log_level: facts.log_level,
            warnings: facts.warnings,
            readiness: Readiness::of(registry.dependencies()),
            pending_subscriptions: facts.pending_subscriptions,
            slow_sessions: facts.slow_sessions,
            largest_streams: facts.largest_streams,
            bucket_bounds: &BUCKET_BOUNDS,
            metrics: metrics.into_iter().map(series_of).collect(),
        }
    }
}

fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

fn series_of(metric: Metric) -> (&'static str, Vec<SeriesState>) {
    let series = metric.series.into_iter().map(SeriesState::from).collect();
    (metric.name, series)
}

impl From<Series> for SeriesState {
    fn from(series: Series) -> Self {
        let value = match series.value {
            Value::Counter(n) => ValueState::Number { value: n as f64 },
            Value::Gauge(value) => ValueState::Number { value },
            Value::Histogram(histogram) => ValueState::Histogram {
                counts: histogram.counts,
                sum_seconds: histogram.sum.as_secs_f64(),
            },
        };
        Self {
            labels: series.labels.into_iter().collect(),
            value,
        }
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    #[test]
    fn a_server_as_json() {
        let registry = Registry::default();
        registry.dependency("redis").down("connection refused");
        registry.gauge("clients_num", "").set(2);
        registry
            .labelled_counter("refused_connections_total", "", &[("reason", "tls")])
            .add(3);
        registry
            .histogram("broadcast_duration_seconds", "", &[])
            .observe(Duration::from_millis(2));
        let facts = Facts {
            uptime: Duration::from_millis(4_500),
            n_shards: 2,
            max_connections: 1000,
            log_level: "info",
            warnings: vec![Warning {
                at_ms: 1_799_999_999_000,
                level: "warn",
                text: "a warning".into(),
                times: 2,
            }],
            pending_subscriptions: Summary::default(),
            slow_sessions: None,
            largest_streams: None,
        };
        let now = UNIX_EPOCH + Duration::from_secs(1_800_000_000);
        let mut state = State::new(&registry, facts, now);
        // The version changes with every release.
        state.version = "1.0.0";
        expect![[r#"{"version":"1.0.0","time_ms":1800000000000,"uptime_ms":4500,"shards":2,"max_connections":1000,"log_level":"info","warnings":[{"at_ms":1799999999000,"level":"warn","text":"a warning","times":2}],"ready":false,"dependencies":[{"name":"redis","up":false,"reason":"connection refused","for_s":0}],"pending_subscriptions":{"n":0,"reason":null},"slow_sessions":null,"largest_streams":null,"bucket_bounds":[0.0001,0.00025,0.0005,0.001,0.0025,0.005,0.01,0.025,0.05,0.1,0.25,0.5,1.0,2.5,5.0,10.0],"metrics":{"broadcast_duration_seconds":[{"counts":[0,0,0,0,1,0,0,0,0,0,0,0,0,0,0,0,0],"sum_seconds":0.002}],"clients_num":[{"value":2.0}],"dependency_up":[{"labels":{"dependency":"redis"},"value":0.0}],"refused_connections_total":[{"labels":{"reason":"tls"},"value":3.0}]}}"#]].assert_eq(&serde_json::to_string(&state).expect("JSON"));
    }
}
