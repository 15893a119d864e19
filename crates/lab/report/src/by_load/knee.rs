//! Where a target begins to slow down.
//!
//! The 95th percentile against the load is fitted by least squares twice: with a straight line, and with a line that bends
//! once, at one of the levels. The bend is a knee only if all of this is true:
//!
//! * the bent line leaves at most a twentieth of the squared differences that the straight line leaves,
//! * after the bend it rises, and at least three times as fast as before,
//! * all percentiles after the bend are above all percentiles up to it, the last one by half at least,
//! * three levels or more are at or before the bend, and two or more after it, each with at least 50 samples,
//! * up to the bend, the highest percentile is at most twice the lowest.
//!
//! A target that slows down by a factor for each further load is on no such line, but the logarithms of its percentiles
//! are. So these are tried first: the bent line may leave a tenth then, and the last condition is not needed, because a
//! percentile that grows in proportion to the load, or by a factor from the start, does not bend upwards in logarithms.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::level::Level;

/// The load beyond which the 95th percentile rises clearly faster.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Knee {
    /// The load on average of the last level before the rise.
    pub load: f64,
    /// The 95th percentile at that level, in microseconds.
    pub p95: u64,
    /// The 95th percentile at the highest load, in microseconds.
    pub last_p95: u64,
}

/// The fewest samples of a level. Reason: with fewer, its 95th percentile is one of the two slowest samples.
const LEAST_SAMPLES: u64 = 50;

/// The fewest levels up to a bend, and after it.
const BEFORE: usize = 3;
const AFTER: usize = 2;

/// The greatest ratio of the squared differences from the bent line to those from the straight line, in logarithms.
const BEST_FIT_OF_LOGARITHMS: f64 = 1.0 / 10.0;

/// The same of the percentiles themselves, whose noise grows with them.
const BEST_FIT: f64 = 1.0 / 20.0;

/// The greatest ratio of the percentiles up to a bend.
const LEVEL: f64 = 2.0;

/// The least ratio of the slopes after and before the bend.
const STEEPER: f64 = 3.0;

/// The least ratio of the last percentile to the highest one up to the bend.
const LEAST_RISE: f64 = 1.5;

/// The knee of levels at rising loads.
pub(super) fn find(curve: &[Level]) -> Option<Knee> {
    let points: Vec<(f64, u64)> = curve
        .iter()
        .filter_map(|level| {
            Some((
                level.mean,
                level.latency.filter(|it| it.count >= LEAST_SAMPLES)?.p95,
            ))
        })
        .collect();
    if points.len() < BEFORE + AFTER {
        return None;
    }
    let logarithm = |p95: u64| (p95.max(1) as f64).ln();
    let at = bend(&points, logarithm, BEST_FIT_OF_LOGARITHMS).or_else(|| {
        let at = bend(&points, |p95| p95 as f64, BEST_FIT)?;
        let before = || points[..=at].iter().map(|point| point.1 as f64);
        let (least, most) = (
            before().fold(f64::INFINITY, f64::min),
            before().fold(0.0, f64::max),
        );
        (most <= LEVEL * least).then_some(at)
    })?;
    let (load, p95) = points[at];
    let last_p95 = points.last()?.1;
    Some(Knee { load, p95, last_p95 })
}

/// The position of the last point before a clear rise of `scale` of the percentiles.
fn bend(points: &[(f64, u64)], scale: impl Fn(u64) -> f64, best_fit: f64) -> Option<usize> {
    let scaled: Vec<(f64, f64)> = points.iter().map(|&(load, p95)| (load, scale(p95))).collect();
    let straight = Fit::bent(&scaled, None)?;
    let bends = BEFORE - 1..points.len() - AFTER;
    let bent = bends.filter_map(|at| Some((at, Fit::bent(&scaled, Some(scaled[at].0))?)));
    let (at, best) = bent.min_by(|(_, one), (_, other)| one.rest.total_cmp(&other.rest))?;
    let highest_before = points[..=at].iter().map(|point| point.1).max()?;
    let lowest_after = points[at + 1..].iter().map(|point| point.1).min()?;
    let last = points.last()?.1;
    let after = best.slope + best.bend;
    let is_clear = best.rest <= best_fit * straight.rest
        && after > 0.0
        && after >= STEEPER * best.slope
        && lowest_after > highest_before
        && last as f64 >= LEAST_RISE * highest_before as f64;
    is_clear.then_some(at)
}

/// A line that may bend once.
struct Fit {
    /// Its slope before the bend.
    slope: f64,
    /// What the bend adds to the slope.
    bend: f64,
    /// The sum of the squared differences.
    rest: f64,
}

impl Fit {
    /// The least squares of `intercept + slope·x + bend·max(0, x − at)`; without `at` there is no bend. `None` if the
    /// points do not decide it.
    fn bent(points: &[(f64, f64)], at: Option<f64>) -> Option<Self> {
        let n = points.len() as f64;
        let beyond = |x: f64| at.map_or(0.0, |at| (x - at).max(0.0));
        let mean = |of: &dyn Fn(f64, f64) -> f64| points.iter().map(|&(x, y)| of(x, y)).sum::<f64>() / n;
        let (mean_x, mean_y, mean_b) = (mean(&|x, _| x), mean(&|_, y| y), mean(&|x, _| beyond(x)));
        // Around the means, the intercept needs no equation.
        let product = |of: &dyn Fn(f64, f64, f64) -> f64| {
            let terms = points
                .iter()
                .map(|&(x, y)| of(x - mean_x, beyond(x) - mean_b, y - mean_y));
            terms.sum::<f64>()
        };
        let (xx, xb, bb) = (
            product(&|x, _, _| x * x),
            product(&|x, b, _| x * b),
            product(&|_, b, _| b * b),
        );
        let (xy, by) = (product(&|x, _, y| x * y), product(&|_, b, y| b * y));
        let (slope, bend) = match at {
            None => ((xx > 0.0).then(|| xy / xx)?, 0.0),
            Some(_) => {
                let determinant = xx * bb - xb * xb;
                if determinant <= f64::EPSILON * xx * bb {
                    return None;
                }
                (
                    (xy * bb - by * xb) / determinant,
                    (by * xx - xy * xb) / determinant,
                )
            }
        };
        let rest = product(&|x, b, y| (y - slope * x - bend * b).powi(2));
        Some(Self { slope, bend, rest })
    }
}

#[cfg(test)]
mod tests;
