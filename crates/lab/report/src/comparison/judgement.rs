//! From estimates to verdicts, so that a comparison of equal runs rarely ends red, and never claims to know what the runs
//! do not show.

use serde::Serialize;

use super::{
    advice::{self, Series},
    estimate::{Estimate, Order},
    figure::{Better, Company, Figure, Nature},
    measurement::{Measurement, Parts},
    terms::Terms,
    verdict::Verdict,
};

/// The difference of two sides in one figure.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Difference {
    /// Which figure.
    #[serde(flatten)]
    pub figure: Figure,
    /// Whether the two sides are equal only if this figure is.
    pub decisive: bool,
    /// The baseline's value; for several runs the geometric mean, for shares the mean.
    pub baseline: f64,
    /// The candidate's value, computed like the baseline's.
    pub candidate: f64,
    /// The relative change: 0.3 for 30 % more. For shares and exact counts the difference. `None` if there is no ratio.
    pub change: Option<f64>,
    /// An interval for the true change. All intervals of a comparison together hold with [`CONFIDENCE`]. `None` for
    /// exact counts, and if the runs say too little.
    pub interval: Option<[f64; 2]>,
    /// The meaning of the difference.
    pub verdict: Verdict,
    /// The reason of the verdict, if the figures do not show it.
    pub reason: Option<String>,
    /// The runs that would decide an inconclusive figure. `None` if the figure is decided, or if no reasonable number of
    /// runs would do.
    pub suffices: Option<Series>,
}

/// The confidence of all intervals of a comparison together. So one of twenty comparisons of equal runs finds a
/// difference in any figure.
pub const CONFIDENCE: f64 = 0.95;

/// The reason of a range that is too wide for numbers.
pub(super) const ABSURD: &str = "the noise leaves a range too wide for numbers";

/// The least length of runs in seconds that shows how much their intervals scatter.
const LEAST_SECONDS: u64 = 15;

/// Fewer do not show how much they scatter. Reason: two stretches of three and a rest.
pub(super) const LEAST_INTERVALS: usize = 8;

/// The runs of both sides in one figure.
pub(super) struct Case {
    pub(super) figure: Figure,
    pub(super) baseline: Vec<Measurement>,
    pub(super) candidate: Vec<Measurement>,
    /// The part of each side's figure that may be the generator's own delay, from 0 for none to 1 for all of it.
    pub(super) late: [f64; 2],
}

/// What is known about the runs as a whole.
#[derive(Clone, Copy, Debug)]
pub(super) struct Circumstances {
    pub(super) company: Company,
    pub(super) order: Order,
    /// The number of runs of the smaller side, and their mean length.
    pub(super) given: Series,
}

/// Judges figures that are tested together.
pub(super) fn judge(cases: Vec<Case>, terms: Terms, circumstances: Circumstances) -> Vec<Difference> {
    let estimates: Vec<_> = cases
        .into_iter()
        .map(|case| (case.estimate(circumstances), case))
        .collect();
    let weight = |case: &Case| case.figure.nature.weight();
    let weights: f64 = estimates
        .iter()
        .filter(|(estimate, _)| estimate.is_some())
        .map(|(_, case)| weight(case))
        .sum();
    // Bonferroni's correction with weights: valid for any dependence between figures, and most are dependent.
    let confidence = |case: &Case| 1.0 - (1.0 - CONFIDENCE) * weight(case) / weights.max(weight(case));
    estimates
        .into_iter()
        .map(|(estimate, case)| {
            let confidence = confidence(&case);
            case.difference(estimate, confidence, terms, circumstances.given)
        })
        .collect()
}

impl Case {
    fn estimate(&self, circumstances: Circumstances) -> Option<Estimate> {
        let nature = self.figure.nature;
        let pooled = (mean(&self.baseline, |value| value) + mean(&self.candidate, |value| value)) / 2.0;
        let least_variance = match nature {
            Nature::Share => binomial_variance(&self.baseline) + binomial_variance(&self.candidate),
            _ => 0.0,
        };
        Estimate::new(
            &self.baseline,
            &self.candidate,
            |value| nature.on_scale(value),
            nature.experience(pooled, circumstances.company),
            least_variance,
            circumstances.order,
        )
    }

