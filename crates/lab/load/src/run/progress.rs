//! The state of a run in progress.

use std::time::Duration;

use super::{AgentProgress, Failures, Stretch};
use crate::{
    attempts::Attempts, generator::Schedule, metrics::MetricSet, plan::Scenario, threshold::Finding,
};

/// The state of a run, about once per second, for the live view.
#[derive(Clone, Debug)]
pub struct Progress<'a> {
    /// Time since the start.
    pub elapsed: Duration,
    /// Virtual users that run iterations now, including those that finish their last one.
    pub active_vus: u32,
    /// Virtual users that exist.
    pub max_vus: u32,
    /// Iterations that ran to their end.
    pub n_iterations_complete: u64,
    /// Iterations that were interrupted.
    pub n_interrupted: u64,
    /// The progress of each scenario, in the order of the plan.
    pub scenarios: Vec<ScenarioProgress<'a>>,
    /// The thresholds at their last evaluation.
    pub thresholds: Vec<Finding>,
    /// All metrics since the start.
    pub metrics: &'a MetricSet,
    /// What happened since the last time.
    pub recent: &'a Stretch,
    /// Messages for people, all since the start.
    pub notices: &'a [String],
    /// Why iterations failed, all since the start.
    pub failures: &'a Failures,
    /// How much failed, since the start.
    pub attempts: [Attempts; 3],
    /// What became of the arrivals of all scenarios together, since the start.
    pub schedule: Schedule,
    /// The agents that make the load. Empty: this process does.
    pub agents: Vec<AgentProgress>,
}

/// The progress of one scenario.
#[derive(Clone, Copy, Debug)]
pub struct ScenarioProgress<'a> {
    /// Which one.
    pub scenario: &'a Scenario,
    /// Virtual users that exist for it.
    pub vus: u32,
    /// Its iterations that run now.
    pub n_under_way: u32,
    /// Its iterations that ran to their end.
    pub n_complete: u64,
    /// Its iterations that will never begin.
    pub n_dropped: u64,
}
