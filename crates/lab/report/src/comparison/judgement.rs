//! From estimates to verdicts, so that a comparison of equal runs rarely ends red.

use serde::Serialize;

use super::{
    estimate::Estimate,
    figure::{Better, Company, Figure, Nature},
    measurement::{Measurement, Parts},
};

/// What a difference means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The difference is within the range of two equal runs, or too small to matter.
    NoSignificantDifference,
    /// Better, and not by chance.
    Improved,
    /// Worse, and not by chance.
    Regressed,
    /// The runs are not conclusive.
    CannotTell,
}

impl Verdict {
    /// As people read it.
    pub fn words(self) -> &'static str {
        match self {
            Self::NoSignificantDifference => "no significant difference",
            Self::Improved => "improved",
            Self::Regressed => "regressed",
            Self::CannotTell => "cannot tell",
        }
    }
}

/// The difference of two sides in one figure.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Difference {
    /// Which figure.
    #[serde(flatten)]
    pub figure: Figure,
    /// The baseline's value; for several runs the geometric mean, for shares the mean.
    pub baseline: f64,
    /// The candidate's value, computed like the baseline's.
    pub candidate: f64,
    /// The relative change: 0.3 for 30 % more. For shares and exact counts the difference. `None` if there is no ratio.
    pub change: Option<f64>,
    /// An interval for the true change. All intervals of a comparison together hold with [`CONFIDENCE`]. `None` for
    /// exact counts, and if the runs are not conclusive.
    pub interval: Option<[f64; 2]>,
    /// What that means.
    pub verdict: Verdict,
    /// The reason of the verdict, if the figures do not show it.
    pub reason: Option<String>,
}

/// The confidence of all intervals of a comparison together. So one of twenty comparisons of equal runs finds a
/// difference in any figure.
pub const CONFIDENCE: f64 = 0.95;

/// Fewer do not show how much they scatter. Reason: two stretches of three and a rest.
pub(super) const LEAST_INTERVALS: usize = 8;

/// The runs of both sides in one figure.
pub(super) struct Case {
    pub(super) figure: Figure,
    pub(super) baseline: Vec<Measurement>,
    pub(super) candidate: Vec<Measurement>,
}

/// Judges figures that are tested together. `tolerance` is the least relative change that matters.
pub(super) fn judge(cases: Vec<Case>, tolerance: f64, company: Company) -> Vec<Difference> {
    let estimates: Vec<_> = cases
        .into_iter()
        .map(|case| (case.estimate(company), case))
        .collect();
    let n_tests = estimates
        .iter()
        .filter(|(estimate, _)| estimate.is_some())
        .count();
    // Bonferroni's correction: valid for any dependence between figures, and most are dependent.
    let confidence = 1.0 - (1.0 - CONFIDENCE) / n_tests.max(1) as f64;
    estimates
        .into_iter()
        .map(|(estimate, case)| case.difference(estimate, confidence, tolerance))
        .collect()
}

impl Case {
    fn estimate(&self, company: Company) -> Option<Estimate> {
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
            nature.experience(pooled, company),
            least_variance,
        )
    }

    fn difference(self, estimate: Option<Estimate>, confidence: f64, tolerance: f64) -> Difference {
        let nature = self.figure.nature;
        let figure = |side: &[Measurement]| nature.off_scale(mean(side, |value| nature.on_scale(value)));
        let (baseline, candidate) = (figure(&self.baseline), figure(&self.candidate));
        let (interval, verdict, reason) = match estimate {
            None => (None, Verdict::CannotTell, Some(self.too_little())),
            Some(estimate) => {
                let margin = estimate.margin(confidence);
                let ends = [estimate.effect - margin, estimate.effect + margin];
                let verdict = verdict(&self.figure, estimate.effect, margin, tolerance);
                let reason = (verdict == Verdict::CannotTell).then(|| {
                    "even a doubling could be chance; compare several runs, or use a machine that runs nothing \
                     else".to_owned()
                });
                (Some(ends.map(|end| nature.change(end))), verdict, reason)
            }
        };
        let change = nature.change(nature.on_scale(candidate) - nature.on_scale(baseline));
        Difference {
            figure: self.figure,
            baseline,
            candidate,
            change: change.is_finite().then_some(change),
            interval,
            verdict,
            reason,
        }
    }

    fn too_little(&self) -> String {
        let runs = self.baseline.iter().chain(&self.candidate);
        let n_intervals = runs.filter_map(|run| run.parts.n_intervals()).min().unwrap_or(0);
        if n_intervals < LEAST_INTERVALS {
            format!(
                "a run has {n_intervals} intervals, but the scatter is only known from {LEAST_INTERVALS} on; run \
                 longer"
            )
        } else {
            "a run has no samples for most of its time".to_owned()
        }
    }
}

fn verdict(figure: &Figure, effect: f64, margin: f64, tolerance: f64) -> Verdict {
    let worse = match figure.better {
        Better::Lower => effect,
        Better::Higher => -effect,
    };
    let least = figure.nature.threshold(tolerance);
    if worse > least && worse > margin {
        Verdict::Regressed
    } else if -worse > least && -worse > margin {
        Verdict::Improved
    } else if margin > figure.nature.hopeless_margin() {
        Verdict::CannotTell
    } else {
        Verdict::NoSignificantDifference
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
