//! The file of `--summary-export` with `--new-machine-readable-summary`: k6's next shape, version 1.0.0.

use serde_json::{Map, Value, json};

use super::{contains, indented, kind, number, values};
use crate::{
    Summary,
    summary::{CheckResult, Entry, Metric, Values},
};

/// The figures that a trend has here; null when they were not chosen.
const TREND_FIGURES: [(&str, &str); 6] = [
    ("avg", "avg"),
    ("max", "max"),
    ("med", "med"),
    ("min", "min"),
    ("p90", "p(90)"),
    ("p95", "p(95)"),
];

pub(super) fn file(summary: &Summary, script: &str) -> String {
    let metrics = summary.listing();
    let metrics = metrics
        .iter()
        .filter(|entry| entry.whole() != "checks")
        .map(metric);
    let version = &summary.metadata.plimsoll;
    indented(&json!({
        "version": "1.0.0",
        "config": {
            "script": script,
            "duration": number(summary.metadata.duration_seconds),
            "execution": "local",
        },
        "metadata": {
            "k6_version": format!("plimsoll {version}"),
            "generated_at": summary.metadata.started_at,
        },
        "generator": summary.health(),
        "results": {
            "checks": checks(summary),
            "metrics": metrics.collect::<Value>(),
        },
    }))
}

fn metric(entry: &Entry<'_>) -> Value {
    json!({
        "name": entry.name,
        "type": kind(entry.metric),
        "contains": contains(entry.metric),
        "values": figures(entry.metric),
    })
}

fn figures(metric: &Metric) -> Value {
    match metric.values {
        Values::Counter { count, .. } => json!({ "count": number(count) }),
        Values::Gauge { .. } => values(metric).into(),
        Values::Rate { passes, fails, .. } => share(passes, passes + fails),
        Values::Trend(_) => {
            let mut chosen = values(metric);
            let figures =
                TREND_FIGURES.map(|(name, stat)| (name.to_owned(), chosen.remove(stat).unwrap_or_default()));
            Map::from_iter(figures).into()
        }
    }
}

fn share(matches: u64, total: u64) -> Value {
    let rate = if total > 0 {
        matches as f64 / total as f64
    } else {
        0.0
    };
    json!({ "matches": matches, "total": total, "rate": number(rate) })
}

/// Checks are both metrics and results. There is no metric without answers.
fn checks(summary: &Summary) -> Value {
    let (passes, fails) = CheckResult::answers(&summary.checks);
    let total = passes + fails;
    let metric =
        |name, kind, values| json!({ "name": name, "type": kind, "contains": "default", "values": values });
    let metrics = if total == 0 {
        Vec::new()
    } else {
        vec![
            metric("checks_total", "counter", json!({ "count": total })),
            metric("checks_failed", "rate", share(fails, total)),
            metric("checks_succeeded", "rate", share(passes, total)),
        ]
    };
    let results = CheckResult::by_name(&summary.checks);
    let results = results
        .iter()
        .map(|check| json!({ "name": check.name, "passes": check.passes, "fails": check.fails }));
    json!({ "metrics": metrics, "results": results.collect::<Value>() })
}
