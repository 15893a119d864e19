//! The method's results for invented runs with a known truth, second by second, with autocorrelated noise.

use fastrand::Rng;

use super::*;
use crate::comparison::{TOLERANCE, figure::Unit};

/// One run of 20 s on each side, of a machine without other programs.
const ALONE: Circumstances = Circumstances {
    company: Company::Alone,
    order: Order::Apart,
    given: Series { runs: 1, seconds: 20 },
};

mod simulation;

/// A load test of this many seconds, and its noise. All deviations are of logarithms.
#[derive(Clone, Copy, Debug)]
struct World {
    n_seconds: usize,
    /// Between runs.
    between: f64,
    /// The deviation between seconds, each of which depends on the previous one by `memory` (0 to 1).
    within: f64,
    memory: f64,
    /// The deviation of single requests.
    of_requests: f64,
    /// Requests that fail.
    failing: f64,
    /// What the same request takes without noise, in microseconds.
    latency_us: f64,
    /// The deviation by which the machine drifts from one run to the next: a random walk that all later runs keep.
    drift: f64,
}

/// A quiet machine.
const QUIET: World = World {
    n_seconds: 20,
    between: 0.02,
    within: 0.03,
    memory: 0.5,
    of_requests: 0.4,
    failing: 0.001,
    latency_us: 2_000.0,
    drift: 0.0,
};

/// A machine with other programs.
const SHARED: World = World {
    between: 0.04,
    within: 0.15,
    memory: 0.7,
    ..QUIET
};

const USERS: f64 = 10.0;
const PAUSE_SECONDS: f64 = 0.05;

/// A run, as its compared figures.
struct MadeUp(Vec<Measurement>);

