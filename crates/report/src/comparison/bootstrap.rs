//! How much a figure scatters within a run, from resampled stretches of its intervals.
//!
//! Neighbouring seconds of a load run are alike, so single ones must not be resampled as if they were independent: that
//! would find differences in noise. The *circular block bootstrap* (Politis and Romano, 1992) draws whole stretches
//! instead. All runs of a comparison are cut at the same places: seconds with the same load stay together, so that a ramp
//! is no scatter.

use fastrand::Rng;

use super::{measurement::Measurement, running_sums::RunningSums};
use crate::timeline::MAX_INTERVALS;

/// How often a figure is made again. Reason: the standard error is then within 4 % of what endless resampling gives.
const RESAMPLES: usize = 400;

/// The same runs always compare the same.
const SEED: u64 = 0x706c_696d_736f_6c6c;

/// The variance of what `effect` makes of the figures of the runs, by chance within the runs. `None` when fewer than
/// `least_intervals` are common to all runs, or most resamples have no figure.
pub(super) fn variance(
    runs: &[&Measurement],
    least_intervals: usize,
    effect: impl Fn(&[f64]) -> f64,
) -> Option<f64> {
    let n_intervals = runs.iter().filter_map(|run| run.parts.n_intervals()).min()?;
    // A file that was made up may say that it has more.
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
    // Blocks of one run are not as different as those of many would be; this is n/(n-1) for blocks of one.
    let small_sample = n_intervals as f64 / (n_intervals - length).max(1) as f64;
    // More was drawn than there is.
    let drawn = (n_blocks * length) as f64 / n_intervals as f64;
    Some(sample_variance(&effects) * small_sample * drawn)
}

/// Intervals of a stretch: the square root of their number, which is what batch means usually take. For 20 s at one
/// value per second these are 5 s.
fn block_length(n_intervals: usize) -> usize {
    ((n_intervals as f64).sqrt().ceil() as usize).clamp(1, n_intervals)
}

/// Of at least two numbers; zero for fewer.
pub(super) fn sample_variance(numbers: &[f64]) -> f64 {
    if numbers.len() < 2 {
        return 0.0;
    }
    let mean = numbers.iter().sum::<f64>() / numbers.len() as f64;
    let squares = numbers.iter().map(|number| (number - mean).powi(2)).sum::<f64>();
    squares / (numbers.len() - 1) as f64
}
