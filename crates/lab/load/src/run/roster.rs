//! Assigns scenarios to virtual users: one pool for all scenarios, as in k6, so that scenarios that do not overlap
//! share their users.

use std::{
    cmp::Reverse,
    collections::{BTreeSet, BinaryHeap},
    time::Duration,
};

use crate::{executor::Window, plan::Scenario};

/// A virtual user's part in one scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Lease {
    /// Position of the scenario in the plan.
    pub(super) scene: usize,
    /// The user's number in the scenario, from 0.
    pub(super) position: u32,
    /// The window; it counts from the start of the run.
    pub(super) window: Window,
}

/// The leases of all virtual users that exist from the start, by index, each in the order of time.
pub(super) fn roster(scenarios: &[Scenario]) -> Vec<Vec<Lease>> {
    let mut chains: Vec<Vec<Lease>> = scenarios.iter().enumerate().flat_map(chains_of).collect();
    chains.sort_by_key(|chain| (start_of(chain), chain[0].scene, chain[0].position));
    let mut users: Vec<Vec<Lease>> = Vec::new();
    let mut free = BTreeSet::new();
    let mut busy: BinaryHeap<Reverse<(Duration, usize)>> = BinaryHeap::new();
    for chain in chains {
        while let Some(&Reverse((until, user))) = busy.peek()
            && until <= start_of(&chain)
        {
            busy.pop();
            free.insert(user);
        }
        let user = free.pop_first().unwrap_or_else(|| {
            users.push(Vec::new());
            users.len() - 1
        });
        busy.push(Reverse((end_of(&chain), user)));
        users[user].extend(chain);
    }
    users
}

/// The most virtual users at the same moment: those of the roster, and those that arrival executors may create during
/// the run.
pub(super) fn max_vus(scenarios: &[Scenario]) -> u64 {
    let further = scenarios.iter().map(|scenario| {
        let executor = &scenario.executor;
        let n = executor.max_vus() - executor.n_planned_vus();
        let end = scenario.start_time.saturating_add(executor.whole().interrupt);
        (scenario.start_time, end, i64::from(n))
    });
    highest(planned(scenarios).chain(further))
}

/// Like [`max_vus`], without those created during the run.
pub(super) fn planned_vus(scenarios: &[Scenario]) -> u64 {
    highest(planned(scenarios))
}

/// From when to when each chain needs a user.
fn planned(scenarios: &[Scenario]) -> impl Iterator<Item = (Duration, Duration, i64)> {
    let chains = scenarios.iter().enumerate().flat_map(chains_of);
    chains.map(|chain| (start_of(&chain), end_of(&chain), 1))
}

/// The highest sum at any moment, for spans with a beginning, an end, and a count.
fn highest(spans: impl Iterator<Item = (Duration, Duration, i64)>) -> u64 {
    let changes = spans.flat_map(|(start, end, n)| [(start, n), (end, -n)]);
    let mut changes: Vec<(Duration, i64)> = changes.collect();
    // At the same moment users are released before others are taken, as in the roster.
    changes.sort_unstable();
    let mut n_now = 0;
    let highest = changes.into_iter().map(|(_, n)| {
        n_now += n;
        n_now
    });
    highest.max().map_or(0, i64::unsigned_abs)
}

/// The leases of one scenario. Leases of a position that are so close that an iteration may continue from one into the
/// next are one chain, which one virtual user holds.
fn chains_of((scene, scenario): (usize, &Scenario)) -> Vec<Vec<Lease>> {
    let shifted = |window: Window| {
        let shift = |time: Duration| time.saturating_add(scenario.start_time);
        Window {
            start: shift(window.start),
            stop: shift(window.stop),
            interrupt: shift(window.interrupt),
        }
    };
    let mut chains: Vec<Vec<Lease>> = Vec::new();
    for position in 0..scenario.executor.n_planned_vus() {
        let first = chains.len();
        for window in scenario.executor.windows(position).into_iter().map(shifted) {
            let lease = Lease {
                scene,
                position,
                window,
            };
            match chains[first..].last_mut() {
                Some(chain) if window.start <= end_of(chain) => chain.push(lease),
                _ => chains.push(vec![lease]),
            }
        }
    }
    chains
}

