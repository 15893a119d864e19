//! What a run was to do.

use plimsoll_load::{
    executor::{Executor, OpenModel},
    plan::{self, Scenario},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::quantity;

/// What a run was to do.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Plan {
    /// Its scenarios, in the order of the plan.
    pub scenarios: Vec<PlannedScenario>,
}

/// The plan of one scenario.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PlannedScenario {
    /// Its name.
    pub name: String,
    /// The name of its executor, k6's, for example `ramping-vus`.
    pub executor: String,
    /// The executor with its numbers, for people.
    pub description: String,
    /// Its start, since the start of the run.
    pub start_seconds: f64,
    /// Virtual users that may come to exist for it.
    pub max_vus: u32,
    /// How long it begins iterations. Null means forever.
    pub duration_seconds: Option<f64>,
}

impl Plan {
    /// The outline of `plan`.
    pub fn of(plan: &plan::Plan) -> Self {
        Self {
            scenarios: plan.scenarios.iter().map(PlannedScenario::of).collect(),
        }
    }
}

impl PlannedScenario {
    fn of(scenario: &Scenario) -> Self {
        let executor = &scenario.executor;
        Self {
            name: scenario.name.clone(),
            executor: executor.name().to_owned(),
            description: describe(scenario),
            start_seconds: scenario.start_time.as_secs_f64(),
            max_vus: executor.max_vus(),
            duration_seconds: executor.duration().map(|duration| duration.as_secs_f64()),
        }
    }
}

/// What a scenario does, in k6's words.
pub fn describe(scenario: &Scenario) -> String {
    format!("{}{}", work(&scenario.executor), conditions(scenario))
}

/// What an executor does.
fn work(executor: &Executor) -> String {
    let duration = executor
        .duration()
        .map_or_else(|| "unlimited duration".to_owned(), quantity::duration);
    match executor {
        Executor::SharedIterations { vus, iterations, .. } => {
            format!("{iterations} iterations shared among {vus} VUs")
        }
        Executor::PerVuIterations { vus, iterations, .. } => {
            format!("{iterations} iterations for each of {vus} VUs")
        }
        Executor::ConstantVus { vus, .. } => format!("{vus} looping VUs for {duration}"),
        Executor::RampingVus(ramp) => format!(
            "Up to {} looping VUs for {duration} over {} stages",
            ramp.max_vus(),
            ramp.n_stages()
        ),
        Executor::ConstantArrivalRate(open) => format!(
            "{:.2} iterations/s for {duration}",
            open.arrivals.peak_per_second()
        ),
        Executor::RampingArrivalRate(open) => format!(
            "Up to {:.2} iterations/s for {duration} over {} stages",
            open.arrivals.peak_per_second(),
            open.arrivals.n_stages()
        ),
        Executor::ExternallyControlled { vus, max_vus, .. } => {
            format!("Externally controlled execution with {vus} VUs, {max_vus} max VUs, {duration}")
        }
    }
}

/// Further settings of a scenario, in parentheses. Empty without any.
fn conditions(scenario: &Scenario) -> String {
    let mut conditions = Vec::new();
    let mut add = |name: &str, value: String| conditions.push(format!("{name}: {value}"));
    let executor = &scenario.executor;
    match executor {
        Executor::ConstantArrivalRate(open) | Executor::RampingArrivalRate(open) => {
            add("maxVUs", range(open));
        }
        Executor::SharedIterations { max_duration, .. } | Executor::PerVuIterations { max_duration, .. } => {
            add("maxDuration", quantity::duration(*max_duration));
        }
        Executor::RampingVus(ramp) => add("gracefulRampDown", quantity::duration(ramp.ramp_down_grace())),
        Executor::ConstantVus { .. } | Executor::ExternallyControlled { .. } => {}
    }
    if scenario.exec != "default" {
        add("exec", scenario.exec.clone());
    }
    if !scenario.start_time.is_zero() {
        add("startTime", quantity::duration(scenario.start_time));
    }
    if let (Some(end), Some(duration)) = (executor.max_duration(), executor.duration())
        && end > duration
    {
        add("gracefulStop", quantity::duration(end.saturating_sub(duration)));
    }
    match conditions.as_slice() {
        [] => String::new(),
        conditions => format!(" ({})", conditions.join(", ")),
    }
}

fn range(open: &OpenModel) -> String {
    match (open.pre_allocated_vus, open.max_vus) {
        (planned, most) if planned == most => most.to_string(),
        (planned, most) => format!("{planned}-{most}"),
    }
}
