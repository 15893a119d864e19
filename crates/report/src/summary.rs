//! What a run came to, and its JSON:
//!
#![doc = include_str!("../docs/summary-json.md")]

use std::collections::BTreeMap;

use plimsoll_load::{
    generator::{Evidence, Health},
    metrics::{Check, CheckName, MetricSet},
    run::{Failures, RunEnd, RunResult},
    threshold::Finding,
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
    /// Why the run ended.
    pub end: End,
    /// How the thresholds stand.
    pub thresholds: Vec<Threshold>,
    /// What people should know, such as that virtual users were too few.
    pub notices: Vec<String>,
    /// How iterations ended.
    pub iterations: Iterations,
    /// Virtual users that existed.
    pub vus_max: u32,
    /// The answers to all checks, in the order of their definition.
    pub checks: Vec<CheckResult>,
    /// All metrics that have samples, by name; a sub-metric's name is `metric{tag:value}`.
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

/// Why a run ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "cause", rename_all = "snake_case")]
pub enum End {
    /// Everything was done.
    Complete,
    /// A person or a signal ended it.
    Shutdown,
    /// A threshold ended it.
    ThresholdsCrossed,
    /// A virtual user ended it.
    Aborted {
        /// What it said.
        reason: String,
    },
    /// It never began.
    SetupFailed {
        /// Why.
        reason: String,
    },
}

/// What had to hold, and whether it did.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Threshold {
    /// The metric, or the part of it.
    pub metric: String,
    /// What had to hold.
    pub expression: String,
    /// What was compared: milliseconds, bytes, plain numbers or shares. `None` without samples.
    pub value: Option<f64>,
    /// Whether it held at the end.
    pub passed: bool,
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
    /// Path of its group, `::outer::inner`; empty outside of groups.
    pub group: String,
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
            end: End::from(&run.end),
            thresholds: run.thresholds.iter().map(Threshold::from).collect(),
            notices: notices(run),
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
    fn new(CheckName { group, name }: &CheckName, Check { passes, fails }: Check) -> Self {
        Self {
            group: group.clone(),
            name: name.clone(),
            passes,
            fails,
        }
    }
}

/// What the run says by itself, and what went wrong around it.
fn notices(run: &RunResult) -> Vec<String> {
    let marked = run
        .marked_failed
        .iter()
        .map(|reason| format!("the run was marked as failed: {reason}"));
    let teardown = run
        .teardown_failure
        .iter()
        .map(|failure| format!("teardown failed: {failure}"));
    run.notices
        .iter()
        .cloned()
        .chain(marked)
        .chain(teardown)
        .collect()
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

fn metrics(set: &MetricSet, seconds: f64) -> BTreeMap<String, Metric> {
    set.iter()
        .map(|(definition, value)| (definition.name.clone(), Metric::new(definition, value, seconds)))
        .collect()
}

impl From<&RunEnd> for End {
    fn from(end: &RunEnd) -> Self {
        match end {
            RunEnd::Complete => Self::Complete,
            RunEnd::Shutdown => Self::Shutdown,
            RunEnd::ThresholdsCrossed => Self::ThresholdsCrossed,
            RunEnd::Aborted { reason } => Self::Aborted {
                reason: reason.clone(),
            },
            RunEnd::SetupFailed(failure) => Self::SetupFailed {
                reason: failure.to_string(),
            },
        }
    }
}

impl From<&Finding> for Threshold {
    fn from(finding: &Finding) -> Self {
        Self {
            metric: finding.metric.clone(),
            expression: finding.expression.clone(),
            value: finding.value,
            passed: finding.passed,
        }
    }
}

#[cfg(test)]
pub(crate) mod tests;
