//! What another tool measured: figures as it printed them, without samples. It is kept in place of a summary.

use std::{collections::BTreeMap, time::Duration};

use plimsoll_report::{
    Highlights, Style,
    quantity::{duration, number},
};
use serde::{Deserialize, Serialize};

/// The kind of an imported run.
pub(crate) const IMPORTED: &str = "imported";

/// The version of the JSON.
const VERSION: u32 = 1;

/// The result of a run of another tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Imported {
    /// The version of the JSON, under a name that no summary has.
    #[serde(rename = "imported")]
    pub(super) version: u32,
    pub(crate) tool: Tool,
    /// The file that was imported.
    pub(crate) file: String,
    /// RFC 3339, UTC.
    pub(crate) started_at: String,
    /// Whether the start is not in the file, and is the time at which the file was written.
    pub(crate) is_time_of_file: bool,
    /// Whether the figures are made of samples. Otherwise they are those that the tool printed.
    pub(crate) is_of_samples: bool,
    /// `None` if the file does not tell it.
    pub(crate) duration_seconds: Option<f64>,
    pub(crate) metrics: BTreeMap<String, Metric>,
    pub(crate) thresholds: Vec<Threshold>,
}

/// The tools whose results are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Tool {
    K6,
    Artillery,
}

/// The figures of a metric, under the tool's names for them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Metric {
    /// Whether the figures are durations in milliseconds.
    pub(crate) is_time: bool,
    pub(crate) figures: BTreeMap<String, f64>,
}

/// What had to hold, and whether it did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Threshold {
    pub(crate) metric: String,
    pub(crate) expression: String,
    pub(crate) holds: bool,
}

impl Tool {
    /// For people.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::K6 => "k6",
            Self::Artillery => "Artillery",
        }
    }
}

impl Metric {
    /// The 95th percentile under the name of either tool.
    fn p95(&self) -> Option<f64> {
        let found = ["p(95)", "p95"]
            .into_iter()
            .find_map(|name| self.figures.get(name));
        found.copied().filter(|_| self.is_time)
    }
}

impl Imported {
    pub(super) fn new(tool: Tool, file: &str, metrics: BTreeMap<String, Metric>) -> Self {
        Self {
            version: VERSION,
            tool,
            file: file.to_owned(),
            started_at: String::new(),
            is_time_of_file: true,
            is_of_samples: false,
            duration_seconds: None,
            metrics,
            thresholds: Vec::new(),
        }
    }

    /// Reads what was kept of it. `None` for all other texts.
    pub(crate) fn read(json: &str) -> Option<Self> {
        serde_json::from_str(json)
            .ok()
            .filter(|it: &Self| it.version <= VERSION)
    }

    /// `unjudged` without thresholds.
    pub(super) fn verdict(&self) -> &'static str {
        match self.thresholds.iter().all(|threshold| threshold.holds) {
            _ if self.thresholds.is_empty() => "unjudged",
            true => "pass",
            false => "fail",
        }
    }

    /// The metric of durations that says most, as for a run of ours.
    pub(crate) fn latency(&self) -> Option<&str> {
        let times = || self.metrics.iter().filter(|(_, metric)| metric.p95().is_some());
        let of_threshold = |threshold: &Threshold| times().find(|(name, _)| **name == threshold.metric);
        if let Some((name, _)) = self.thresholds.iter().find_map(of_threshold) {
            return Some(name);
        }
        let ours: Vec<(String, &str)> = times().map(|(name, _)| (ours(name), name.as_str())).collect();
        let best = Highlights::best_latency(ours.iter().map(|(ours, _)| ours.as_str()))?;
        ours.iter().find(|(ours, _)| ours == best).map(|(_, name)| *name)
    }

    /// The 95th percentile of a metric, in microseconds.
    pub(crate) fn p95_us(&self, metric: &str) -> Option<u64> {
        let ms = self.metrics.get(metric)?.p95()?;
        Some((ms * 1e3).round().max(0.0) as u64)
    }

    /// A figure of a metric.
    pub(crate) fn figure(&self, metric: &str, figure: &str) -> Option<f64> {
        self.metrics.get(metric)?.figures.get(figure).copied()
    }

    /// The greatest number of users, if it is known.
    pub(super) fn users(&self) -> u32 {
        let users = self
            .figure("vus_max", "max")
            .or_else(|| self.figure("vus_max", "value"));
        users.map_or(0, |users| users.round().max(0.0) as u32)
    }

    /// The share of requests or virtual users that failed.
    pub(crate) fn failed(&self) -> Option<f64> {
        let of_artillery = || {
            let created = self.figure("vusers.created", "count").filter(|n| *n > 0.0)?;
            Some(self.figure("vusers.failed", "count").unwrap_or(0.0) / created)
        };
        let of_k6 = || {
            let rate = self.figure("http_req_failed", "rate");
            rate.or_else(|| self.figure("http_req_failed", "value"))
        };
        of_artillery().or_else(of_k6)
    }

    /// A few figures for the list.
    pub(super) fn highlights(&self) -> String {
        let p95 = self.latency().and_then(|name| Some((name, self.p95_us(name)?)));
        p95.map_or_else(String::new, |(name, us)| {
            format!("{name} p95={}", duration(Duration::from_micros(us)))
        })
    }

    /// What it is, in a sentence.
    pub(crate) fn sentence(&self) -> String {
        let tool = self.tool.name();
        let figures = if self.is_of_samples {
            format!("figures of all samples that {tool} wrote")
        } else {
            format!("figures as {tool} printed them")
        };
        format!("Imported from {tool}, {}: {figures}.", self.file)
    }

    /// All figures, for people.
    pub(super) fn text(&self, style: Style) -> String {
        let mut lines = vec![self.sentence()];
        if self.is_time_of_file {
            lines.push("The time is that of the file, which does not say when the run began.".to_owned());
        }
        lines.push(String::new());
        let width = self
            .metrics
            .keys()
            .map(|name| name.chars().count())
            .max()
            .unwrap_or(0);
        for (name, metric) in &self.metrics {
            let dots = ".".repeat(width - name.chars().count() + 3);
            lines.push(format!("  {name}{dots}: {}", metric.text()));
        }
        if !self.thresholds.is_empty() {
            lines.push(String::new());
        }
        for Threshold {
            metric,
            expression,
            holds,
        } in &self.thresholds
        {
            let mark = if *holds {
                style.good("✓")
            } else {
                style.bad("✗")
            };
            lines.push(format!("  {mark} {metric}: {expression}"));
        }
        lines.iter().map(|line| format!("{line}\n")).collect()
    }
}

impl Metric {
    fn text(&self) -> String {
        let figures = self.figures.iter().map(|(name, value)| {
            let is_count = ["count", "rate", "passes", "fails"].contains(&name.as_str());
            let value = if self.is_time && !is_count {
                duration(Duration::from_secs_f64((value / 1e3).max(0.0)))
            } else {
                number(*value)
            };
            format!("{name}={value}")
        });
        figures.collect::<Vec<_>>().join(" ")
    }
}

/// The name that a metric of Artillery has in runs of ours.
fn ours(name: &str) -> String {
    name.replace("websocket.", "ws_").replace('.', "_")
}
