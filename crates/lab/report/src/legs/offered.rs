//! The load of a run whose iterations start on schedule: iterations per second, as planned.

use std::{sync::Arc, time::Duration};

use plimsoll_load::{
    executor::{Arrivals, Executor},
    plan::Plan,
};

/// The planned rate of all scenarios together.
#[derive(Clone, Debug)]
pub struct Offered(Arc<[(Duration, Arrivals)]>);

/// Where a stretch is looked at, as shares of its length. A stage that begins or ends within it makes it unsteady.
const LOOKS: [f64; 5] = [0.001, 0.25, 0.5, 0.75, 0.999];

impl Offered {
    /// The rate of a plan. `None` if users are the load of any scenario.
    pub fn of(plan: &Plan) -> Option<Self> {
        let scenarios = plan.scenarios.iter().map(|scenario| match &scenario.executor {
            Executor::ConstantArrivalRate(open) | Executor::RampingArrivalRate(open) => {
                Some((scenario.start_time, open.arrivals.clone()))
            }
            _ => None,
        });
        let scenarios: Option<Vec<_>> = scenarios.collect();
        scenarios
            .filter(|scenarios| !scenarios.is_empty())
            .map(|scenarios| Self(scenarios.into()))
    }

    /// The lowest, the mean and the highest rate in the full seconds of a stretch, of which there is at least one.
    pub(super) fn during(&self, start: Duration, end: Duration) -> (f64, f64, f64) {
        let seconds = end.saturating_sub(start).as_secs().max(1) as f64;
        let looks = LOOKS.map(|share| self.per_second(start + Duration::from_secs_f64(share * seconds)));
        let low = looks.into_iter().fold(f64::INFINITY, f64::min);
        let high = looks.into_iter().fold(0.0, f64::max);
        (low, looks.iter().sum::<f64>() / looks.len() as f64, high)
    }

    fn per_second(&self, at: Duration) -> f64 {
        let rates = self
            .0
            .iter()
            .map(|(start, arrivals)| match at.checked_sub(*start) {
                Some(elapsed) if elapsed < arrivals.duration() => arrivals.per_second(elapsed),
                _ => 0.0,
            });
        rates.sum()
    }
}

#[cfg(test)]
mod tests {
    use plimsoll_load::{
        executor::{OpenModel, WhenLate},
        plan::Scenario,
    };

    use super::*;

    fn open(rate: u64, secs: u64) -> Executor {
        let arrivals = Arrivals::constant(rate, Duration::from_secs(1), Duration::from_secs(secs));
        Executor::ConstantArrivalRate(OpenModel {
            arrivals: arrivals.unwrap(),
            pre_allocated_vus: 1,
            max_vus: 1,
            graceful_stop: Duration::ZERO,
            when_late: WhenLate::Drop,
        })
    }

    #[test]
    fn rates_of_scenarios_add_up_while_they_last() {
        let mut later = Scenario::new("later", open(50, 10));
        later.start_time = Duration::from_secs(5);
        let plan = Plan::new(vec![Scenario::new("first", open(100, 10)), later]);
        let offered = Offered::of(&plan).unwrap();
        for (second, expected) in [(0, 100.0), (5, 150.0), (9, 150.0), (10, 50.0), (15, 0.0)] {
            let start = Duration::from_secs(second);
            let (low, mean, high) = offered.during(start, start + Duration::from_millis(1_050));
            assert_eq!((low, high), (expected, expected), "second {second}");
            assert!((mean - expected).abs() < 1e-9);
        }
    }

    #[test]
    fn users_are_the_load_if_any_scenario_waits_for_its_target() {
        let closed = Executor::ConstantVus {
            vus: 1,
            duration: Duration::from_secs(1),
            graceful_stop: Duration::ZERO,
        };
        let plan = Plan::new(vec![
            Scenario::new("open", open(100, 10)),
            Scenario::new("closed", closed),
        ]);
        assert!(Offered::of(&plan).is_none());
    }
}
