//! How far two sides differ in one figure, and how sure that is.
//!
//! Two runs of the same thing differ by more than their seconds do: another minute, other neighbours, other places in
//! memory. So what a difference is measured against has two parts: the scatter within the runs (`bootstrap`), and the
//! scatter between runs. One run per side cannot show the second, so experience stands in for it
//! ([`Experience`]); several runs per side do, and the more there are the less experience counts. This is Smyth's
//! moderated t statistic (2004), with an experience that is fixed instead of taken from thousands of genes.

use super::{
    bootstrap::{sample_variance, variance},
    judgement::LEAST_INTERVALS,
    measurement::Measurement,
    student,
};

/// How far the figures of two runs of the same thing are apart, as known from earlier runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Experience {
    /// Standard deviation between runs, on the scale of the effect, beside the scatter within them.
    pub(super) deviation: f64,
    /// As many degrees of freedom as this is worth.
    pub(super) degrees: f64,
}

/// The difference of two sides: candidate less baseline.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Estimate {
    pub(super) effect: f64,
    pub(super) standard_error: f64,
    /// Of Student's distribution.
    pub(super) degrees: f64,
}

impl Estimate {
    /// Half of the interval that holds the true difference with the given confidence (0 to 1) in both directions.
    pub(super) fn margin(&self, confidence: f64) -> f64 {
        student::quantile((1.0 - confidence) / 2.0, self.degrees) * self.standard_error
    }

    /// Compares the runs of two sides, each with at least one, on a scale: a logarithm for what is compared by its
    /// ratio. Chance within the runs is at least `least_variance`. `None` when a figure has no place on the scale, or the
    /// scatter within the runs cannot be known.
    pub(super) fn new(
        baseline: &[Measurement],
        candidate: &[Measurement],
        scale: impl Fn(f64) -> f64,
        experience: Experience,
        least_variance: f64,
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
        let within = match is_whole {
            true => 0.0,
            false => variance(&runs, LEAST_INTERVALS, of_figures)?,
        };
        let within = within.max(least_variance);
        let shares = 1.0 / before.len() as f64 + 1.0 / after.len() as f64;
        let expected = experience.deviation.powi(2) * shares + within;
        let seen_degrees = (before.len() + after.len() - 2) as f64;
        let seen = pooled_variance(&before, &after) * shares;
        let degrees = experience.degrees + seen_degrees;
        let moderated = (experience.degrees * expected + seen_degrees * seen) / degrees;
        Some(Self {
            effect,
            standard_error: moderated.sqrt(),
            degrees,
        })
    }
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
