//! The promise of a comparison, tested with invented runs in virtual time: equal runs are rarely called different, a
//! slowdown is found or left open but never called equal, and advice that is followed decides.

use super::*;
use crate::comparison::overall::{advice, overall};

/// Runs of 15 s against 20 ms on a machine that other programs use: seconds vary by 10 % and resemble the second before,
/// and each run differs from the one before by more than its seconds show.
const NOISY: World = World {
    n_seconds: 15,
    between: 0.015,
    within: 0.10,
    memory: 0.6,
    of_requests: 0.2,
    failing: 0.0,
    latency_us: 20_000.0,
    drift: 0.01,
};

/// The same machine without other programs.
const CALM: World = World {
    between: 0.01,
    within: 0.03,
    drift: 0.005,
    ..NOISY
};

/// The order in which the runs of two sides are made.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Turns {
    /// All runs of the baseline first.
    Apart,
    /// A run of each side in turn.
    InTurn,
}

/// How many of some comparisons had each verdict.
#[derive(Debug, Default, PartialEq, Eq)]
struct Tally {
    worse: usize,
    better: usize,
    equal: usize,
    inconclusive: usize,
    /// Inconclusive ones with advice.
    advised: usize,
}

impl World {
    /// The runs of both sides on a machine that drifts.
    fn series(&self, slowdown: f64, n_runs: usize, turns: Turns, rng: &mut Rng) -> [Vec<MadeUp>; 2] {
        let mut machine = 1.0;
        let mut sides = [Vec::new(), Vec::new()];
        for at in 0..2 * n_runs {
            let side = match turns {
                Turns::Apart => at / n_runs,
                Turns::InTurn => at % 2,
            };
            machine *= (self.drift * normal(rng)).exp();
            let of_side = if side == 0 { 1.0 } else { slowdown };
            sides[side].push(self.run(machine * of_side, rng));
        }
        sides
    }

    fn judged(
        &self,
        slowdown: f64,
        n_runs: usize,
        turns: Turns,
        company: Company,
        seed: u64,
    ) -> Vec<Difference> {
        let [baseline, candidate] = self.series(slowdown, n_runs, turns, &mut Rng::with_seed(seed));
        let order = match turns {
            Turns::Apart => Order::Apart,
            Turns::InTurn => Order::InTurn,
        };
        let given = Series {
            runs: n_runs,
            seconds: self.n_seconds as u64,
        };
        let circumstances = Circumstances {
            company,
            order,
            given,
        };
        judge(cases(&baseline, &candidate), Terms::default(), circumstances)
    }

    /// The overall verdicts of `n` comparisons, each with a seed of its own.
    fn tally(&self, n: u64, slowdown: f64, n_runs: usize, turns: Turns, company: Company) -> Tally {
        let mut tally = Tally::default();
        for seed in 0..n {
            let differences = self.judged(slowdown, n_runs, turns, company, seed);
            let count = match overall(&differences, false) {
                Verdict::Worse => &mut tally.worse,
                Verdict::Better => &mut tally.better,
                Verdict::Equal => &mut tally.equal,
                Verdict::Inconclusive => {
                    tally.advised += usize::from(!advice(&differences, false).is_empty());
                    &mut tally.inconclusive
                }
            };
            *count += 1;
        }
        tally
    }
}

#[test]
fn equal_runs_are_rarely_called_different() {
    for (world, company, n_runs, turns, n, most) in [
        (CALM, Company::Alone, 1, Turns::Apart, 60, 0),
        (NOISY, Company::Shared, 1, Turns::Apart, 100, 5),
        (NOISY, Company::Shared, 3, Turns::InTurn, 40, 2),
    ] {
        let found = world.tally(n, 1.0, n_runs, turns, company);
        assert!(
            found.worse + found.better <= most,
            "{n_runs} {turns:?} {world:?}: {found:?}"
        );
        assert_eq!(found.advised, found.inconclusive, "{found:?}");
    }
}

#[test]
fn a_fifth_more_latency_is_found_and_never_called_equal() {
    for (world, company, n_runs, turns, n, least) in [
        (CALM, Company::Alone, 1, Turns::Apart, 40, 38),
        (NOISY, Company::Shared, 1, Turns::Apart, 40, 16),
        (NOISY, Company::Shared, 3, Turns::InTurn, 20, 18),
    ] {
        let found = world.tally(n, 1.2, n_runs, turns, company);
        assert!(
            found.worse >= least && found.better + found.equal == 0,
            "{n_runs} {turns:?} {world:?}: {found:?}"
        );
    }
}

#[test]
fn half_more_latency_is_found_in_one_run_of_15_seconds() {
    for (world, company) in [(CALM, Company::Alone), (NOISY, Company::Shared)] {
        let found = world.tally(20, 1.5, 1, Turns::Apart, company);
        assert_eq!(
            (found.worse, found.better + found.equal),
            (20, 0),
            "{world:?}: {found:?}"
        );
    }
}

#[test]
fn enough_equal_runs_are_called_equal() {
    let found = CALM.tally(10, 1.0, 8, Turns::InTurn, Company::Alone);
    assert!(found.equal >= 9 && found.worse + found.better == 0, "{found:?}");
}

/// A machine that gets slower by 3 % from run to run looks like a slower candidate when all its runs come last, and not
/// when they come in turn.
#[test]
fn runs_in_turn_share_the_drift_of_the_machine() {
    let drifting = World { drift: 0.03, ..CALM };
    let [apart, in_turn] = [Turns::Apart, Turns::InTurn].map(|turns| {
        let found: Vec<_> = (0..60)
            .map(|seed| {
                let [baseline, candidate] = drifting.series(1.0, 5, turns, &mut Rng::with_seed(seed));
                let mean = |runs: &[MadeUp]| {
                    runs.iter()
                        .map(|MadeUp(figures)| figures[0].value.ln())
                        .sum::<f64>()
                        / runs.len() as f64
                };
                (mean(&candidate) - mean(&baseline)).powi(2)
            })
            .collect();
        (found.iter().sum::<f64>() / found.len() as f64).sqrt()
    });
    assert!(in_turn < apart / 2.0, "{in_turn} {apart}");
}

/// With the advised runs, the figures are decided in most cases.
#[test]
fn advice_that_is_followed_decides() {
    let (mut n_followed, mut n_decided) = (0, 0);
    for seed in 0..12 {
        let first = CALM.judged(1.0, 1, Turns::Apart, Company::Alone, seed);
        let median = &first[0];
        let Some(series) = median.suffices else {
            continue;
        };
        let longer = World {
            n_seconds: series.seconds as usize,
            ..CALM
        };
        let then = longer.judged(1.0, series.runs, Turns::InTurn, Company::Alone, 1_000 + seed);
        n_followed += 1;
        n_decided += usize::from(then[0].verdict == Verdict::Equal);
    }
    assert!(
        n_followed >= 10 && n_decided * 3 >= n_followed * 2,
        "{n_decided} of {n_followed}"
    );
}
