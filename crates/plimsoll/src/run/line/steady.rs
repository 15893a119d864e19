//! The plan of one step: the scenarios of a load test with a load that grows through the warm-up and then stays.

use std::{ops::Range, time::Duration};

use plimsoll_fleet::WHOLE;
use plimsoll_line::{proportion::shares, report::Unit};
use plimsoll_load::{
    executor::{
        Arrivals, ArrivalsError, Executor, OpenModel, RampingVus, RateStage, ScheduleError, Stage, WhenLate,
    },
    plan::{Plan, Scenario},
    preflight,
    run::planned_vus,
    segment::Split,
};
use serde::{Deserialize, Serialize};

use super::options::Timing;
use crate::exit::Failure;

/// Why a load cannot be planned.
#[derive(Debug, thiserror::Error)]
pub(in crate::run) enum LoadError {
    #[error("a load of {load} cannot be: {error}")]
    Users { load: u64, error: ScheduleError },
    #[error("a load of {load} per second cannot be: {error}")]
    Rate { load: u64, error: ArrivalsError },
}

/// A load that grows through the warm-up and then stays.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct SteadyLoad {
    pub(super) load: u64,
    pub(super) unit: Unit,
    pub(super) timing: Timing,
    pub(super) places: Places,
    /// The sub-metrics that objectives are about, for example `http_req_duration{name:login}`: a run keeps only those that it
    /// is told of.
    pub(super) sub_metrics: Vec<String>,
}

/// Users of an open model.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Places {
    /// For so long each iteration keeps a user: so many are there from the start for each iteration per second.
    pub(super) held: Duration,
    /// The largest number of users of all scenarios together.
    pub(super) max: u32,
    pub(super) when_late: WhenLate,
}

impl SteadyLoad {
    /// The load test with this load.
    ///
    /// # Errors
    /// The load is beyond what can be planned.
    pub(in crate::run) fn plan(&self, whole: &Plan) -> Result<Plan, LoadError> {
        plan(whole, &weights(whole), self)
    }

    /// An agent's part of a load test whose plan is [that of this load](Self::plan).
    ///
    /// # Errors
    /// The part is more than this machine can open.
    pub(in crate::run) fn segment(&self, plan: Plan, split: &Split) -> Result<Plan, Failure> {
        let own = plan.segment(split);
        if self.unit != Unit::Rate {
            let n_connections = preflight::raise_open_file_limit().n_connections();
            if let Some(reason) = shortage(planned_vus(&own), n_connections) {
                return Err(Failure::Usage(reason));
            }
        }
        Ok(own)
    }
}

/// The part of an agent's run that its generator is judged in: all of it, unless it is a step with this load.
pub(in crate::run) fn judged(steady: Option<&SteadyLoad>) -> Range<Duration> {
    steady.map_or(WHOLE, |steady| steady.timing.counted())
}

/// The reason why a process that may open so many connections cannot have so many users. `None`: it can.
pub(in crate::run) fn shortage(n_users: u64, n_connections: u64) -> Option<String> {
    (n_users > n_connections).then(|| {
        format!(
            "{n_users} users with one connection each need more open files than this process may have ({n_connections} besides its \
             own); raise the limit (`ulimit -Hn`), or use another machine"
        )
    })
}

/// Users of an open model that are there from the start, at least. Reason: at low rates, chance alone keeps several busy.
const FEWEST: f64 = 10.0;

/// The default unit of a load: iterations per second when all scenarios plan these.
pub(super) fn natural_unit(plan: &Plan) -> Unit {
    let is_open = |scenario: &Scenario| open(scenario).is_some();
    if plan.scenarios.iter().all(is_open) {
        Unit::Rate
    } else {
        Unit::Users
    }
}

/// The shares of the scenarios in a load: proportional to their highest rates, if all scenarios plan rates; otherwise
/// to their numbers of users.
pub(super) fn weights(plan: &Plan) -> Vec<u64> {
    let rates: Option<Vec<u64>> = plan
        .scenarios
        .iter()
        .map(|scenario| Some(peak(open(scenario)?)))
        .collect();
    rates.unwrap_or_else(|| {
        let users = plan
            .scenarios
            .iter()
            .map(|scenario| scenario.executor.n_planned_vus());
        users.map(u64::from).collect()
    })
}

