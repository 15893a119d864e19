//! The summary of a workload that measures by itself, without the engine's virtual users: `plimsoll bench`.

use std::{collections::BTreeMap, time::SystemTime};

use plimsoll_load::{causes::Causes, metrics::MetricSet, plan::TREND_STATS};

use super::{
    Breakdown, Connections, End, Environment, Generator, Iterations, Losses, Metadata, Metric, Origin, Plan,
    Section, StepInFlight, Summary, Target, Threshold, VERSION, errors, metrics, size,
};
use crate::{by_load::Level, highlights, legs::Legs, timeline::Timeline};

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
    /// The samples by load.
    pub legs: Legs,
    /// The steps that held a load, each with its metrics. Empty if the workload has no steps: then the legs decide.
    pub levels: Vec<(Level, Section)>,
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
            legs,
            levels,
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
            conclusion: None,
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
            by_load: None,
            losses,
            in_flight,
            commands: Vec::new(),
            targets,
            generator,
            agents: Vec::new(),
        };
        let latency = highlights::latency(&summary);
        let steps = levels
            .into_iter()
            .map(|(level, section)| level_of(level, &section, latency));
        let steps = steps.collect();
        summary.learn(&legs, steps);
        size::limit(&mut summary);
        summary
    }
}

/// The level with the samples of the main trend.
fn level_of(level: Level, metrics: &Section, latency: Option<&str>) -> Level {
    let metric = latency.and_then(|name| metrics.metrics.get(name));
    Level {
        latency: metric.and_then(Metric::durations).copied(),
        ..level
    }
}

fn all(set: &MetricSet, seconds: f64) -> BTreeMap<String, Metric> {
    let trend_stats = TREND_STATS.map(str::to_owned);
    metrics::all(set, seconds, std::iter::empty(), &trend_stats)
}
