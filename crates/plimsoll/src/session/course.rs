//! From the result of a run to its summary.

use std::{num::NonZeroUsize, time::Duration};

use plimsoll_load::{
    generator::Health,
    machine::Machine,
    metrics::{Contains, MetricSet, Value},
    run::RunResult,
    watch::Account,
};
use plimsoll_report::{Summary, percentile, summary::Parts, timeline::Recorder};

use super::Subject;
use crate::{origin::origin, watching};

/// What is known of a run besides its result.
#[derive(Debug)]
pub(super) struct Course<'a> {
    pub(super) subject: Subject<'a>,
    pub(super) n_workers: NonZeroUsize,
    /// Has observed the run.
    pub(super) recorder: Recorder,
    /// Whether the generator was the bottleneck.
    pub(super) health: Health,
    /// What was watched.
    pub(super) accounts: Vec<Account>,
    /// What people should know of its outputs.
    pub(super) notices: Vec<String>,
}

impl Course<'_> {
    /// What the run came to.
    pub(super) fn summarize(self, run: &RunResult) -> Summary {
        let Subject { kind, name, plan, .. } = self.subject;
        let mut summary = Summary::new(Parts {
            origin: origin(kind, name, &Machine::read()),
            plan,
            n_workers: self.n_workers.get(),
            run,
            recorder: self.recorder,
            health: &self.health,
            losses: None,
            accounts: &self.accounts,
            trend_stats: &plan.summary_trend_stats,
        });
        watching::tell_ended(&summary.targets);
        summary.notices.extend(self.notices);
        summary
    }
}

/// The latency against which the generator's own lateness is judged: the shortest that users of scripts and of
/// wsdirector's scenarios measure.
pub(super) fn shortest_latency(metrics: &MetricSet) -> Option<Duration> {
    let latencies = metrics.iter().filter_map(|(definition, sample)| match sample {
        Value::Trend(histogram) if definition.contains == Contains::Time && is_latency(&definition.name) => {
            Some(percentile(histogram, 95.0))
        }
        _ => None,
    });
    latencies.min()
}

/// Whether a trend says how long the target took.
fn is_latency(name: &str) -> bool {
    ["http_req_duration", "ws_connecting", "ws_ping", "rtt"].contains(&name)
}
