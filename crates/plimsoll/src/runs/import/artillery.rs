//! The report of `artillery run --output`. It does not say what `ensure` found, so an imported run is unjudged.

use std::{
    collections::BTreeMap,
    time::{Duration, UNIX_EPOCH},
};

use plimsoll_report::rfc3339;
use serde::Deserialize;
use serde_json::Value;

use super::super::imported::{Imported, Metric, Tool};

/// Parts of the names of Artillery's own summaries, which are times.
const TIMES: [&str; 5] = [
    "response_time",
    "session_length",
    "connect_time",
    "browser.page.",
    "browser.step.",
];

#[derive(Deserialize)]
struct Report {
    aggregate: Aggregate,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Aggregate {
    counters: BTreeMap<String, f64>,
    #[serde(default)]
    rates: BTreeMap<String, Option<f64>>,
    #[serde(default)]
    summaries: BTreeMap<String, BTreeMap<String, Option<f64>>>,
    /// Unix time in milliseconds.
    first_metric_at: Option<f64>,
    last_metric_at: Option<f64>,
}

/// Reads a report. `None`: the document is not one.
pub(super) fn report(file: &str, document: &Value) -> Option<Imported> {
    let Report { aggregate } = Report::deserialize(document).ok()?;
    let mut metrics = BTreeMap::new();
    for (name, count) in aggregate.counters {
        metrics.insert(name, plain("count", count));
    }
    for (name, rate) in aggregate.rates {
        metrics.extend(rate.map(|rate| (name, plain("rate", rate))));
    }
    for (name, figures) in aggregate.summaries {
        let figures = figures
            .into_iter()
            .filter_map(|(figure, value)| Some((figure, value?)));
        // A processor's own histograms may be of anything.
        let is_time = TIMES.iter().any(|part| name.contains(part));
        metrics.insert(
            name,
            Metric {
                is_time,
                figures: figures.collect(),
            },
        );
    }
    let seconds = aggregate
        .first_metric_at
        .zip(aggregate.last_metric_at)
        .map(|(first, last)| ((last - first) / 1e3).max(0.0));
    let started = aggregate
        .first_metric_at
        .map(|ms| rfc3339(UNIX_EPOCH + Duration::from_millis(ms.max(0.0) as u64)));
    Some(Imported {
        is_time_of_file: started.is_none(),
        started_at: started.unwrap_or_default(),
        duration_seconds: seconds,
        ..Imported::new(Tool::Artillery, file, metrics)
    })
}

fn plain(figure: &str, value: f64) -> Metric {
    Metric {
        is_time: false,
        figures: [(figure.to_owned(), value)].into(),
    }
}