    fn difference(
        self,
        estimate: Option<Estimate>,
        confidence: f64,
        terms: Terms,
        given: Series,
    ) -> Difference {
        let nature = self.figure.nature;
        let figure = |side: &[Measurement]| nature.off_scale(mean(side, |value| nature.on_scale(value)));
        let (baseline, candidate) = (figure(&self.baseline), figure(&self.candidate));
        let change = nature.change(nature.on_scale(candidate) - nature.on_scale(baseline));
        let found = match &estimate {
            None => self.too_little(given),
            Some(estimate) => self.found(estimate, confidence, terms, given),
        };
        // Where nothing failed, the number of requests alone decides how much may be known about failures.
        let is_spotless = nature == Nature::Share && baseline == 0.0 && candidate == 0.0;
        Difference {
            decisive: nature.is_decisive() && !is_spotless,
            figure: self.figure,
            baseline,
            candidate,
            change: change.is_finite().then_some(change),
            interval: found.interval.map(|ends| ends.map(|end| nature.change(end))),
            verdict: found.verdict,
            reason: found.reason,
            suffices: found.suffices,
        }
    }

    fn found(&self, estimate: &Estimate, confidence: f64, terms: Terms, given: Series) -> Found {
        let nature = self.figure.nature;
        let margin = estimate.margin(confidence);
        let [late_before, late_after] = self.late.map(wider_by);
        let ends = [
            estimate.effect - margin - late_after,
            estimate.effect + margin + late_before,
        ];
        let verdict = verdict(&self.figure, estimate.effect, ends, terms);
        if verdict != Verdict::Inconclusive {
            return Found {
                interval: Some(ends),
                verdict,
                reason: None,
                suffices: None,
            };
        }
        let distance = advice::distance(
            estimate.effect,
            nature.threshold(terms.tolerance()),
            nature.equal(terms.margin()),
        );
        let distance = distance - late_before.max(late_after);
        let is_absurd = nature.is_absurd(ends[1] - ends[0]);
        Found {
            interval: (!is_absurd).then_some(ends),
            verdict,
            reason: is_absurd.then(|| ABSURD.to_owned()),
            suffices: advice::sufficient(estimate, distance, confidence, given),
        }
    }

    fn too_little(&self, given: Series) -> Found {
        let runs = self.baseline.iter().chain(&self.candidate);
        let n_intervals = runs.filter_map(|run| run.parts.n_intervals()).min().unwrap_or(0);
        let (reason, suffices) = if n_intervals < LEAST_INTERVALS {
            let reason = format!(
                "a run has {n_intervals} intervals, but the scatter is only known from {LEAST_INTERVALS} on; run \
                 longer"
            );
            let seconds = LEAST_SECONDS.max(given.seconds);
            (reason, Some(Series { seconds, ..given }))
        } else {
            ("a run has no samples for most of its time".to_owned(), None)
        };
        Found {
            interval: None,
            verdict: Verdict::Inconclusive,
            reason: Some(reason),
            suffices,
        }
    }
}

/// The part of a difference that its estimate decides. The interval is on the scale of the effect.
struct Found {
    interval: Option<[f64; 2]>,
    verdict: Verdict,
    reason: Option<String>,
    suffices: Option<Series>,
}

/// How far a side's true figure may lie below the measured one, on the scale of ratios. Infinite if all of it may be
/// delay.
fn wider_by(late: f64) -> f64 {
    -(1.0 - late.clamp(0.0, 1.0)).ln()
}

/// The verdict of an effect, with the interval for the true one.
fn verdict(figure: &Figure, effect: f64, [low, high]: [f64; 2], terms: Terms) -> Verdict {
    let (is_more, is_less) = (low > 0.0, high < 0.0);
    let counts = effect.abs() > figure.nature.threshold(terms.tolerance());
    let equal = figure.nature.equal(terms.margin());
    match (is_more, is_less, figure.better) {
        (true, _, Better::Lower) | (_, true, Better::Higher) if counts => Verdict::Worse,
        (true, _, Better::Higher) | (_, true, Better::Lower) if counts => Verdict::Better,
        _ if -equal <= low && high <= equal => Verdict::Equal,
        _ => Verdict::Inconclusive,
    }
}

/// The variance of a share by chance alone, with all runs of a side combined. One more of both kinds is counted, so
/// that zero failures of a hundred do not count as certainty.
fn binomial_variance(side: &[Measurement]) -> f64 {
    let (n_failed, n_total) = side.iter().fold((0.0, 0.0), |sum, run| match &run.parts {
        Parts::Ratio(pairs) => pairs
            .iter()
            .fold(sum, |sum, pair| (sum.0 + pair.0, sum.1 + pair.1)),
        Parts::Quantile { .. } | Parts::Whole => sum,
    });
    let share = (n_failed + 1.0) / (n_total + 2.0);
    share * (1.0 - share) / (n_total + 2.0)
}

fn mean(side: &[Measurement], scale: impl Fn(f64) -> f64) -> f64 {
    side.iter().map(|run| scale(run.value)).sum::<f64>() / side.len() as f64
}

#[cfg(test)]
mod tests;
