//! The difference of two sides in one figure, and its confidence.
//!
//! Two runs of one test differ by more than their seconds do: another minute, other neighbours, other places in memory.
//! So the noise against which a difference is compared has two parts: the noise within the runs (`bootstrap`), and the
//! noise between runs. One run per side cannot show the second part, so experience replaces it ([`Experience`]);
//! several runs per side show it, and the more there are the less experience counts. This is Smyth's moderated t
//! statistic (2004), with fixed experience instead of values from thousands of genes.

use super::{
    bootstrap::{sample_variance, variance},
    judgement::LEAST_INTERVALS,
    measurement::Measurement,
    student,
};

/// How much the figures of two runs of one test differ, as known from earlier runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Experience {
    /// Standard deviation between runs, on the scale of the effect, in addition to the noise within them.
    pub(super) deviation: f64,
    /// The weight of the experience in degrees of freedom.
    pub(super) degrees: f64,
}

/// The difference of two sides: candidate less baseline.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Estimate {
    pub(super) effect: f64,
    pub(super) standard_error: f64,
    /// Degrees of freedom of Student's distribution.
    pub(super) degrees: f64,
    /// The variance of one run, as far as it differs from others as a whole.
    pub(super) between: f64,
    /// The variance of one run by chance within it.
    pub(super) within: f64,
    /// The weight of the experience in degrees of freedom.
    experience_degrees: f64,
}

/// How the runs of the two sides belong together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// The sides ran in turn: each run has a neighbour on the other side, and a change of the machine hits both.
    InTurn,
    /// Any other order.
    Apart,
}

impl Estimate {
    /// Half of the interval that holds the true difference with the given confidence (0 to 1) in both directions.
    pub(super) fn margin(&self, confidence: f64) -> f64 {
        student::quantile((1.0 - confidence) / 2.0, self.degrees) * self.standard_error
    }

    /// The margin that so many runs on each side, each `times_as_long` as these, are expected to have.
    pub(super) fn margin_of(&self, n_runs: usize, times_as_long: f64, confidence: f64) -> f64 {
        let n_runs = n_runs as f64;
        let variance = 2.0 / n_runs * (self.between + self.within / times_as_long);
        // Runs in turn: one degree for each further pair.
        let degrees = self.experience_degrees + n_runs - 1.0;
        student::quantile((1.0 - confidence) / 2.0, degrees) * variance.sqrt()
    }

    /// Compares the runs of two sides, each with at least one, on a scale: logarithms for figures that are compared by
    /// their ratio. Chance within the runs is at least `least_variance`. Sides that ran in turn have equally many runs, in
    /// the order of time. `None` if a figure has no place on the scale, or the noise within the runs is unknown.
    pub(super) fn new(
        baseline: &[Measurement],
        candidate: &[Measurement],
        scale: impl Fn(f64) -> f64,
        experience: Experience,
        least_variance: f64,
        order: Order,
    ) -> Option<Self> {
        let on_scale =
            |side: &[Measurement]| -> Vec<f64> { side.iter().map(|run| scale(run.value)).collect() };
        let (before, after) = (on_scale(baseline), on_scale(candidate));
        let effect = mean(&after) - mean(&before);
        if !effect.is_finite() {
            return None;
        }
        let runs: Vec<_> = baseline.iter().chain(candidate).collect();
        let of_figures = |figures: &[f64]| {
            let (before, after) = figures.split_at(baseline.len());
            mean_of(after, &scale) - mean_of(before, &scale)
        };
        let is_whole = runs.iter().any(|run| run.parts.n_intervals().is_none());
        let within = if is_whole {
            0.0
        } else {
            variance(&runs, LEAST_INTERVALS, of_figures)?
        };
        let within = within.max(least_variance);
        let shares = 1.0 / before.len() as f64 + 1.0 / after.len() as f64;
        let expected = experience.deviation.powi(2) * shares + within;
        let (seen, seen_degrees) = match order {
            Order::InTurn => of_pairs(&before, &after),
            Order::Apart => (
                pooled_variance(&before, &after) * shares,
                (before.len() + after.len() - 2) as f64,
            ),
        };
        let degrees = experience.degrees + seen_degrees;
        let moderated = (experience.degrees * expected + seen_degrees * seen) / degrees;
        let within = within / shares;
        Some(Self {
            effect,
            standard_error: moderated.sqrt(),
            degrees,
            // Few runs may happen to be alike; half of the experience stays.
            between: (moderated / shares - within).max(experience.deviation.powi(2) / 2.0),
            within,
            experience_degrees: experience.degrees,
        })
    }
}

