//! Results of k6: `--summary-export`, the data of `handleSummary`, and the samples of `--out json`.

use std::{
    collections::BTreeMap,
    io::{self, BufRead},
    time::{Duration, SystemTime},
};

use plimsoll_load::histogram::Histogram;
use plimsoll_report::{parse_rfc3339, rfc3339, trend_figure};
use serde::Deserialize;
use serde_json::Value;

use super::super::imported::{Imported, Metric, Threshold, Tool};

/// Figures of trends that are made of samples. The others of k6 follow from its `summaryTrendStats`.
const STATS: [&str; 8] = ["avg", "min", "med", "max", "p(90)", "p(95)", "p(99)", "count"];

/// How the names of k6's own trends begin. All of them are times.
const OWN_TIMES: [&str; 6] = [
    "http_req_",
    "ws_",
    "grpc_req_",
    "iteration_duration",
    "group_duration",
    "browser_",
];

/// A summary in either form. In the older one the figures stand beside each other, and a threshold is `true` if it was
/// crossed.
#[derive(Deserialize)]
struct Summary {
    metrics: BTreeMap<String, BTreeMap<String, Value>>,
    #[serde(default)]
    state: State,
}

#[derive(Default, Deserialize)]
struct State {
    #[serde(rename = "testRunDurationMs")]
    duration_ms: Option<f64>,
}

/// Reads a summary. `None`: the document is not one.
pub(super) fn summary(file: &str, document: &Value) -> Option<Imported> {
    let Summary { metrics, state } = Summary::deserialize(document).ok()?;
    let mut thresholds = Vec::new();
    let mut found = BTreeMap::new();
    for (name, fields) in metrics {
        if let Some(Value::Object(judged)) = fields.get("thresholds") {
            thresholds.extend(judged.iter().filter_map(|(expression, judged)| {
                let holds = match judged {
                    Value::Bool(is_crossed) => !is_crossed,
                    judged => judged.get("ok")?.as_bool()?,
                };
                Some(Threshold {
                    metric: name.clone(),
                    expression: expression.clone(),
                    holds,
                })
            }));
        }
        let numbers = |fields: &mut dyn Iterator<Item = (&String, &Value)>| -> BTreeMap<String, f64> {
            fields
                .filter_map(|(name, value)| Some((name.clone(), value.as_f64()?)))
                .collect()
        };
        let figures = match fields.get("values") {
            Some(Value::Object(values)) => numbers(&mut values.iter()),
            _ => numbers(&mut fields.iter()),
        };
        // The older form does not say what the numbers of a trend are; those of k6's own are times.
        let is_time = match fields.get("contains").and_then(Value::as_str) {
            Some(contains) => contains == "time",
            None => OWN_TIMES.iter().any(|start| name.starts_with(start)) && figures.contains_key("avg"),
        };
        found.insert(name, Metric { is_time, figures });
    }
    (!found.is_empty()).then(|| Imported {
        duration_seconds: state.duration_ms.map(|ms| ms / 1e3),
        thresholds,
        ..Imported::new(Tool::K6, file, found)
    })
}

/// A line of `--out json`.
#[derive(Deserialize)]
#[serde(tag = "type")]
enum Line {
    Metric { metric: String, data: Definition },
    Point { metric: String, data: Point },
}

