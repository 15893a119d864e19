//! The summary of a run, and its JSON:
//!
//!
#![doc = include_str!("../docs/summary-json.md")]

use std::collections::BTreeMap;

use plimsoll_load::{
    generator::Health,
    machine::Machine,
    metrics::{Check, CheckName, MetricSet},
    plan,
    run::{Failures, RunEnd, RunResult},
    threshold::Finding,
    watch::Account,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    Layout, Style,
    by_load::{Basis, ByLoad, Level, LoadUnit},
    highlights,
    legs::Legs,
    text,
    timeline::{Recorded, Recorder, Timeline},
};

mod agent;
mod attempts;
mod breakdown;
mod command;
mod conclusion;
mod errors;
mod generator;
mod group;
mod in_flight;
mod listing;
mod losses;
mod measured;
mod metadata;
mod metric;
mod metrics;
pub(crate) mod number;
mod plan_outline;
mod reading;
mod size;
mod target;

pub use self::{
    agent::{Agent, AgentClock},
    attempts::{Connections, all_failed},
    breakdown::{Breakdown, Section},
    command::TimedCommand,
    conclusion::Conclusion,
    errors::{ErrorGroup, FURTHER},
    generator::{Doubted, Generator, GeneratorSeries, Neighbours, OtherProgram},
    group::Group,
    in_flight::StepInFlight,
    losses::Losses,
    measured::Measured,
    metadata::{Environment, Kind, Metadata, run_id},
    metric::{Contains, Figure, Metric, Values},
    plan_outline::{Plan, PlannedScenario, describe},
    reading::ReadError,
    target::{Load, Target, TargetEnded},
};
pub(crate) use self::{group::SEPARATOR, listing::Entry};

/// Version of the JSON format.
pub const VERSION: u32 = 2;

/// All results of a run: text, reports, comparisons and JSON are derived from it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Summary {
    /// Version of the JSON format.
    pub version: u32,
    /// What was run, and when.
    pub metadata: Metadata,
    /// The generator's machine.
    pub environment: Environment,
    /// The planned scenarios.
    pub plan: Plan,
    /// Why the run ended.
    pub end: End,
    /// The verdict of the command. `None` while the run is in progress, and in summaries of older versions of the program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conclusion: Option<Conclusion>,
    /// The state of the thresholds.
    pub thresholds: Vec<Threshold>,
    /// Messages for people, for example that there were too few virtual users.
    pub notices: Vec<String>,
    /// The outcomes of iterations.
    pub iterations: Iterations,
    /// Failures by cause, the most frequent first; at most 202 causes.
    pub errors: Vec<ErrorGroup>,
    /// The WebSocket connections of scripts and benches; absent without any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connections: Option<Connections>,
    /// Virtual users that existed.
    pub vus_max: u32,
    /// The answers to all checks, in the order of their definition.
    pub checks: Vec<CheckResult>,
    /// The paths of all groups, `::outer::inner`, in the order in which they appeared.
    pub groups: Vec<String>,
    /// All metrics that have samples or thresholds, by name; a sub-metric's name is `metric{tag:value}`.
    pub metrics: BTreeMap<String, Metric>,
    /// Results by scenario and by group, if requested.
    #[serde(default, skip_serializing_if = "Breakdown::is_empty")]
    pub breakdown: Breakdown,
    /// What happened when.
    pub timeline: Timeline,
    /// What happened at which load. `None` in summaries of older versions of the program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by_load: Option<ByLoad>,
    /// The counts of messages, if the scenario counts them.
    pub losses: Option<Losses>,
    /// How many broadcasts were in flight, for each step of `bench broadcast`, at most for the first 50.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub in_flight: Vec<StepInFlight>,
    /// The commands of `--at` that began during the run, in the order in which they began.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<TimedCommand>,
    /// What the watched targets used, in the order in which they were named.
    pub targets: Vec<Target>,
    /// What the generator used, and whether it was the bottleneck.
    pub generator: Generator,
    /// The agents of the fleet that made the load together. Absent if one machine made it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub agents: Vec<Agent>,
}

/// The outcomes of iterations.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Iterations {
    /// Iterations that ran to their end, including failed ones.
    pub complete: u64,
    /// Dropped by the schedule or by a person.
    pub interrupted: u64,
    /// Complete iterations that failed.
    pub failed: u64,
    /// The first 20 distinct reasons of failed iterations.
    pub failures: Vec<Failure>,
}

impl Iterations {
    /// All that began.
    pub fn began(&self) -> u64 {
        self.complete + self.interrupted
    }
}