fn open(scenario: &Scenario) -> Option<&OpenModel> {
    match &scenario.executor {
        Executor::ConstantArrivalRate(open) | Executor::RampingArrivalRate(open) => Some(open),
        _ => None,
    }
}

/// Iterations that a scenario plans, per 1,000 seconds.
fn peak(open: &OpenModel) -> u64 {
    let seconds = open.arrivals.duration().as_secs_f64();
    (open.arrivals.n_total() as f64 / seconds.max(1e-3) * 1e3) as u64
}

/// The plan with this load in place of its own. Scenarios start together, and those without a share are left out.
/// Iterations that still run at the end may take as long as the step again, or what their scenario allows.
///
/// # Errors
/// When the load is beyond what can be planned.
pub(super) fn plan(plan: &Plan, weights: &[u64], steady: &SteadyLoad) -> Result<Plan, LoadError> {
    let SteadyLoad {
        load,
        unit,
        timing,
        places,
        ..
    } = *steady;
    let shares = shares(weights, load);
    let parts = plan
        .scenarios
        .iter()
        .zip(&shares)
        .filter(|(_, share)| **share > 0);
    let scenarios = parts.map(|(scenario, &share)| {
        let grace = grace(scenario, timing);
        let executor = match unit {
            Unit::Rate => rate(share, timing, grace, places.share(share, load))
                .map_err(|error| LoadError::Rate { load, error })?,
            Unit::Users | Unit::Clients | Unit::Scale => {
                users(share, timing, grace).map_err(|error| LoadError::Users { load, error })?
            }
        };
        Ok(Scenario {
            start_time: Duration::ZERO,
            executor,
            ..scenario.clone()
        })
    });
    Ok(Plan {
        scenarios: scenarios.collect::<Result<_, _>>()?,
        paused: false,
        thresholds: steady
            .sub_metrics
            .iter()
            .map(|name| (name.clone(), Vec::new()))
            .collect(),
        ..plan.clone()
    })
}

fn grace(scenario: &Scenario, timing: Timing) -> Duration {
    let own = scenario
        .executor
        .max_duration()
        .zip(scenario.executor.duration())
        .map(|(all, begun)| all.saturating_sub(begun));
    own.map_or(timing.steady, |own| own.min(timing.steady))
}

fn users(n: u64, timing: Timing, grace: Duration) -> Result<Executor, ScheduleError> {
    let target = u32::try_from(n).unwrap_or(u32::MAX);
    let stage = |duration| Stage { duration, target };
    let start = if timing.warm_up.is_zero() { target } else { 0 };
    let ramping = RampingVus::new(start, vec![stage(timing.warm_up), stage(timing.steady)])?;
    Ok(Executor::RampingVus(
        ramping.graceful_ramp_down(grace).graceful_stop(grace),
    ))
}

fn rate(
    target: u64,
    timing: Timing,
    grace: Duration,
    places: (u32, u32, WhenLate),
) -> Result<Executor, ArrivalsError> {
    let stage = |duration| RateStage { duration, target };
    let start = if timing.warm_up.is_zero() { target } else { 0 };
    let stages = [stage(timing.warm_up), stage(timing.steady)];
    let (pre_allocated_vus, max_vus, when_late) = places;
    Ok(Executor::RampingArrivalRate(OpenModel {
        arrivals: Arrivals::ramping(start, Duration::from_secs(1), &stages)?,
        pre_allocated_vus,
        max_vus,
        graceful_stop: grace,
        when_late,
    }))
}

impl Places {
    /// The numbers of users of a scenario with this share of the load: at the start, and at most.
    fn share(self, share: u64, load: u64) -> (u32, u32, WhenLate) {
        let most = f64::from(self.max) * share as f64 / load.max(1) as f64;
        let most = (most as u32).max(1);
        let wanted = (share as f64 * self.held.as_secs_f64()).ceil().max(FEWEST);
        ((wanted as u32).min(most), most, self.when_late)
    }
}

#[cfg(test)]
mod tests {
    use plimsoll_load::plan;
    use serde_json::{Value, json};

    use super::*;

