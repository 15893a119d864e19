//! Tests that the summary of a run agrees with the run's own JSON, in total and over time.

use std::{collections::BTreeMap, sync::Arc};

use plimsoll_load::metrics::Batch;
use plimsoll_report::{Distribution, Summary, summary::Values, timeline::Series};
use serde_json::Value;

/// Metrics with their places in the JSON.
const TRENDS: [(&str, &str); 8] = [
    ("rtt", "/acknowledgement_us"),
    ("delivery", "/last_delivery_us"),
    ("listener_delivery", "/listener_us"),
    ("connect", "/connect/latency_us"),
    ("ws_tcp_connecting", "/connect/tcp_connect_us"),
    ("ws_upgrading", "/connect/upgrade_us"),
    ("ws_welcome", "/connect/welcome_us"),
    ("ws_subscribing", "/connect/subscribe_us"),
];

#[track_caller]
pub(super) fn check(summary: &Summary, json: &Value) {
    let steps: Vec<_> = json["steps"]
        .as_array()
        .unwrap()
        .iter()
        .map(|step| &step["plimsoll"])
        .collect();
    for (metric, pointer) in TRENDS {
        let of_steps: Vec<_> = steps
            .iter()
            .map(|step| {
                step.pointer(pointer)
                    .map_or_else(Distribution::default, distribution)
            })
            .collect();
        let n: u64 = of_steps.iter().map(|it| it.count).sum();
        let found = trend(summary, metric);
        assert_eq!(found.count, n, "{metric}");
        match of_steps.as_slice() {
            [only] => assert_eq!(found, *only, "{metric}"),
            several => {
                for (section, expected) in summary.breakdown.scenarios.iter().zip(several) {
                    let found = section.metrics.get(metric).map(|metric| values(&metric.values));
                    assert_eq!(
                        found.unwrap_or_default(),
                        *expected,
                        "{metric} of {}",
                        section.name
                    );
                }
                assert_eq!(found.max, several.iter().map(|it| it.max).max().unwrap());
            }
        }
    }
    sums(summary);
    losses(summary, json);
    failures(summary, &steps);
    let most = json["steps"].as_array().unwrap().iter();
    let most = most.map(|step| step["clients"].as_u64().unwrap()).max().unwrap();
    assert_eq!(u64::from(summary.vus_max), most);
}

/// Single samples add up to the summary, except deliveries, which have only sums.
#[track_caller]
pub(super) fn samples(summary: &Summary, batches: impl Iterator<Item = Arc<Batch>>) {
    let mut found: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    let mut last = None;
    for batch in batches {
        for sample in &batch.samples {
            assert!(last <= Some(sample.time), "time goes back");
            last = Some(sample.time);
            let step: usize = sample.tags["step"].parse().unwrap();
            assert!(
                (1..=summary.breakdown.scenarios.len().max(1)).contains(&step),
                "{step}"
            );
            let name = batch.registry.definition(sample.metric).name.clone();
            found.entry(name).or_default().push(sample.value);
        }
    }
    let clients = found.remove("vus").unwrap();
    assert!(
        clients.iter().all(|n| *n <= f64::from(summary.vus_max)),
        "{clients:?}"
    );
    for (name, metric) in &summary.metrics {
        let values = found.remove(name).unwrap_or_default();
        match &metric.values {
            Values::Trend(_) if name == "listener_delivery" => assert!(values.is_empty()),
            Values::Trend(expected) => {
                assert_eq!(values.len() as u64, expected.count, "{name}");
                let longest = values.iter().fold(0.0, |longest: f64, ms| longest.max(ms * 1e3));
                assert!(
                    (longest - expected.max as f64).abs() < 1.0,
                    "{name}: {longest} {expected:?}"
                );
            }
            Values::Gauge { value, max, .. } => {
                assert_eq!(values.last().unwrap().to_bits(), value.to_bits(), "{name}");
                let highest = values.iter().fold(0.0, |most: f64, it| most.max(*it));
                assert_eq!(highest.to_bits(), max.to_bits(), "{name}");
            }
            Values::Counter { count, .. } => {
                let sum = values.iter().fold(0.0, |sum, value| sum + value);
                assert_eq!(sum.to_bits(), count.to_bits(), "{name}");
            }
            other => panic!("{name}: {other:?}"),
        }
    }
    assert!(found.is_empty(), "{found:?}");
}

/// The seconds of the timeline add up to the totals.
#[track_caller]
fn sums(summary: &Summary) {
    let timeline = &summary.timeline;
    for (name, series) in &timeline.metrics {
        match (series, &summary.metrics[name].values) {
            (Series::Trend { counts, .. }, Values::Trend(distribution)) => {
                assert_eq!(counts.iter().sum::<u64>(), distribution.count, "{name}");
            }
            (Series::Counter { counts }, Values::Counter { count, .. }) => {
                assert_eq!(counts.iter().sum::<f64>().to_bits(), count.to_bits(), "{name}");
            }
            (Series::Gauge { .. }, Values::Gauge { .. }) => {}
            other => panic!("{name}: {other:?}"),
        }
    }
    assert_eq!(
        timeline.iterations.iter().sum::<u64>(),
        summary.iterations.complete
    );
    assert_eq!(timeline.failed.iter().sum::<u64>(), summary.iterations.failed);
}

#[track_caller]
fn losses(summary: &Summary, json: &Value) {
    let counts = &json["plimsoll"]["deliveries"];
    let Some(losses) = summary.losses else {
        assert!(counts.is_null());
        return;
    };
    let found = [
        losses.expected,
        losses.received,
        losses.lost,
        losses.duplicated,
        losses.out_of_order,
    ];
    let keys = [
        "n_deliveries_expected",
        "n_deliveries",
        "n_lost",
        "n_duplicated",
        "n_out_of_order",
    ];
    assert_eq!(found, keys.map(|key| counts[key].as_u64().unwrap()));
    let Values::Counter { count, .. } = summary.metrics["deliveries"].values else {
        panic!("deliveries are no counter");
    };
    assert_eq!(count as u64, losses.received);
}

#[track_caller]
fn failures(summary: &Summary, steps: &[&Value]) {
    let sum = |pointer: &str| -> u64 {
        let counts = steps.iter().filter_map(|step| step.pointer(pointer)?.as_u64());
        counts.sum()
    };
    let n_failed = sum("/connect/n_failed") + sum("/n_dropped") + sum("/n_unanswered");
    let n_errors: u64 = summary.errors.iter().map(|error| error.count).sum();
    assert_eq!((summary.iterations.failed, n_errors), (n_failed, n_failed));
    for error in &summary.errors {
        let span = [
            0.0,
            error.first_seconds,
            error.last_seconds,
            summary.metadata.duration_seconds,
        ];
        assert!(span.is_sorted(), "{error:?}");
    }
    let n_done = match sum("/n_sent") {
        0 => sum("/connect/n_connected") + sum("/connect/n_failed"),
        n_sent => n_sent,
    };
    assert_eq!(summary.iterations.complete, n_done);
}

fn trend(summary: &Summary, metric: &str) -> Distribution {
    let metric = summary.metrics.get(metric);
    metric.map_or_else(Distribution::default, |metric| values(&metric.values))
}

fn values(values: &Values) -> Distribution {
    match values {
        Values::Trend(distribution) => *distribution,
        other => panic!("no trend: {other:?}"),
    }
}

fn distribution(json: &Value) -> Distribution {
    serde_json::from_value(json.clone()).unwrap()
}