/// Why a run ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Threshold {
    /// The metric or sub-metric, as it was written.
    pub metric: String,
    /// Its name in [`Summary::metrics`].
    pub key: String,
    /// What had to hold.
    pub expression: String,
    /// What of the metric was compared, for example `p(95)`.
    pub aggregation: String,
    /// What was compared: milliseconds, bytes, plain numbers or shares. `None` without samples.
    pub value: Option<f64>,
    /// Whether it held at the end. Without samples, k6's rules decide.
    pub passed: bool,
    /// Whether it ended the run.
    pub aborted: bool,
}

/// A reason for failed iterations.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Failure {
    /// What failed.
    pub reason: String,
    /// How often.
    pub count: u64,
}

/// A check and its answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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

/// The data for a summary.
#[derive(Clone, Debug)]
pub struct Parts<'a> {
    /// What was run.
    pub origin: Origin<'a>,
    /// The planned scenarios.
    pub plan: &'a plan::Plan,
    /// Threads that virtual users ran on.
    pub n_workers: usize,
    /// The result of the run.
    pub run: &'a RunResult,
    /// What happened when: has observed the run from its start.
    pub recorder: Recorder,
    /// The verdict over `run.generator`.
    pub health: &'a Health,
    /// The counts of messages, if the scenario counts them.
    pub losses: Option<Losses>,
    /// What the watched targets used.
    pub accounts: &'a [Account],
    /// The figures of trends that the user asked for, under k6's names; see
    /// [`Plan::summary_trend_stats`](plimsoll_load::plan::Plan::summary_trend_stats).
    pub trend_stats: &'a [String],
}

/// The origin of a run.
#[derive(Clone, Debug)]
pub struct Origin<'a> {
    /// Version of the program.
    pub plimsoll: &'a str,
    /// The command line as it was typed, beginning with `plimsoll`, without the secrets of URLs and flags.
    pub command: Vec<String>,
    /// What was run, for people.
    pub name: &'a str,
    /// Whose way of testing it is.
    pub kind: Kind,
    /// Distinguishes its id from that of another run that began in the same millisecond. Any random number.
    pub salt: u32,
    /// The generator's machine.
    pub machine: &'a Machine,
}

impl Summary {
    /// Derives all figures.
    pub fn new(parts: Parts<'_>) -> Self {
        let Parts {
            origin,
            plan,
            n_workers,
            run,
            recorder,
            health,
            losses,
            accounts,
            trend_stats,
        } = parts;
        let Recorded {
            timeline,
            generator,
            legs,
        } = recorder.finish(&run.rest);
        let load = Load::of(&timeline);
        let targets = accounts
            .iter()
            .map(|account| Target::new(account, &load))
            .collect();
        let seconds = run.duration.as_secs_f64();
        let judged = run
            .thresholds
            .iter()
            .map(|finding| run.metrics.registry().definition(finding.id));
        let mut summary = Self {
            version: VERSION,
            environment: Environment::new(origin.machine, n_workers),
            metadata: Metadata::new(origin, run.started_at, seconds),
            plan: Plan::of(plan),
            end: End::from(&run.end),
            conclusion: None,
            thresholds: run
                .thresholds
                .iter()
                .map(|finding| Threshold::new(finding, &run.metrics))
                .collect(),
            notices: notices(run),
            iterations: Iterations {
                complete: run.iterations.n_complete,
                interrupted: run.iterations.n_interrupted,
                failed: run.failures.count(),
                failures: failures(&run.failures),
            },
            errors: errors::groups([run.failures.causes(), run.metrics.faults()]),
            connections: Connections::of(run.metrics.failed_connections()),
            vus_max: run.max_vus,
            checks: run
                .metrics
                .checks()
                .map(|(name, check)| CheckResult::new(name, check))
                .collect(),
            groups: run.metrics.groups().map(str::to_owned).collect(),
            metrics: metrics::all(&run.metrics, seconds, judged, trend_stats),
            breakdown: Breakdown::new(&run.metrics, seconds, trend_stats),
            timeline,
            by_load: None,
            losses,
            in_flight: Vec::new(),
            commands: Vec::new(),
            targets,
            generator: Generator::new(&run.generator, health, generator),
            agents: Vec::new(),
        };
        summary.learn(&legs, Vec::new());
        size::limit(&mut summary);
        summary
    }