#[cfg(test)]
impl Estimate {
    /// An estimate of no effect, from noise of one run.
    pub(super) fn made_up(between: f64, within: f64) -> Self {
        Self {
            effect: 0.0,
            standard_error: (2.0 * (between + within)).sqrt(),
            degrees: 10.0,
            between,
            within,
            experience_degrees: 10.0,
        }
    }
}

/// The variance of the mean difference of neighbours, and its degrees of freedom.
fn of_pairs(before: &[f64], after: &[f64]) -> (f64, f64) {
    let differences: Vec<_> = before
        .iter()
        .zip(after)
        .map(|(before, after)| after - before)
        .collect();
    let n_pairs = differences.len() as f64;
    (sample_variance(&differences) / n_pairs, n_pairs - 1.0)
}

fn pooled_variance(before: &[f64], after: &[f64]) -> f64 {
    let degrees = |side: &[f64]| (side.len() - 1) as f64;
    let (d_before, d_after) = (degrees(before), degrees(after));
    match d_before + d_after {
        0.0 => 0.0,
        sum => (d_before * sample_variance(before) + d_after * sample_variance(after)) / sum,
    }
}

fn mean(numbers: &[f64]) -> f64 {
    mean_of(numbers, &|number| number)
}

fn mean_of(numbers: &[f64], scale: &impl Fn(f64) -> f64) -> f64 {
    numbers.iter().map(|&number| scale(number)).sum::<f64>() / numbers.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comparison::measurement::Parts;

    fn whole(values: &[f64]) -> Vec<Measurement> {
        let parts = Parts::Whole;
        values
            .iter()
            .map(|&value| Measurement {
                value,
                parts: parts.clone(),
            })
            .collect()
    }

    #[track_caller]
    fn check(order: Order, baseline: &[f64], candidate: &[f64], least: f64, expected: (f64, f64, f64)) {
        let experience = Experience {
            deviation: 2.0,
            degrees: 10.0,
        };
        let (baseline, candidate) = (whole(baseline), whole(candidate));
        let found = Estimate::new(&baseline, &candidate, |value| value, experience, least, order).unwrap();
        let (effect, variance, degrees) = expected;
        assert!(
            (found.effect - effect).abs() < 1e-12
                && (found.standard_error.powi(2) - variance).abs() < 1e-12
                && found.degrees == degrees,
            "{found:?}"
        );
    }

    #[test]
    fn experience_gives_way_to_what_is_seen() {
        // One run each: 2² for either.
        check(Order::Apart, &[10.0], &[14.0], 0.0, (4.0, 8.0, 10.0));
        check(Order::Apart, &[10.0], &[14.0], 0.5, (4.0, 8.5, 10.0));
        // Variances of 2 and of 18, pooled: 10 with two degrees, combined with 4 with ten.
        check(
            Order::Apart,
            &[10.0, 12.0],
            &[20.0, 26.0],
            0.0,
            (12.0, (40.0 + 20.0) / 12.0, 12.0),
        );
        // A side with one run shows no variance; that of the other is 4 with two degrees.
        check(
            Order::Apart,
            &[1.0],
            &[3.0, 5.0, 7.0],
            0.0,
            (4.0, (10.0 * 4.0 + 2.0 * 4.0) * (4.0 / 3.0) / 12.0, 12.0),
        );
        // Sides of different numbers: 2 with one degree, 4 with two.
        check(
            Order::Apart,
            &[1.0, 3.0],
            &[3.0, 5.0, 7.0],
            0.0,
            (3.0, (10.0 * 4.0 + 3.0 * (10.0 / 3.0)) * (5.0 / 6.0) / 13.0, 13.0),
        );
        // The machine got slower by 10 between the pairs, which does not count: differences of 4 and 6, with one degree.
        check(
            Order::InTurn,
            &[1.0, 11.0],
            &[5.0, 17.0],
            0.0,
            (5.0, (10.0 * 4.0 + 1.0) / 11.0, 11.0),
        );
        // The same runs in any order: variances of 50 and of 72.
        check(
            Order::Apart,
            &[1.0, 11.0],
            &[5.0, 17.0],
            0.0,
            (5.0, (10.0 * 4.0 + 2.0 * 61.0) / 12.0, 12.0),
        );
        // One pair shows nothing.
        check(Order::InTurn, &[10.0], &[14.0], 0.0, (4.0, 8.0, 10.0));
    }

    #[test]
    fn what_has_no_place_on_the_scale_has_no_estimate() {
        let experience = Experience {
            deviation: 0.1,
            degrees: 10.0,
        };
        let of = |one: f64, other: f64| {
            let (one, other) = (whole(&[one]), whole(&[other]));
            Estimate::new(&one, &other, f64::ln, experience, 0.0, Order::Apart)
        };
        assert!(of(1.0, 2.0).is_some());
        assert!(of(0.0, 2.0).is_none() && of(1.0, 0.0).is_none() && of(1.0, -1.0).is_none());
    }

    /// Noise within the runs counts in addition to experience.
    #[test]
    fn scatter_within_runs_widens_the_estimate() {
        let run = |value: f64, scatter: f64| {
            let seconds = (0..20).map(|second| value + scatter * f64::from(second % 2));
            vec![Measurement {
                value,
                parts: Parts::Ratio(seconds.map(|value| (value, 1.0)).collect()),
            }]
        };
        let experience = Experience {
            deviation: 1.0,
            degrees: 10.0,
        };
        let of = |scatter| {
            let estimate = Estimate::new(
                &run(10.0, 0.0),
                &run(20.0, scatter),
                |value| value,
                experience,
                0.0,
                Order::Apart,
            );
            estimate.unwrap().standard_error.powi(2)
        };
        assert!((of(0.0) - 2.0).abs() < 1e-9, "{}", of(0.0));
        assert!(of(40.0) > 3.0, "{}", of(40.0));
    }

    #[test]
    fn a_margin_is_a_quantile_in_standard_errors() {
        let estimate = Estimate {
            standard_error: 2.0,
            ..Estimate::made_up(1.0, 1.0)
        };
        // Student's table: 97.5 % and 95 %, one-sided.
        for (confidence, quantile) in [(0.95, 2.228), (0.90, 1.812)] {
            let margin = estimate.margin(confidence);
            assert!((margin - 2.0 * quantile).abs() < 0.002, "{margin}");
        }
    }

    #[test]
    fn more_and_longer_runs_have_a_smaller_margin() {
        let estimate = Estimate::made_up(3.0, 4.0);
        // Student's table: 97.5 %, for ten and for twelve degrees.
        for (n_runs, times_as_long, expected) in [
            (1, 1.0, 2.228 * 14.0_f64.sqrt()),
            (1, 4.0, 2.228 * 8.0_f64.sqrt()),
            (3, 1.0, 2.179 * (14.0_f64 / 3.0).sqrt()),
        ] {
            let found = estimate.margin_of(n_runs, times_as_long, 0.95);
            assert!(
                (found - expected).abs() < 0.004,
                "{n_runs} {times_as_long}: {found}"
            );
        }
    }
}
