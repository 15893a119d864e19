//! The cluster of a server, in answers to operators. Its figures are those of the metrics: nothing is counted twice.

use plimsoll_telemetry::{HistogramValue, Registry, Value};
use serde::Serialize;

/// The cluster of a server. A figure is `None` if the server has no such metric.
#[derive(Debug, Serialize)]
pub(super) struct Cluster {
    engine: &'static str,
    /// The number of servers that share the broker, this one included.
    #[serde(skip_serializing_if = "Option::is_none")]
    servers: Option<u64>,
    /// The number of messages that were read because their announcement was missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    repaired_messages: Option<u64>,
    /// The time in which messages of other servers could not reach this one, in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    deaf_s: Option<f64>,
    /// The number of questions to the broker since the start.
    #[serde(skip_serializing_if = "Option::is_none")]
    round_trips: Option<u64>,
    /// The mean time from a question to its answer since the start, in seconds. `None` before the first one, too.
    #[serde(skip_serializing_if = "Option::is_none")]
    round_trip_mean_s: Option<f64>,
}

impl Cluster {
    /// The cluster that this engine connects, with the current values of its metrics.
    pub(super) fn read(engine: &'static str, registry: &Registry) -> Self {
        let round_trips = histogram(registry, "broker_round_trip_seconds");
        Self {
            engine,
            servers: number(registry, "broker_servers_num").map(|n| n as u64),
            repaired_messages: number(registry, "broker_repaired_total").map(|n| n as u64),
            deaf_s: deaf_seconds(registry),
            round_trips: round_trips.as_ref().map(HistogramValue::count),
            round_trip_mean_s: round_trips.as_ref().and_then(mean_seconds),
        }
    }
}

/// The deafness of the broker or of `--pubsub`. A server has one of both.
fn deaf_seconds(registry: &Registry) -> Option<f64> {
    let of_broker = number(registry, "broker_deaf_milliseconds_total").map(|n_ms| n_ms / 1000.0);
    of_broker.or_else(|| number(registry, "cluster_deaf_seconds"))
}

/// The mean duration in seconds, rounded to nanoseconds.
fn mean_seconds(durations: &HistogramValue) -> Option<f64> {
    let n = durations.count();
    (n > 0).then(|| durations.sum.div_f64(n as f64).as_secs_f64())
}

fn number(registry: &Registry, name: &str) -> Option<f64> {
    match registry.value(name)? {
        Value::Counter(n) => Some(n as f64),
        Value::Gauge(value) => Some(value),
        Value::Histogram(_) => None,
    }
}

fn histogram(registry: &Registry, name: &str) -> Option<HistogramValue> {
    match registry.value(name)? {
        Value::Histogram(value) => Some(value),
        Value::Counter(_) | Value::Gauge(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn check(register: impl Fn(&Registry), expected: &str) {
        let registry = Registry::default();
        register(&registry);
        let found = serde_json::to_string(&Cluster::read("nats", &registry)).expect("JSON");
        assert_eq!(found, expected);
    }

    /// The metrics of a broker that has answered after these times, in milliseconds.
    fn broker(registry: &Registry, answered_after_ms: &[u64]) {
        registry.gauge("broker_servers_num", "").set(3);
        registry.counter("broker_repaired_total", "").add(12);
        registry.counter("broker_deaf_milliseconds_total", "").add(2_050);
        let round_trips = registry.histogram("broker_round_trip_seconds", "", &[]);
        for &n_ms in answered_after_ms {
            round_trips.observe(Duration::from_millis(n_ms));
        }
    }

    #[test]
    fn figures_are_those_of_the_metrics() {
        check(|_| {}, r#"{"engine":"nats"}"#);
        check(
            |registry| registry.gauge_fn("cluster_deaf_seconds", "", || 0.25),
            r#"{"engine":"nats","deaf_s":0.25}"#,
        );
        check(
            |registry| broker(registry, &[]),
            r#"{"engine":"nats","servers":3,"repaired_messages":12,"deaf_s":2.05,"round_trips":0}"#,
        );
        check(
            |registry| broker(registry, &[1, 2, 6]),
            concat!(
                r#"{"engine":"nats","servers":3,"repaired_messages":12,"deaf_s":2.05,"#,
                r#""round_trips":3,"round_trip_mean_s":0.003}"#
            ),
        );
    }
}