    /// Adds the figures by load. `steps` are the plateaus, if the workload knows them.
    fn learn(&mut self, legs: &Legs, steps: Vec<Level>) {
        let by_load = self.levels(legs, steps);
        if by_load.unit == LoadUnit::Users {
            for target in &mut self.targets {
                target.learn(&by_load.plateaus);
            }
        }
        self.by_load = Some(by_load);
    }

    fn levels(&self, legs: &Legs, steps: Vec<Level>) -> ByLoad {
        let basis = Basis {
            legs,
            latency: highlights::latency(self),
            seconds: self.metadata.duration_seconds,
            timeline: &self.timeline,
            targets: &self.targets,
        };
        ByLoad::of(&basis, steps)
    }

    /// The summary of a native workload for people: its progress, k6's legacy layout, and the figures that k6 does not
    /// have.
    pub fn text(&self, style: Style) -> String {
        text::native(self, style)
    }

    /// The summary of a script for people, in one of k6's layouts. A section below it has the figures that k6 does not
    /// have. Empty if the summary is disabled.
    pub fn end_of_test(&self, layout: Layout, style: Style) -> String {
        text::end_of_test(self, layout, style)
    }

    /// The result of a run in which [nothing succeeded](Self::has_no_success), in few lines: the count, and the most
    /// frequent causes. `elsewhere` says how to get all figures.
    pub fn futility(&self, elsewhere: &str, style: Style) -> String {
        text::futility(self, elsewhere, style)
    }

    /// All failures by cause, for people: how often, from when to when, and an example. Empty without failures.
    pub fn causes(&self, style: Style) -> String {
        text::causes(&self.errors, style)
    }

    /// All metrics that k6 would list, in its order.
    pub(crate) fn listing(&self) -> Vec<Entry<'_>> {
        Entry::list(&self.metrics, &self.thresholds)
    }

    /// Groups and checks as a tree.
    pub fn root_group(&self) -> Group<'_> {
        Group::tree(&self.groups, &self.checks)
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

    /// The numbers of passed and of failed checks.
    pub(crate) fn answers(checks: &[Self]) -> (u64, u64) {
        let sum = |of: fn(&Self) -> u64| checks.iter().map(of).sum();
        (sum(|check| check.passes), sum(|check| check.fails))
    }

    /// The checks with equal text combined, over all groups.
    pub(crate) fn by_name(checks: &[Self]) -> Vec<Self> {
        let mut merged: Vec<Self> = Vec::new();
        for check in checks {
            match merged.iter_mut().find(|known| known.name == check.name) {
                Some(known) => {
                    known.passes += check.passes;
                    known.fails += check.fails;
                }
                None => merged.push(check.clone()),
            }
        }
        merged
    }
}

/// The run's own notices, and errors around it.
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
        .chain(breakdown::left_out(&run.metrics))
        .collect()
}

impl Summary {
    /// Edits every sentence with foreign text: typed, thrown, or logged. For removing secrets.
    pub fn edit_sentences(&mut self, edit: impl Fn(&str) -> String) {
        let failures = self
            .iterations
            .failures
            .iter_mut()
            .map(|failure| &mut failure.reason);
        let end = match &mut self.end {
            End::Aborted { reason } | End::SetupFailed { reason } => Some(reason),
            End::Complete | End::Shutdown | End::ThresholdsCrossed => None,
        };
        let errors = self.errors.iter_mut().flat_map(|group| {
            let example = group.example.iter_mut();
            example.chain([&mut group.cause])
        });
        let sentences = failures
            .chain(errors)
            .chain(end)
            .chain(
                self.conclusion
                    .iter_mut()
                    .filter_map(|conclusion| conclusion.reason.as_mut()),
            )
            .chain(&mut self.notices)
            .chain(self.commands.iter_mut().flat_map(TimedCommand::texts))
            .chain(&mut self.metadata.command);
        for sentence in sentences {
            *sentence = edit(sentence);
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

impl Threshold {
    /// Whether it held, for readers. `None` if the metric has no samples and the rules let it pass: nothing was shown.
    pub fn holds(&self) -> Option<bool> {
        (self.value.is_some() || !self.passed).then_some(self.passed)
    }

    fn new(finding: &Finding, metrics: &MetricSet) -> Self {
        Self {
            metric: finding.metric.trim().to_owned(),
            key: metrics.registry().definition(finding.id).name.clone(),
            expression: finding.expression.clone(),
            aggregation: finding.aggregation.clone(),
            value: finding.value,
            passed: finding.passed,
            aborted: finding.aborted,
        }
    }
}

#[cfg(test)]
pub(crate) mod tests;