    const TIMING: Timing = Timing {
        warm_up: Duration::from_secs(5),
        steady: Duration::from_secs(15),
    };
    const PLACES: Places = Places {
        held: Duration::from_secs(2),
        max: 1_000,
        when_late: WhenLate::Drop,
    };

    fn step_of(plan: &Plan, weights: &[u64], load: u64, unit: Unit, timing: Timing) -> Plan {
        let steady = SteadyLoad {
            load,
            unit,
            timing,
            places: PLACES,
            sub_metrics: vec!["rtt{scenario:chat}".to_owned()],
        };
        super::plan(plan, weights, &steady).unwrap()
    }

    fn of_options(options: &Value) -> Plan {
        let read = plan::Options::from_json(options).unwrap();
        Plan::from_options(&read.options).unwrap()
    }

    fn chat_and_api() -> Plan {
        of_options(&json!({ "scenarios": {
            "api": { "executor": "ramping-vus", "stages": [{ "duration": "10s", "target": 10 }], "gracefulStop": "3s" },
            "chat": { "executor": "constant-vus", "vus": 30, "duration": "1m", "startTime": "10s", "exec": "chat" },
        } }))
    }

    #[test]
    fn scenarios_share_the_load_and_begin_together() {
        let plan = chat_and_api();
        assert_eq!((natural_unit(&plan), weights(&plan)), (Unit::Users, vec![10, 30]));
        let step = step_of(&plan, &weights(&plan), 100, Unit::Users, TIMING);
        let [api, chat] = step.scenarios.as_slice() else {
            panic!("{step:?}");
        };
        assert_eq!((api.executor.max_vus(), chat.executor.max_vus()), (25, 75));
        assert_eq!((chat.start_time, chat.exec.as_str()), (Duration::ZERO, "chat"));
        assert_eq!(chat.executor.duration(), Some(Duration::from_secs(20)));
        // Its own grace, or the length of the step.
        assert_eq!(api.executor.max_duration(), Some(Duration::from_secs(23)));
        assert_eq!(chat.executor.max_duration(), Some(Duration::from_secs(35)));
        let Executor::RampingVus(ramp) = &chat.executor else {
            panic!("{chat:?}");
        };
        let planned = [0, 1, 5, 19].map(|secs| ramp.n_planned(Duration::from_secs(secs)));
        assert_eq!(planned, [0, 15, 75, 75]);
    }

    #[test]
    fn a_scenario_without_a_share_is_left_out() {
        let step = step_of(&chat_and_api(), &[1, 3], 1, Unit::Users, TIMING);
        assert_eq!(step.scenarios.len(), 1);
    }

    #[test]
    fn rates_have_users_enough() {
        let open = |rate: u64| json!({ "executor": "constant-arrival-rate", "rate": rate, "duration": "10s", "preAllocatedVUs": 1 });
        let plan = of_options(&json!({ "scenarios": { "a": open(10), "b": open(40) } }));
        assert_eq!(natural_unit(&plan), Unit::Rate);
        let step = step_of(&plan, &weights(&plan), 500, Unit::Rate, TIMING);
        let found: Vec<_> = step
            .scenarios
            .iter()
            .map(|scenario| {
                let open = open_model(scenario);
                let n_warm = open.arrivals.n_before(TIMING.warm_up);
                (
                    n_warm,
                    open.arrivals.n_total() - n_warm,
                    open.pre_allocated_vus,
                    open.max_vus,
                )
            })
            .collect();
        assert_eq!(found, [(249, 1_501, 200, 200), (999, 6_001, 800, 800)]);
        let step = step_of(&plan, &[1, 1], 2, Unit::Rate, TIMING);
        assert_eq!(open_model(&step.scenarios[0]).pre_allocated_vus, 10);
    }

    fn open_model(scenario: &Scenario) -> &OpenModel {
        open(scenario).unwrap()
    }

    #[test]
    fn without_a_warm_up_the_whole_load_is_there_at_once() {
        let timing = Timing {
            warm_up: Duration::ZERO,
            ..TIMING
        };
        let step = step_of(&chat_and_api(), &[1, 1], 10, Unit::Users, timing);
        let Executor::RampingVus(ramp) = &step.scenarios[0].executor else {
            panic!("{step:?}");
        };
        assert_eq!(ramp.n_planned(Duration::ZERO), 5);
    }
}