fn normal(rng: &mut Rng) -> f64 {
    let (u, v) = (1.0 - rng.f64(), rng.f64());
    (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
}

impl World {
    /// A run in which everything takes `slowdown` times as long.
    fn run(&self, slowdown: f64, rng: &mut Rng) -> MadeUp {
        let of_run = self.between * normal(rng);
        let mut of_second = self.within * normal(rng);
        let mut latencies = Vec::new();
        let (mut means, mut rates, mut failures, mut histograms) =
            (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for _ in 0..self.n_seconds {
            let fresh = (1.0 - self.memory * self.memory).sqrt();
            of_second = self.memory * of_second + fresh * self.within * normal(rng);
            let typical = self.latency_us * slowdown * (of_run + of_second).exp();
            let n = (USERS / (PAUSE_SECONDS + typical / 1e6)).round() as usize;
            let of_this: Vec<f64> = (0..n)
                .map(|_| typical * (self.of_requests * normal(rng)).exp())
                .collect();
            let bin = |latency: &f64| ((latency.log2() * 8.0) as u32, 1);
            histograms.push(of_this.iter().map(bin).collect::<Vec<_>>());
            means.push((of_this.iter().sum::<f64>(), n as f64));
            rates.push((n as f64, 1.0));
            let n_failed = (0..n).filter(|_| rng.f64() < self.failing).count();
            failures.push((n_failed as f64, n as f64));
            latencies.extend(of_this);
        }
        latencies.sort_by(f64::total_cmp);
        let ratio = |pairs: Vec<(f64, f64)>| {
            let sum = |of: fn(&(f64, f64)) -> f64| pairs.iter().map(of).sum::<f64>();
            Measurement {
                value: sum(|pair| pair.0) / sum(|pair| pair.1),
                parts: Parts::Ratio(pairs),
            }
        };
        let quantile = |quantile: f64| Measurement {
            value: latencies[(latencies.len() as f64 * quantile) as usize],
            parts: Parts::Quantile {
                quantile,
                per_octave: 8,
                histograms: histograms.clone(),
            },
        };
        MadeUp(vec![
            quantile(0.5),
            quantile(0.95),
            quantile(0.99),
            ratio(means.clone()),
            ratio(rates.clone()),
            ratio(failures.clone()),
        ])
    }

    /// Compares two sides of `n_runs` each, which ran apart.
    fn compare(&self, slowdown: f64, n_runs: usize, rng: &mut Rng) -> Vec<Difference> {
        let baseline: Vec<_> = (0..n_runs).map(|_| self.run(1.0, rng)).collect();
        let candidate: Vec<_> = (0..n_runs).map(|_| self.run(slowdown, rng)).collect();
        judge(cases(&baseline, &candidate), Terms::default(), ALONE)
    }
}

fn cases(baseline: &[MadeUp], candidate: &[MadeUp]) -> Vec<Case> {
    const FIGURES: [(&str, Nature, Better); 6] = [
        ("p50", Nature::Median, Better::Lower),
        ("p95", Nature::P95, Better::Lower),
        ("p99", Nature::P99, Better::Lower),
        ("mean", Nature::Mean, Better::Lower),
        ("rate", Nature::Throughput, Better::Higher),
        ("failed", Nature::Share, Better::Lower),
    ];
    let case = |(index, &(figure, nature, better)): (usize, &(&str, Nature, Better))| {
        let side = |runs: &[MadeUp]| {
            runs.iter()
                .map(|MadeUp(figures)| figures[index].clone())
                .collect()
        };
        Case {
            figure: Figure {
                metric: "latency".to_owned(),
                figure: figure.to_owned(),
                unit: Unit::Microseconds,
                better,
                nature,
            },
            baseline: side(baseline),
            candidate: side(candidate),
            late: [0.0; 2],
        }
    };
    FIGURES.iter().enumerate().map(case).collect()
}

#[test]
fn a_verdict_takes_a_change_that_counts_and_is_no_chance() {
    use Verdict::{Better as Improved, Equal, Inconclusive, Worse};
    // 5 % is 0.0488 of a logarithm, 10 % is 0.0953.
    for (effect, margin, expected) in [
        (0.10, 0.09, Worse),
        (0.10, 0.10, Inconclusive),
        (0.048, 0.01, Equal),
        (0.049, 0.01, Worse),
        (0.048, 0.05, Inconclusive),
        (0.04, 0.055, Equal),
        (0.04, 0.056, Inconclusive),
        (-0.10, 0.09, Improved),
        (-0.10, 0.10, Inconclusive),
        (-0.048, 0.01, Equal),
        (-0.049, 0.01, Improved),
        (0.0, 0.095, Equal),
        (0.0, 0.096, Inconclusive),
        (0.7, 0.694, Worse),
        (-0.7, 0.694, Improved),
    ] {
        let opposite = match expected {
            Worse => Improved,
            Improved => Worse,
            same => same,
        };
        for (better, expected) in [(Better::Lower, expected), (Better::Higher, opposite)] {
            let figure = figure(better, Nature::Mean);
            let ends = [effect - margin, effect + margin];
            let found = verdict(&figure, effect, ends, Terms::default());
            assert_eq!(found, expected, "{effect} ± {margin}, {better:?}");
        }
    }
    // The threshold itself does not count.
    let least = Nature::Mean.threshold(TOLERANCE);
    for effect in [least, -least] {
        let ends = [effect - 0.01, effect + 0.01];
        let found = verdict(
            &figure(Better::Lower, Nature::Mean),
            effect,
            ends,
            Terms::default(),
        );
        assert_eq!(found, Equal);
    }
}

/// A slowdown that may be the generator's own delay is no slowdown of the target.
#[test]
fn lateness_widens_the_interval_of_its_side_downwards() {
    let found = |late| {
        let case = Case {
            figure: figure(Better::Lower, Nature::Median),
            baseline: vec![ratios(&[(20_000.0, 1.0); 20])],
            candidate: vec![ratios(&[(25_000.0, 1.0); 20])],
            late,
        };
        let found = judge(vec![case], Terms::default(), ALONE).remove(0);
        (found.verdict, found.interval)
    };
    let (verdict, interval) = found([0.0, 0.0]);
    let [low, high] = interval.unwrap();
    assert_eq!(verdict, Verdict::Worse);
    // A tenth of the baseline makes the true change up to a ninth larger, and a fifth of the candidate makes it a fifth
    // smaller.
    let (verdict, interval) = found([0.1, 0.2]);
    let [lower, higher] = interval.unwrap();
    assert_eq!(verdict, Verdict::Inconclusive);
    assert!(((1.0 + lower) / (1.0 + low) - 0.8).abs() < 1e-9, "{low} {lower}");
    assert!(
        ((1.0 + higher) / (1.0 + high) - 1.0 / 0.9).abs() < 1e-9,
        "{high} {higher}"
    );
    assert_eq!(found([0.0, 1.0]), (Verdict::Inconclusive, None));
}

fn figure(better: Better, nature: Nature) -> Figure {
    Figure {
        metric: "latency".to_owned(),
        figure: "f".to_owned(),
        unit: Unit::Microseconds,
        better,
        nature,
    }
}

fn ratios(pairs: &[(f64, f64)]) -> Measurement {
    let sum = |of: fn(&(f64, f64)) -> f64| pairs.iter().map(of).sum::<f64>();
    Measurement {
        value: sum(|pair| pair.0) / sum(|pair| pair.1),
        parts: Parts::Ratio(pairs.into()),
    }
}

#[test]
fn chance_in_a_share_is_binomial() {
    let whole = Measurement {
        value: 0.5,
        parts: Parts::Whole,
    };
    for (side, failed, total) in [
        (vec![], 0.0, 0.0),
        (vec![ratios(&[(0.0, 98.0)])], 0.0, 98.0),
        (vec![ratios(&[(1.0, 10.0), (2.0, 10.0)])], 3.0, 20.0),
        (
            vec![ratios(&[(1.0, 10.0)]), whole, ratios(&[(2.0, 10.0)])],
            3.0,
            20.0,
        ),
    ] {
        let (n_failed, n_total) = (failed + 1.0, total + 2.0);
        let expected = n_failed * (n_total - n_failed) / (n_total * n_total * n_total);
        let found = binomial_variance(&side);
        assert!((found - expected).abs() < 1e-12, "{failed} of {total}: {found}");
    }
}

/// Figures that are tested together have wider intervals; those that cannot be tested do not count.
#[test]
fn all_intervals_hold_together() {
    let case = |n_seconds: usize| Case {
        figure: figure(Better::Lower, Nature::Throughput),
        baseline: vec![ratios(&vec![(10.0, 1.0); n_seconds])],
        candidate: vec![ratios(&vec![(12.0, 1.0); n_seconds])],
        late: [0.0; 2],
    };
    // Student's table for ten degrees: 97.5 %, 98.75 % and 99.5 %, one-sided.
    for (n_cases, n_short, quantile) in [(1, 0, 2.228), (1, 5, 2.228), (2, 1, 2.634), (5, 0, 3.169)] {
        let long = (0..n_cases).map(|_| case(20));
        let short = (0..n_short).map(|_| case(7));
        let found = judge(long.chain(short).collect(), Terms::default(), ALONE);
        let [low, high] = found[0].interval.unwrap();
        let (effect, margin) = (1.2_f64.ln(), quantile * 0.03 * 2.0_f64.sqrt());
        for (end, expected) in [(low, effect - margin), (high, effect + margin)] {
            assert!(
                (end.ln_1p() - expected).abs() < 1e-3,
                "{n_cases} {n_short}: {end}"
            );
        }
        assert!((found[0].change.unwrap() - 0.2).abs() < 1e-12);
        assert!((found[0].baseline - 10.0).abs() < 1e-12 && (found[0].candidate - 12.0).abs() < 1e-12);
    }
}

/// The experience for latencies depends on both sides, so that it is equal whichever is the baseline.
#[test]
fn experience_is_that_of_the_middle_of_both_sides() {
    let case = |before: f64, after: f64| Case {
        figure: figure(Better::Lower, Nature::Median),
        baseline: vec![ratios(&[(before, 1.0); 20])],
        candidate: vec![ratios(&[(after, 1.0); 20])],
        late: [0.0; 2],
    };
    let error = |case: &Case| case.estimate(ALONE).unwrap().standard_error;
    // 20 µs of 200 µs, and 3 %.
    let expected = 0.1_f64.hypot(0.03) * 2.0_f64.sqrt();
    for (before, after) in [(200.0, 200.0), (100.0, 300.0), (300.0, 100.0)] {
        let found = error(&case(before, after));
        assert!((found - expected).abs() < 1e-9, "{before} {after}: {found}");
    }
}

#[test]
fn what_cannot_be_told_has_its_reason() {
    let half_empty = || {
        let mut pairs = vec![(0.0, 0.0); 100];
        pairs[10] = (1.0, 1.0);
        ratios(&pairs)
    };
    let other = || {
        let mut pairs = vec![(0.0, 0.0); 100];
        pairs[60] = (1.0, 1.0);
        ratios(&pairs)
    };
    for (baseline, candidate, expected) in [
        (half_empty(), other(), "a run has no samples for most of its time"),
        (
            ratios(&[(0.0, 0.0); 8]),
            other(),
            "a run has no samples for most of its time",
        ),
        (
            ratios(&[(1.0, 1.0); 7]),
            other(),
            "a run has 7 intervals, but the scatter is only known from 8 on; run longer",
        ),
    ] {
        let case = Case {
            figure: figure(Better::Lower, Nature::Mean),
            baseline: vec![baseline],
            candidate: vec![candidate],
            late: [0.0; 2],
        };
        let found = judge(vec![case], Terms::default(), ALONE);
        assert_eq!(found[0].verdict, Verdict::Inconclusive);
        assert_eq!(found[0].reason.as_deref(), Some(expected));
    }
}

/// A neighbour costs short latencies more than long ones.
#[test]
fn only_larger_differences_are_told_of_a_shared_machine() {
    for (latency_us, expected) in [(500.0, Verdict::Inconclusive), (50_000.0, Verdict::Worse)] {
        let median = |value: f64| {
            vec![Measurement {
                value,
                parts: Parts::Ratio(vec![(value, 1.0); 20]),
            }]
        };
        let case = Case {
            figure: Figure {
                metric: "latency".to_owned(),
                figure: "p50".to_owned(),
                unit: Unit::Microseconds,
                better: Better::Lower,
                nature: Nature::Median,
            },
            baseline: median(latency_us),
            candidate: median(1.3 * latency_us),
            late: [0.0; 2],
        };
        let found = judge(
            vec![case],
            Terms::default(),
            Circumstances {
                company: Company::Shared,
                ..ALONE
            },
        );
        assert_eq!(found[0].verdict, expected, "{found:?}");
    }
}

#[test]
fn faster_is_better() {
    use Verdict::{Better, Equal};
    let mut rng = Rng::with_seed(2);
    let verdicts: Vec<Verdict> = QUIET
        .compare(0.7, 1, &mut rng)
        .iter()
        .map(|found| found.verdict)
        .collect();
    // The p99 of 4,000 samples is too noisy, and the rate is that of the users' pauses; no request failed.
    let [p50, p95, _, mean, _, failed] = verdicts.try_into().unwrap();
    assert_eq!([p50, p95, mean, failed], [Better, Better, Better, Equal]);
}

#[test]
fn more_failures_are_found() {
    let mut rng = Rng::with_seed(3);
    let check = |failing: f64, expected: Verdict, rng: &mut Rng| {
        let worse = World { failing, ..QUIET };
        let found = judge(
            cases(&[QUIET.run(1.0, rng)], &[worse.run(1.0, rng)]),
            Terms::default(),
            ALONE,
        );
        assert_eq!(found[5].verdict, expected, "{:?}", found[5]);
    };
    check(0.001, Verdict::Equal, &mut rng);
    check(0.0, Verdict::Equal, &mut rng);
    check(0.02, Verdict::Worse, &mut rng);
}

#[test]
fn the_same_runs_compare_the_same() {
    let compare = || SHARED.compare(1.1, 2, &mut Rng::with_seed(4));
    assert_eq!(compare(), compare());
}

#[test]
fn too_little_is_told() {
    let short = World {
        n_seconds: 5,
        ..QUIET
    };
    for found in short.compare(1.3, 1, &mut Rng::with_seed(5)) {
        assert_eq!((found.verdict, found.interval), (Verdict::Inconclusive, None));
        let reason = "a run has 5 intervals, but the scatter is only known from 8 on; run longer";
        assert_eq!(found.reason.as_deref(), Some(reason));
    }
}

mod properties {
    use proptest::prelude::*;

    use super::*;

    fn any_run() -> impl Strategy<Value = Measurement> {
        let pairs = proptest::collection::vec((0.0..1e9_f64, 0.0..1e9_f64), 0..40);
        let histogram = proptest::collection::vec((0..2_000_u32, 0..1_000_u64), 0..5);
        let histograms = proptest::collection::vec(histogram, 0..20);
        let parts = prop_oneof![
            pairs.prop_map(Parts::Ratio),
            histograms.prop_map(|histograms| Parts::Quantile {
                quantile: 0.95,
                per_octave: 8,
                histograms
            }),
            Just(Parts::Whole),
        ];
        (-1.0..1e9_f64, parts).prop_map(|(value, parts)| Measurement { value, parts })
    }

    fn case(baseline: Vec<Measurement>, candidate: Vec<Measurement>, better: Better) -> Case {
        Case {
            figure: Figure {
                metric: "m".to_owned(),
                figure: "f".to_owned(),
                unit: Unit::Number,
                better,
                nature: Nature::Throughput,
            },
            baseline,
            candidate,
            late: [0.0; 2],
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// Files are untrusted: for any contents there is a verdict, and every interval contains its change.
        #[test]
        fn any_runs_have_a_verdict(
            baseline in proptest::collection::vec(any_run(), 1..3),
            candidate in proptest::collection::vec(any_run(), 1..3),
        ) {
            let [found] = judge(vec![case(baseline, candidate, Better::Lower)], Terms::default(), ALONE).try_into().unwrap();
            if let (Some([low, high]), Some(change)) = (found.interval, found.change) {
                prop_assert!(low <= change && change <= high, "{found:?}");
            }
        }

        /// A regression in one direction is an improvement in the other.
        #[test]
        fn sides_are_alike(seed in 0..1000_u64, slowdown in 0.5..2.0_f64) {
            let mut rng = fastrand::Rng::with_seed(seed);
            let short = World { n_seconds: 10, ..QUIET };
            let runs = [short.run(1.0, &mut rng), short.run(slowdown, &mut rng)];
            let verdict = |one: &MadeUp, other: &MadeUp, better| {
                let side = |MadeUp(figures): &MadeUp| vec![figures[3].clone()];
                judge(vec![case(side(one), side(other), better)], Terms::default(), ALONE)[0].verdict
            };
            let forth = verdict(&runs[0], &runs[1], Better::Lower);
            let opposite = match forth {
                Verdict::Worse => Verdict::Better,
                Verdict::Better => Verdict::Worse,
                same => same,
            };
            prop_assert_eq!(verdict(&runs[1], &runs[0], Better::Lower), opposite);
            prop_assert_eq!(verdict(&runs[0], &runs[1], Better::Higher), opposite);
        }
    }
}