fn start_of(chain: &[Lease]) -> Duration {
    chain.first().map_or(Duration::ZERO, |lease| lease.window.start)
}

fn end_of(chain: &[Lease]) -> Duration {
    chain
        .last()
        .map_or(Duration::ZERO, |lease| lease.window.interrupt)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::executor::{Arrivals, Executor, OpenModel, RampingVus, Stage, WhenLate};

    const SECS: fn(u64) -> Duration = Duration::from_secs;

    fn constant(name: &str, start_secs: u64, vus: u32, secs: u64, grace_secs: u64) -> Scenario {
        let executor = Executor::ConstantVus {
            vus,
            duration: SECS(secs),
            graceful_stop: SECS(grace_secs),
        };
        Scenario {
            start_time: SECS(start_secs),
            ..Scenario::new(name, executor)
        }
    }

    /// Each user's leases as scene and position.
    fn places(scenarios: &[Scenario]) -> Vec<Vec<(usize, u32)>> {
        let places = |leases: &Vec<Lease>| leases.iter().map(|lease| (lease.scene, lease.position)).collect();
        roster(scenarios).iter().map(places).collect()
    }

    #[test]
    fn scenarios_that_do_not_overlap_share_their_users() {
        let one_after_another = [constant("a", 0, 2, 10, 5), constant("b", 15, 3, 10, 5)];
        assert_eq!(
            places(&one_after_another),
            [vec![(0, 0), (1, 0)], vec![(0, 1), (1, 1)], vec![(1, 2)]]
        );
        let in_its_grace = [constant("a", 0, 2, 10, 5), constant("b", 14, 1, 10, 5)];
        assert_eq!(places(&in_its_grace), [vec![(0, 0)], vec![(0, 1)], vec![(1, 0)]]);
    }

    #[test]
    fn users_that_a_ramp_lets_go_are_there_for_others() {
        let stage = |secs, target| Stage {
            duration: SECS(secs),
            target,
        };
        let ramp = RampingVus::new(2, vec![stage(10, 2), stage(0, 1), stage(30, 1)]).unwrap();
        let ramp = ramp.graceful_ramp_down(SECS(5));
        let scenarios = [
            Scenario::new("ramp", Executor::RampingVus(ramp)),
            constant("later", 15, 1, 10, 0),
        ];
        assert_eq!(places(&scenarios), [vec![(0, 0)], vec![(0, 1), (1, 0)]]);
    }

    #[test]
    fn users_that_may_be_made_later_count_while_their_scenario_lasts() {
        let arrivals = |name, start_secs| {
            let open = OpenModel {
                arrivals: Arrivals::constant(1, SECS(1), SECS(10)).unwrap(),
                pre_allocated_vus: 2,
                max_vus: 6,
                graceful_stop: SECS(5),
                when_late: WhenLate::Drop,
            };
            Scenario {
                start_time: SECS(start_secs),
                ..Scenario::new(name, Executor::ConstantArrivalRate(open))
            }
        };
        for (scenarios, expected) in [
            (vec![arrivals("a", 0)], 6),
            (vec![arrivals("a", 0), arrivals("b", 14)], 12),
            (vec![arrivals("a", 0), arrivals("b", 15)], 6),
            (
                vec![
                    arrivals("a", 0),
                    constant("b", 0, 3, 1, 0),
                    constant("c", 1, 4, 1, 0),
                ],
                10,
            ),
        ] {
            assert_eq!(max_vus(&scenarios), expected);
        }
    }

    #[test]
    fn a_user_that_may_run_on_keeps_its_place() {
        let stages = [(10, 1), (0, 0), (20, 0), (0, 1), (10, 1)].map(|(secs, target)| Stage {
            duration: SECS(secs),
            target,
        });
        let ramp = RampingVus::new(1, stages.to_vec()).unwrap();
        let scenarios = [
            Scenario::new("ramp", Executor::RampingVus(ramp)),
            constant("between", 12, 1, 5, 0),
        ];
        assert_eq!(places(&scenarios), [vec![(0, 0), (0, 0)], vec![(1, 0)]]);
    }
}
