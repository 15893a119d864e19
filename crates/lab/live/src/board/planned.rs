//! The planned users and arrivals over time.

use std::time::Duration;

use plimsoll_load::{
    executor::Executor,
    plan::{Plan, Scenario},
};

/// The curve of the plan.
#[derive(Clone, Debug)]
pub struct Planned {
    scenarios: Vec<Scenario>,
    /// The latest start of the last iteration. `None`: never.
    pub end: Option<Duration>,
}

impl Planned {
    /// The curve of `plan`.
    pub fn new(plan: &Plan) -> Self {
        let ends = plan.scenarios.iter().map(|scenario| {
            let duration = scenario.executor.duration()?;
            Some(scenario.start_time.saturating_add(duration))
        });
        Self {
            end: ends
                .collect::<Option<Vec<_>>>()
                .and_then(|ends| ends.into_iter().max()),
            scenarios: plan.scenarios.clone(),
        }
    }

    /// Users that are planned to be active. `None` when arrivals or a person decide on them, or nothing is planned.
    pub fn users(&self, at: Duration) -> Option<u32> {
        if self.scenarios.is_empty() {
            return None;
        }
        let users = self.scenarios.iter().map(|scenario| users(scenario, at));
        users
            .collect::<Option<Vec<_>>>()
            .map(|users| users.into_iter().fold(0, u32::saturating_add))
    }

    /// The planned iterations per second. `None` if the plan has no rate.
    pub fn arrivals_per_second(&self, at: Duration) -> Option<f64> {
        let rates = self.scenarios.iter().filter_map(|scenario| {
            let (Executor::ConstantArrivalRate(open) | Executor::RampingArrivalRate(open)) =
                &scenario.executor
            else {
                return None;
            };
            let own = at.checked_sub(scenario.start_time);
            let own = own.filter(|own| *own < open.arrivals.duration());
            Some(own.map_or(0.0, |own| open.arrivals.per_second(own)))
        });
        rates.reduce(|one, other| one + other)
    }
}

fn users(scenario: &Scenario, at: Duration) -> Option<u32> {
    let own = at.checked_sub(scenario.start_time);
    match &scenario.executor {
        Executor::SharedIterations { vus, .. }
        | Executor::PerVuIterations { vus, .. }
        | Executor::ConstantVus { vus, .. } => {
            let duration = scenario.executor.duration();
            let is_on = own.is_some_and(|own| duration.is_none_or(|duration| own < duration));
            Some(if is_on { *vus } else { 0 })
        }
        Executor::RampingVus(ramp) => Some(own.map_or(0, |own| ramp.n_planned(own))),
        Executor::ConstantArrivalRate(_)
        | Executor::RampingArrivalRate(_)
        | Executor::ExternallyControlled { .. } => None,
    }
}

#[cfg(test)]
mod tests {
    use plimsoll_load::executor::{RampingVus, Stage};

    use super::*;

    #[test]
    fn an_empty_plan_says_nothing() {
        let planned = Planned::new(&Plan::new(Vec::new()));
        let at = Duration::ZERO;
        assert_eq!((planned.users(at), planned.arrivals_per_second(at)), (None, None));
    }

    #[test]
    fn scenarios_add_up() {
        let ramp = RampingVus::new(
            0,
            vec![Stage {
                duration: Duration::from_secs(10),
                target: 100,
            }],
        );
        let constant = Executor::ConstantVus {
            vus: 5,
            duration: Duration::from_secs(4),
            graceful_stop: Duration::ZERO,
        };
        let mut later = Scenario::new("later", constant);
        later.start_time = Duration::from_secs(8);
        let plan = Plan::new(vec![
            Scenario::new("ramp", Executor::RampingVus(ramp.unwrap())),
            later,
        ]);
        let planned = Planned::new(&plan);
        assert_eq!(planned.end, Some(Duration::from_secs(12)));
        assert_eq!(planned.arrivals_per_second(Duration::ZERO), None);
        for (at, expected) in [(0, 0), (5, 50), (9, 95), (11, 5), (12, 0)] {
            assert_eq!(planned.users(Duration::from_secs(at)), Some(expected), "{at} s");
        }
    }
}
