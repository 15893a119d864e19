//! The noise of a figure within a run, from resampled stretches of its intervals.
//!
//! Neighbouring seconds of a load run are alike, so single seconds must not be resampled as if they were independent:
//! that would find differences in noise. The *circular block bootstrap* (Politis and Romano, 1992) draws whole
//! stretches instead. All runs of a comparison are cut at the same places, so that seconds with equal load stay
//! together, and a ramp does not count as noise.

use fastrand::Rng;

use super::{measurement::Measurement, running_sums::RunningSums};
use crate::timeline::MAX_INTERVALS;

/// The number of resamples. Reason: the standard error is then within 4 % of endless resampling.
const RESAMPLES: usize = 400;

/// A fixed seed, so that equal runs always give equal results.
const SEED: u64 = 0x706c_696d_736f_6c6c;

/// The variance of `effect` of the figures of the runs, by chance within the runs. `None` if the runs have fewer than
/// `least_intervals` in common, or most resamples have no figure.
pub(super) fn variance(
    runs: &[&Measurement],
    least_intervals: usize,
    effect: impl Fn(&[f64]) -> f64,
) -> Option<f64> {
    let n_intervals = runs.iter().filter_map(|run| run.parts.n_intervals()).min()?;
    // A manipulated file may claim to have more.
    let n_intervals = n_intervals.min(MAX_INTERVALS);
    if n_intervals < least_intervals.max(1) {
        return None;
    }
    let sums: Option<Vec<_>> = runs
        .iter()
        .map(|run| RunningSums::new(&run.parts, n_intervals))
        .collect();
    let (sums, length) = (sums?, block_length(n_intervals));
    let n_blocks = n_intervals.div_ceil(length);
    let mut rng = Rng::with_seed(SEED);
    let effects: Vec<f64> = (0..RESAMPLES)
        .map(|_| {
            let starts: Vec<_> = (0..n_blocks).map(|_| rng.usize(..n_intervals)).collect();
            let figures: Vec<_> = sums.iter().map(|sums| sums.figure(&starts, length)).collect();
            effect(&figures)
        })
        .filter(|effect| effect.is_finite())
        .collect();
    if effects.len() < RESAMPLES / 2 {
        return None;
    }
    // Blocks of one run differ less than those of many would; for blocks of one interval this is n/(n-1).
    let small_sample = n_intervals as f64 / (n_intervals - length).max(1) as f64;
    // More was drawn than there is.
    let drawn = (n_blocks * length) as f64 / n_intervals as f64;
    Some(sample_variance(&effects) * small_sample * drawn)
}

/// The length of a stretch in intervals: the square root of their number, the usual choice for batch means. For 20 s at
/// one value per second it is 5 s.
fn block_length(n_intervals: usize) -> usize {
    ((n_intervals as f64).sqrt().ceil() as usize).clamp(1, n_intervals)
}

