//! The summary of a workload that measures by itself, without the engine's virtual users: `plimsoll bench`.

use std::{collections::BTreeMap, time::SystemTime};

use plimsoll_load::{causes::Causes, metrics::MetricSet, plan::TREND_STATS};

use super::{
    Breakdown, Connections, End, Environment, Generator, Iterations, Losses, Metadata, Metric, Origin, Plan,
    Section, StepInFlight, Summary, Target, Threshold, VERSION, errors, metrics, size,
};
use crate::timeline::Timeline;

/// The data for such a summary.
#[derive(Debug)]
pub struct Measured<'a> {
    /// What was run.
    pub origin: Origin<'a>,
    /// The beginning of its time: that of the timeline.
    pub started_at: SystemTime,
    /// The length of the measured time, to which rates refer.
    pub seconds: f64,
    /// The planned scenarios.
    pub plan: Plan,
    /// Threads that carried the users.
    pub n_workers: usize,
    /// Why it ended.
    pub end: End,
    /// What had to hold.
    pub thresholds: Vec<Threshold>,
    /// Messages for people.
    pub notices: Vec<String>,
    /// What was done.
    pub iterations: Iterations,
    /// All metrics, with failures.
    pub metrics: &'a MetricSet,
    /// The metrics, step by step.
    pub steps: Vec<Section>,
    /// What happened when.
    pub timeline: Timeline,
    /// Messages that should have arrived.
    pub losses: Option<Losses>,
    /// Broadcasts in flight, step by step.
    pub in_flight: Vec<StepInFlight>,
    /// What the watched targets used.
    pub targets: Vec<Target>,
    /// What the generator used.
    pub generator: Generator,
}

impl Summary {
    /// The summary of a workload with these measurements.
    pub fn of_measured(measured: Measured<'_>) -> Self {
        let Measured {
            origin,
            started_at,
            seconds,
            plan,
            n_workers,
            end,
            thresholds,
            notices,
            iterations,
            metrics,
            steps,
            timeline,
            losses,
            in_flight,
            targets,
            generator,
        } = measured;
        let mut summary = Self {
            version: VERSION,
            environment: Environment::new(origin.machine, n_workers),
            metadata: Metadata::new(origin, started_at, seconds),
            plan,
            end,
            thresholds,
            notices,
            iterations,
            errors: errors::groups([metrics.faults(), &Causes::default()]),
            connections: Connections::of(metrics.failed_connections()),
            vus_max: timeline.vus.iter().copied().max().unwrap_or(0),
            checks: Vec::new(),
            groups: Vec::new(),
            metrics: all(metrics, seconds),
            breakdown: Breakdown {
                groups: Vec::new(),
                scenarios: steps,
            },
            timeline,
            losses,
            in_flight,
            targets,
            generator,
        };
        size::limit(&mut summary);
        summary
    }
}

fn all(set: &MetricSet, seconds: f64) -> BTreeMap<String, Metric> {
    let trend_stats = TREND_STATS.map(str::to_owned);
    metrics::all(set, seconds, std::iter::empty(), &trend_stats)
}
