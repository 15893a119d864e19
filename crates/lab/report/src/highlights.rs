//! The most important figures of a run: the sentence at the top of a report and its first charts show these.

use std::cmp::Reverse;

use serde::Serialize;

use crate::{
    Distribution, Summary,
    by_load::{ByLoad, Level},
    summary::{Metric, Values},
};

/// The most important figures of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Highlights {
    /// The most virtual users active at the same moment.
    pub users: u64,
    /// The main trend: the one that says most about the target.
    pub latency: Option<String>,
    /// The main counter: the one that says most about throughput.
    pub throughput: Option<String>,
    /// The part of the run that the headline is about: its highest load that was held, or else its band with the highest
    /// loads. `None` if there is neither.
    pub level: Option<Level>,
    /// Whether the load of [`Self::level`] was held.
    pub is_held: bool,
    /// Whether [nothing succeeded](Summary::has_no_success). Then no load was held, and no figure says much.
    pub nothing_succeeded: bool,
}

/// Trends of times that a user waits. The first one that a run has is shown.
const LATENCIES: [&str; 6] = [
    "listener_delivery",
    "rtt",
    "recovery",
    "broadcast_duration",
    "ws_response_time",
    "step_duration",
];

/// Further trends, for a test without its own. Those that count from the scheduled start come first.
const USUAL_LATENCIES: [&str; 6] = [
    "http_req_duration",
    "http_response_time",
    "ws_ping",
    "ws_connecting",
    "iteration_duration_scheduled",
    "iteration_duration",
];

/// Prefixes of the names of built-in metrics.
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

/// Counters of throughput. The one with the highest count is shown.
const THROUGHPUTS: [&str; 3] = ["ws_msgs_received", "http_reqs", "deliveries"];

impl Highlights {
    /// Those of a run.
    pub fn of(summary: &Summary) -> Self {
        let most_active = summary.timeline.vus.iter().max();
        let nothing_succeeded = summary.has_no_success();
        let by_load = summary.by_load.as_ref().filter(|_| !nothing_succeeded);
        let held = by_load.and_then(ByLoad::held);
        Self {
            level: held.or_else(|| by_load?.highest_band()).cloned(),
            is_held: held.is_some(),
            nothing_succeeded,
            users: most_active.map_or(u64::from(summary.vus_max), |&users| u64::from(users)),
            latency: latency(summary).map(str::to_owned),
            throughput: throughput(summary).map(str::to_owned),
        }
    }

    /// The trend of durations that says most about a target, without a threshold that names one: a time that users wait; or
    /// else the first of the test's own; or else a built-in one.
    pub fn best_latency<'a>(names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
        let names: Vec<_> = names.into_iter().collect();
        let first_of = |known: [&str; 6]| {
            known
                .into_iter()
                .find_map(|name| names.iter().find(|it| **it == name))
        };
        let is_own =
            |name: &&&str| !BUILT_IN.iter().any(|start| name.starts_with(start)) && !name.contains('{');
        let found = first_of(LATENCIES).or_else(|| names.iter().find(is_own));
        found.or_else(|| first_of(USUAL_LATENCIES)).copied()
    }

    /// The distribution of [`Self::latency`].
    pub(crate) fn latency_of<'a>(&'a self, summary: &'a Summary) -> Option<(&'a str, &'a Distribution)> {
        let name = self.latency.as_deref()?;
        Some((name, summary.metrics.get(name)?.durations()?))
    }
}

/// The main trend of a run, for pages, comparisons and lists: that of the first threshold on a duration; or else the
/// test's own trend; or else a built-in one.
pub(crate) fn latency(summary: &Summary) -> Option<&str> {
    let measured = |name: &str| summary.metrics.get(name).and_then(Metric::durations).is_some();
    let judged = summary
        .thresholds
        .iter()
        .map(|threshold| threshold.key.as_str())
        .find(|name| measured(name));
    judged.or_else(|| {
        let trends = summary.metrics.iter().filter_map(|(name, metric)| {
            let n_samples = metric.durations()?.count;
            Some((n_samples, name.as_str()))
        });
        let mut trends: Vec<_> = trends.collect();
        trends.sort_by_key(|(n_samples, _)| Reverse(*n_samples));
        Highlights::best_latency(trends.into_iter().map(|(_, name)| name))
    })
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
