//! What a run came to, and its JSON:
//!
#![doc = include_str!("../docs/summary-json.md")]

use std::collections::BTreeMap;

use plimsoll_load::{
    generator::{Evidence, Health},
    metrics::{Check, MetricSet},
    run::{Failures, RunResult},
    watch::Sample,
};
use serde::Serialize;

use crate::{Distribution, Style, text, timestamp};

mod metric;

pub use self::metric::{Contains, Metric, Values};

/// Everything there is to say about a run. Text and JSON both come from here.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// Version of the JSON format.
    pub version: u32,
    /// What was run, and when.
    pub metadata: Metadata,
    /// How iterations ended.
    pub iterations: Iterations,
    /// Virtual users that existed.
    pub vus_max: u32,
    /// The answers to all checks, in the order of their definition.
    pub checks: Vec<CheckResult>,
    /// All metrics that have samples, and all counters, by name.
    pub metrics: BTreeMap<String, Metric>,
    /// Messages that should have arrived, where the scenario knows.
    pub losses: Option<Losses>,
    /// What the target used, where it was watched.
    pub target: Option<Target>,
    /// What the generator used, and whether it was the bottleneck.
    pub generator: Generator,
}

/// What was run, and when.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Metadata {
    /// Version of the program.
    pub plimsoll: String,
    /// The command line as it was typed.
    pub command: Vec<String>,
    /// RFC 3339, UTC.
    pub started_at: String,
    /// From the start to the end of the last iteration.
    pub duration_seconds: f64,
    /// Unit of all durations in metrics: `us`.
    pub time_unit: &'static str,
}

/// How iterations ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Iterations {
    /// By themselves, failed ones included.
    pub complete: u64,
    /// Dropped by the schedule or by a person.
    pub interrupted: u64,
    /// Complete ones that failed.
    pub failed: u64,
    /// Why, for the first 20 distinct reasons.
    pub failures: Vec<Failure>,
}

/// A reason for failed iterations.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Failure {
    /// What failed.
    pub reason: String,
    /// How often.
    pub count: u64,
}

/// A check and its answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CheckResult {
    /// Its text.
    pub name: String,
    /// Times that it held.
    pub passes: u64,
    /// Times that it did not.
    pub fails: u64,
}

/// Exact counts of messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Losses {
    /// Messages that should have arrived.
    pub expected: u64,
    /// Those of them that did, each counted once.
    pub received: u64,
    /// Those that did not.
    pub lost: u64,
    /// Messages that arrived once more than they should.
    pub duplicated: u64,
    /// Messages that arrived after a later one.
    pub out_of_order: u64,
}

/// What the watched target used.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Target {
    /// What was watched: a name for people.
    pub name: String,
    /// CPU time of its process tree.
    pub cpu_seconds: f64,
    /// CPU time per second.
    pub cores: f64,
    /// Highest sampled resident memory.
    pub rss_max_bytes: u64,
    /// Growth of the resident memory per virtual user.
    pub rss_per_user_bytes: u64,
}

impl Target {
    /// What was used between two samples, `before` the first of `n_users` came and at the end; `rss_max_bytes` is
    /// the highest resident memory of all samples between them.
    pub fn new(name: &str, before: &Sample, end: &Sample, rss_max_bytes: u64, n_users: u32) -> Self {
        let usage = end.since(before);
        let growth_bytes = rss_max_bytes.saturating_sub(before.rss_bytes);
        Self {
            name: name.to_owned(),
            cpu_seconds: usage.cpu.as_secs_f64(),
            cores: usage.cores(),
            rss_max_bytes,
            rss_per_user_bytes: growth_bytes / u64::from(n_users.max(1)),
        }
    }
}

/// What the generator used, and its health.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Generator {
    /// CPU time of this program.
    pub cpu_seconds: f64,
    /// CPU time per second.
    pub cores: f64,
    /// Busiest second of any worker, as a share of one core.
    pub busiest_worker_share: f64,
    /// Idle share of all cores of the machine, where known.
    pub machine_idle_share: Option<f64>,
    /// How late its clock ticks fired.
    pub lateness: Distribution,
    /// Whether the figures are not the target's alone.
    pub saturated: bool,
    /// How that is known.
    pub reasons: Vec<String>,
}

impl Generator {
    /// The evidence with the verdict over it.
    pub fn new(evidence: &Evidence, health: &Health) -> Self {
        let seconds = evidence.elapsed.as_secs_f64();
        let cpu_seconds = evidence.cpu.as_secs_f64();
        Self {
            cpu_seconds,
            cores: if seconds > 0.0 { cpu_seconds / seconds } else { 0.0 },
            busiest_worker_share: evidence.busiest_share,
            machine_idle_share: evidence.machine_idle_share,
            lateness: Distribution::from(&evidence.lateness),
            saturated: health.saturated,
            reasons: health.reasons.clone(),
        }
    }
}

/// What a summary is made from.
#[derive(Clone, Debug)]
pub struct Parts<'a> {
    /// Version of the program.
    pub plimsoll: &'a str,
    /// The command line as it was typed.
    pub command: Vec<String>,
    /// What the run came to.
    pub run: &'a RunResult,
    /// The verdict over `run.generator`.
    pub health: &'a Health,
    /// Messages that should have arrived, where the scenario knows.
    pub losses: Option<Losses>,
    /// What the target used, where it was watched.
    pub target: Option<Target>,
}

impl Summary {
    /// Derives all figures.
    pub fn new(parts: Parts<'_>) -> Self {
        let Parts {
            plimsoll,
            command,
            run,
            health,
            losses,
            target,
        } = parts;
        let seconds = run.duration.as_secs_f64();
        Self {
            version: 1,
            metadata: Metadata {
                plimsoll: plimsoll.to_owned(),
                command,
                started_at: timestamp::rfc3339(run.started_at),
                duration_seconds: seconds,
                time_unit: "us",
            },
            iterations: Iterations {
                complete: run.iterations.n_complete,
                interrupted: run.iterations.n_interrupted,
                failed: run.failures.count(),
                failures: failures(&run.failures),
            },
            vus_max: run.max_vus,
            checks: run
                .metrics
                .checks()
                .map(|(name, check)| CheckResult::new(name, check))
                .collect(),
            metrics: metrics(&run.metrics, seconds),
            losses,
            target,
            generator: Generator::new(&run.generator, health),
        }
    }

    /// The summary for people, in the layout of k6.
    pub fn text(&self, style: Style) -> String {
        text::render(self, style)
    }
}

impl CheckResult {
    fn new(name: &str, Check { passes, fails }: Check) -> Self {
        Self {
            name: name.to_owned(),
            passes,
            fails,
        }
    }
}

fn failures(failures: &Failures) -> Vec<Failure> {
    failures
        .reasons()
        .map(|(reason, count)| Failure {
            reason: reason.to_owned(),
            count,
        })
        .collect()
}

/// All metrics of the set, and k6's rate `checks` over all answers to all checks.
fn metrics(set: &MetricSet, seconds: f64) -> BTreeMap<String, Metric> {
    let of_set = set
        .iter()
        .map(|(definition, value)| (definition.name.clone(), Metric::new(definition, value, seconds)));
    of_set
        .chain(Metric::of_checks(set).map(|metric| ("checks".to_owned(), metric)))
        .collect()
}

#[cfg(test)]
pub(crate) mod tests;