#[derive(Deserialize)]
struct Definition {
    #[serde(rename = "type")]
    kind: Kind,
    contains: String,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Kind {
    Counter,
    Gauge,
    Rate,
    Trend,
}

#[derive(Deserialize)]
struct Point {
    time: String,
    value: f64,
}

/// The samples of a metric so far.
enum Samples {
    Counter(f64),
    Gauge { value: f64, min: f64, max: f64 },
    Rate { passes: u64, fails: u64 },
    Trend(Box<Histogram>),
}

/// Why samples cannot be read.
#[derive(Debug, thiserror::Error)]
pub(super) enum SamplesError {
    #[error("cannot be read")]
    Io(#[from] io::Error),
    #[error("line {line} is not a line of k6's --out json: {problem}")]
    Line { line: usize, problem: String },
    #[error("has no samples")]
    Empty,
}

/// Reads samples, line by line.
///
/// # Errors
/// A line cannot be read, or there is none.
pub(super) fn samples(file: &str, input: impl BufRead) -> Result<Imported, SamplesError> {
    let mut metrics: BTreeMap<String, (bool, Samples)> = BTreeMap::new();
    let mut times: Option<(SystemTime, SystemTime)> = None;
    for (at, line) in input.lines().enumerate() {
        let line = line?;
        if line.trim().is_empty() {
            continue;
        }
        let problem = |problem: String| SamplesError::Line {
            line: at + 1,
            problem,
        };
        match serde_json::from_str(&line).map_err(|error| problem(error.to_string()))? {
            Line::Metric { metric, data } => {
                metrics
                    .entry(metric)
                    .or_insert_with(|| (data.contains == "time", Samples::new(data.kind)));
            }
            Line::Point { metric, data } => {
                let known = metrics.get_mut(&metric);
                let (_, samples) =
                    known.ok_or_else(|| problem(format!("no line before it defines {metric}")))?;
                samples.add(data.value);
                let at = parse_rfc3339(&data.time);
                let at = at.ok_or_else(|| problem(format!("{:?} is not a time of RFC 3339", data.time)))?;
                let (first, last) = times.unwrap_or((at, at));
                times = Some((first.min(at), last.max(at)));
            }
        }
    }
    let (first, last) = times.ok_or(SamplesError::Empty)?;
    let seconds = last
        .duration_since(first)
        .ok()
        .map(|duration| duration.as_secs_f64());
    let found = metrics.into_iter().map(|(name, (is_time, samples))| {
        (
            name,
            Metric {
                is_time,
                figures: samples.figures(seconds),
            },
        )
    });
    Ok(Imported {
        started_at: rfc3339(first),
        is_time_of_file: false,
        is_of_samples: true,
        duration_seconds: seconds,
        ..Imported::new(Tool::K6, file, found.collect())
    })
}

impl Samples {
    fn new(kind: Kind) -> Self {
        match kind {
            Kind::Counter => Self::Counter(0.0),
            Kind::Gauge => Self::Gauge {
                value: 0.0,
                min: f64::INFINITY,
                max: f64::NEG_INFINITY,
            },
            Kind::Rate => Self::Rate { passes: 0, fails: 0 },
            Kind::Trend => Self::Trend(Box::new(Histogram::new())),
        }
    }

    fn add(&mut self, sample: f64) {
        match self {
            Self::Counter(sum) => *sum += sample,
            Self::Gauge { value, min, max } => {
                *value = sample;
                *min = min.min(sample);
                *max = max.max(sample);
            }
            Self::Rate { passes, fails } => {
                if sample == 0.0 {
                    *fails += 1;
                } else {
                    *passes += 1;
                }
            }
            // Milliseconds; other numbers keep three decimals.
            Self::Trend(histogram) => {
                histogram.record(Duration::from_secs_f64((sample / 1e3).clamp(0.0, 1e9)));
            }
        }
    }

    fn figures(&self, seconds: Option<f64>) -> BTreeMap<String, f64> {
        let figures: Vec<(&str, f64)> = match self {
            Self::Counter(sum) => {
                let rate = seconds
                    .filter(|seconds| *seconds > 0.0)
                    .map(|seconds| ("rate", sum / seconds));
                [("count", *sum)].into_iter().chain(rate).collect()
            }
            Self::Gauge { value, min, max } => vec![("value", *value), ("min", *min), ("max", *max)],
            Self::Rate { passes, fails } => {
                let all = (passes + fails) as f64;
                let rate = if all > 0.0 { *passes as f64 / all } else { 0.0 };
                vec![
                    ("rate", rate),
                    ("passes", *passes as f64),
                    ("fails", *fails as f64),
                ]
            }
            Self::Trend(histogram) => STATS
                .into_iter()
                .filter_map(|stat| Some((stat, trend_figure(histogram, stat)?)))
                .collect(),
        };
        let finite = figures.into_iter().filter(|(_, value)| value.is_finite());
        finite.map(|(name, value)| (name.to_owned(), value)).collect()
    }
}