/// The variance of at least two numbers. Zero for fewer.
pub(super) fn sample_variance(numbers: &[f64]) -> f64 {
    if numbers.len() < 2 {
        return 0.0;
    }
    let mean = numbers.iter().sum::<f64>() / numbers.len() as f64;
    let squares = numbers.iter().map(|number| (number - mean).powi(2)).sum::<f64>();
    squares / (numbers.len() - 1) as f64
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;
    use crate::comparison::measurement::Parts;

    fn run(values: &[f64]) -> Measurement {
        Measurement {
            value: 0.0,
            parts: Parts::Ratio(values.iter().map(|value| (*value, 1.0)).collect()),
        }
    }

    #[test]
    fn stretches_have_the_square_root_of_all_intervals() {
        for (n_intervals, expected) in [(1, 1), (2, 2), (8, 3), (9, 3), (10, 4), (20, 5), (512, 23)] {
            assert_eq!(block_length(n_intervals), expected, "{n_intervals}");
        }
    }

    #[test]
    fn the_variance_of_a_sample_has_one_degree_less() {
        for (numbers, expected) in [
            (&[][..], 0.0),
            (&[5.0], 0.0),
            (&[1.0, 3.0], 2.0),
            (&[1.0, 2.0, 3.0, 6.0], 14.0 / 3.0),
        ] {
            assert!((sample_variance(numbers) - expected).abs() < 1e-12, "{numbers:?}");
        }
    }

    /// What endless resampling would give: the variance of the means of all stretches, for as many as are drawn.
    fn expected_variance(values: &[f64]) -> f64 {
        let (n, length) = (values.len(), block_length(values.len()));
        let mean = values.iter().sum::<f64>() / n as f64;
        let stretch = |start: usize| {
            let sum: f64 = values.iter().cycle().skip(start).take(length).sum();
            (sum / length as f64 - mean).powi(2)
        };
        let of_one = (0..n).map(stretch).sum::<f64>() / n as f64;
        let n_drawn = n.div_ceil(length) as f64;
        let small_sample = n as f64 / (n - length) as f64;
        of_one / n_drawn * small_sample * (n_drawn * length as f64 / n as f64)
    }

    #[test]
    fn resampling_finds_the_variance_of_a_mean() {
        for values in [
            &[3.0, 1.0, 4.0, 1.0, 5.0, 9.0, 2.0, 6.0, 5.0, 3.0][..],
            &[1.0, 1.0, 2.0, 2.0, 3.0, 3.0, 9.0, 9.0],
            &[
                2.0, 7.0, 1.0, 8.0, 2.0, 8.0, 1.0, 8.0, 2.0, 8.0, 4.0, 5.0, 9.0, 0.0, 4.0,
            ],
        ] {
            let found = variance(&[&run(values)], 8, |figures| figures[0]).unwrap();
            let ratio = found / expected_variance(values);
            // The standard error of 400 resamples is 7 %.
            assert!((0.86..1.14).contains(&ratio), "{ratio} for {values:?}");
        }
    }

    /// A ramp in both runs does not make their ratio noisy.
    #[test]
    fn runs_are_cut_at_the_same_places() {
        let ramp: Vec<f64> = (1..=20).map(f64::from).collect();
        let double: Vec<f64> = ramp.iter().map(|value| value * 2.0).collect();
        let runs = [&run(&ramp), &run(&double)];
        let found = variance(&runs, 8, |figures| figures[1] / figures[0]).unwrap();
        assert!(found < 1e-20, "{found}");
    }

    #[test]
    fn too_few_intervals_tell_nothing() {
        let [short, long] = [7, 8].map(|n| run(&vec![1.0; n]));
        let of = |runs: &[&Measurement], least| variance(runs, least, |figures| figures[0]).is_some();
        assert!(!of(&[&long, &short], 8) && of(&[&long], 8));
        assert!(of(&[&run(&[1.0])], 0) && !of(&[&run(&[])], 0));
        let whole = Measurement {
            value: 1.0,
            parts: Parts::Whole,
        };
        assert!(!of(&[&whole], 0));
    }

    /// With samples in one of a hundred seconds, two of three resamples have some; with samples in different seconds,
    /// fewer than half have some of both runs.
    #[test]
    fn most_resamples_must_have_a_figure() {
        let sparse = |at: usize| {
            let mut pairs = vec![(0.0, 0.0); 100];
            pairs[at] = (1.0, 1.0);
            Measurement {
                value: 1.0,
                parts: Parts::Ratio(pairs),
            }
        };
        let of = |runs: &[&Measurement]| variance(runs, 8, |figures| figures.iter().sum());
        assert_eq!(of(&[&sparse(50)]), Some(0.0));
        assert_eq!(of(&[&sparse(20), &sparse(70)]), None);
    }

    #[test]
    fn half_of_the_resamples_are_enough() {
        for (n_figures, expected) in [(RESAMPLES / 2 - 1, None), (RESAMPLES / 2, Some(0.0))] {
            let n_taken = Cell::new(0);
            let effect = |_: &[f64]| match n_taken.replace(n_taken.get() + 1) {
                n if n < n_figures => 1.0,
                _ => f64::NAN,
            };
            assert_eq!(
                variance(&[&run(&[1.0; 8])], 8, effect),
                expected,
                "{n_figures} figures"
            );
        }
    }

    /// A manipulated file may have more intervals than a run can have. They cost nothing.
    #[test]
    fn intervals_beyond_the_most_are_ignored() {
        let mut values = vec![1.0; MAX_INTERVALS];
        values.extend([1e9; 100]);
        assert_eq!(variance(&[&run(&values)], 8, |figures| figures[0]), Some(0.0));
    }
}
