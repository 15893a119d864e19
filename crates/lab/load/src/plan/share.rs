//! The part of a scenario that an instance of a split test runs (docs/protocols/k6.md, Execution segments).

use std::sync::Arc;

use super::{Plan, Scenario};
use crate::{
    executor::{Executor, OpenModel},
    segment::Split,
};

impl Plan {
    /// The part of the instance with this split: the parts of all instances together are this plan.
    #[must_use]
    pub fn segment(self, split: &Split) -> Self {
        let (scenarios, idle) = shares(self.scenarios, split);
        Self {
            scenarios,
            idle,
            stripe: Some(Arc::clone(split.stripe())),
            ..self
        }
    }
}

/// The parts of scenarios for this instance, and the names of those of which it runs nothing.
pub(super) fn shares(scenarios: Vec<Scenario>, split: &Split) -> (Vec<Scenario>, Vec<String>) {
    let (mut shares, mut idle) = (Vec::new(), Vec::new());
    for scenario in scenarios {
        let name = scenario.name.clone();
        match scenario.share(split) {
            Some(share) => shares.push(share),
            None => idle.push(name),
        }
    }
    (shares, idle)
}

impl Scenario {
    /// The part of this instance. `None` when nothing of the scenario is for it.
    fn share(self, split: &Split) -> Option<Self> {
        let n = |vus: u32| u32::try_from(split.stripe().scale(vus.into())).unwrap_or(vus);
        let some = |vus: u32| Some(n(vus)).filter(|vus| *vus > 0);
        let mut stripe = Arc::clone(split.stripe());
        let mut open = |open: OpenModel| {
            let max_vus = some(open.max_vus)?;
            // With a user for each arrival, all have the users for their arrivals; a period of millions of users would not
            // fit into memory.
            let has_all = u64::from(open.max_vus) == open.arrivals.n_total().min(u32::MAX.into());
            if !has_all {
                stripe = Arc::clone(split.of_value(open.max_vus.into())?.stripe());
            }
            Some(OpenModel {
                arrivals: open.arrivals.striped(Arc::clone(&stripe)),
                pre_allocated_vus: n(open.pre_allocated_vus),
                max_vus,
                ..open
            })
        };
        let executor = match self.executor {
            Executor::SharedIterations {
                vus,
                iterations,
                max_duration,
                graceful_stop,
            } => {
                let own = some(vus)?;
                stripe = Arc::clone(split.of_value(vus.into())?.stripe());
                Executor::SharedIterations {
                    vus: own,
                    iterations: Some(stripe.scale(iterations)).filter(|n| *n > 0)?,
                    max_duration,
                    graceful_stop,
                }
            }
            Executor::PerVuIterations {
                vus,
                iterations,
                max_duration,
                graceful_stop,
            } => Executor::PerVuIterations {
                vus: some(vus)?,
                iterations,
                max_duration,
                graceful_stop,
            },
            Executor::ConstantVus {
                vus,
                duration,
                graceful_stop,
            } => Executor::ConstantVus {
                vus: some(vus)?,
                duration,
                graceful_stop,
            },
            Executor::RampingVus(plan) => {
                some(plan.max_vus())?;
                Executor::RampingVus(plan.striped(Arc::clone(&stripe)))
            }
            Executor::ConstantArrivalRate(model) => Executor::ConstantArrivalRate(open(model)?),
            Executor::RampingArrivalRate(model) => Executor::RampingArrivalRate(open(model)?),
            Executor::ExternallyControlled {
                vus,
                max_vus,
                duration,
            } => Executor::ExternallyControlled {
                vus: n(vus),
                max_vus: some(max_vus)?,
                duration,
            },
        };
        Some(Self {
            executor,
            stripe: Some(stripe),
            ..self
        })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::json;

    use super::*;
    use crate::{
        executor::{Arrivals, WhenLate},
        plan::Options,
    };

    const SECOND: Duration = Duration::from_secs(1);

    /// The users and the iterations that each of four instances plans, in total and by instance.
    fn planned(scenario: &serde_json::Value, count: impl Fn(&Plan) -> u64) -> Vec<u64> {
        let segments = ["0:1/4", "1/4:1/2", "1/2:3/4", "3/4:1"];
        let plans = segments.map(|segment| {
            let options = json!({ "scenarios": { "a": scenario }, "executionSegment": segment,
                                  "executionSegmentSequence": "0,1/4,1/2,3/4,1" });
            Plan::from_options(&Options::from_json(&options).unwrap().options).unwrap()
        });
        plans.iter().map(count).collect()
    }

    fn vus(plan: &Plan) -> u64 {
        plan.scenarios
            .iter()
            .map(|scenario| u64::from(scenario.executor.max_vus()))
            .sum()
    }

    #[test]
    fn users_and_iterations_add_up() {
        let iterations = |plan: &Plan| {
            plan.scenarios
                .iter()
                .map(|scenario| match &scenario.executor {
                    Executor::SharedIterations { iterations, .. } => *iterations,
                    Executor::PerVuIterations { vus, iterations, .. } => u64::from(*vus) * iterations,
                    Executor::ConstantArrivalRate(open) | Executor::RampingArrivalRate(open) => {
                        open.arrivals.n_total()
                    }
                    _ => 0,
                })
                .sum()
        };
        let shared = json!({ "executor": "shared-iterations", "vus": 5, "iterations": 21 });
        assert_eq!(planned(&shared, vus), [2, 1, 1, 1]);
        assert_eq!(planned(&shared, iterations).iter().sum::<u64>(), 21);
        let each = json!({ "executor": "per-vu-iterations", "vus": 3, "iterations": 10 });
        assert_eq!(planned(&each, iterations), [10, 10, 10, 0]);
        let constant = json!({ "executor": "constant-arrival-rate", "rate": 11, "duration": "7s",
                               "preAllocatedVUs": 2, "maxVUs": 6 });
        assert_eq!(planned(&constant, vus), [2, 2, 1, 1]);
        assert_eq!(planned(&constant, iterations).iter().sum::<u64>(), 77);
        let ramp = json!({ "executor": "ramping-vus", "startVUs": 0, "stages": [{ "duration": "9s", "target": 10 }] });
        assert_eq!(planned(&ramp, vus), [3, 3, 2, 2]);
        let controlled =
            json!({ "executor": "externally-controlled", "vus": 2, "maxVUs": 7, "duration": "1m" });
        assert_eq!(planned(&controlled, vus), [2, 2, 2, 1]);
    }

    #[test]
    fn the_segments_of_a_built_plan_are_the_whole() {
        let open = |n: u64, max_vus| {
            Executor::ConstantArrivalRate(OpenModel {
                arrivals: Arrivals::constant(n, SECOND, SECOND).unwrap(),
                pre_allocated_vus: 3,
                max_vus,
                graceful_stop: SECOND,
                when_late: WhenLate::Wait,
            })
        };
        let each = Executor::PerVuIterations {
            vus: 5,
            iterations: 1,
            max_duration: SECOND,
            graceful_stop: SECOND,
        };
        let plan = Plan::new(vec![
            Scenario::new("a", open(100_003, 100_003)),
            Scenario::new("b", open(10, 4)),
            Scenario::new("c", each),
            Scenario::new("d", open(1, 1)),
        ]);
        for n in [1, 2, 3, 7] {
            let segments: Vec<_> = (0..n)
                .map(|at| plan.clone().segment(&Split::equal(n, at)))
                .collect();
            for name in ["a", "b", "c", "d"] {
                let (mut starts, mut n_vus, mut n_idle) = (Vec::new(), 0, 0);
                for segment in &segments {
                    n_idle += usize::from(segment.idle.iter().any(|idle| idle == name));
                    let Some(own) = segment.scenarios.iter().find(|scenario| scenario.name == name) else {
                        continue;
                    };
                    n_vus += own.executor.max_vus();
                    if let Executor::ConstantArrivalRate(open) = &own.executor {
                        starts
                            .extend((0..open.arrivals.n_total()).map(|at| open.arrivals.start(at).unwrap()));
                    }
                }
                starts.sort_unstable();
                let whole = &plan
                    .scenarios
                    .iter()
                    .find(|scenario| scenario.name == name)
                    .unwrap()
                    .executor;
                assert_eq!(n_vus, whole.max_vus(), "{name} of {n}");
                if let Executor::ConstantArrivalRate(open) = whole {
                    let all = (0..open.arrivals.n_total()).map(|at| open.arrivals.start(at).unwrap());
                    assert!(starts.iter().copied().eq(all), "{name} of {n}");
                    assert_eq!(
                        n_idle,
                        n.saturating_sub(starts.len().min(whole.max_vus() as usize)),
                        "{name} of {n}"
                    );
                }
            }
            assert!(segments.iter().all(|segment| segment.stripe.is_some()));
        }
    }

    #[test]
    fn a_scenario_without_work_is_named() {
        let options = json!({ "vus": 1, "iterations": 1, "executionSegment": "1/2:1" });
        let plan = Plan::from_options(&Options::from_json(&options).unwrap().options).unwrap();
        assert_eq!((plan.scenarios.len(), plan.idle), (0, vec!["default".to_owned()]));
    }
}
