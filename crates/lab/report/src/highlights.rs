//! What of a run people want to see first: the sentence at the top of a report and its first charts are about these.

use serde::Serialize;

use crate::{
    Distribution, Summary,
    summary::{Contains, Metric, Values},
};

/// The figures that tell most about a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Highlights {
    /// Virtual users that were active at the same moment, at the most.
    pub users: u64,
    /// Name of the trend that tells most about the target.
    pub latency: Option<String>,
    /// Name of the counter that tells most about throughput.
    pub throughput: Option<String>,
}

/// Trends that say what a user waits for; the first that a run has is shown.
const LATENCIES: [&str; 4] = ["rtt", "broadcast_duration", "ws_response_time", "step_duration"];

/// The same where a test measures nothing itself. What counts from the moment at which the schedule wanted something
/// comes before what does not.
const USUAL_LATENCIES: [&str; 6] = [
    "http_req_duration",
    "http_response_time",
    "ws_ping",
    "ws_connecting",
    "iteration_duration_scheduled",
    "iteration_duration",
];

/// How names of metrics begin that a test does not define.
const BUILT_IN: [&str; 8] = [
    "http_",
    "ws_",
    "grpc_",
    "iteration_",
    "vusers_",
    "group_duration",
    "browser_",
    "plugins.",
];

/// Counters that say how much there was to do; the one that counted most is shown.
const THROUGHPUTS: [&str; 3] = ["ws_msgs_received", "http_reqs", "deliveries"];

impl Highlights {
    /// Those of a run.
    pub fn of(summary: &Summary) -> Self {
        let most_active = summary.timeline.vus.iter().max();
        Self {
            users: most_active.map_or(u64::from(summary.vus_max), |&users| u64::from(users)),
            latency: latency(summary).map(str::to_owned),
            throughput: throughput(summary).map(str::to_owned),
        }
    }

    /// The distribution of [`Self::latency`].
    pub(crate) fn latency_of<'a>(&'a self, summary: &'a Summary) -> Option<(&'a str, &'a Distribution)> {
        let name = self.latency.as_deref()?;
        Some((name, durations(summary.metrics.get(name)?)?))
    }
}

/// The main trend of a run, for pages, comparisons and lists: what the first threshold on a duration is about; or else what tests measure by themselves; or else what each test has.
pub(crate) fn latency(summary: &Summary) -> Option<&str> {
    let measured = |name: &str| summary.metrics.get(name).and_then(durations).is_some();
    let judged = summary
        .thresholds
        .iter()
        .map(|threshold| threshold.key.as_str())
        .find(|name| measured(name));
    judged
        .or_else(|| LATENCIES.into_iter().find(|name| measured(name)))
        .or_else(|| own(summary))
        .or_else(|| USUAL_LATENCIES.into_iter().find(|name| measured(name)))
}

/// The trend of the test's own that has most samples.
fn own(summary: &Summary) -> Option<&str> {
    let trends = summary.metrics.iter().filter_map(|(name, metric)| {
        let is_own = !BUILT_IN.iter().any(|start| name.starts_with(start)) && !name.contains('{');
        Some((name.as_str(), durations(metric)?)).filter(|_| is_own)
    });
    let (name, _) = trends.max_by_key(|(_, distribution)| distribution.count)?;
    Some(name)
}

fn durations(metric: &Metric) -> Option<&Distribution> {
    match &metric.values {
        Values::Trend(distribution) if metric.contains == Contains::Time && distribution.count > 0 => {
            Some(distribution)
        }
        _ => None,
    }
}

fn throughput(summary: &Summary) -> Option<&'static str> {
    let counted = |name: &str| match summary.metrics.get(name)?.values {
        Values::Counter { count, .. } if count > 0.0 => Some(count),
        _ => None,
    };
    let known = THROUGHPUTS
        .into_iter()
        .filter_map(|name| Some((name, counted(name)?)));
    let most = known.max_by(|(_, one), (_, other)| one.total_cmp(other));
    let iterations = || counted("iterations").map(|_| "iterations");
    most.map(|(name, _)| name).or_else(iterations)
}
