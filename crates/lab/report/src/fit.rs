//! The CPU time per user and per iteration: a straight line through the values of the intervals.
//!
//! The line is fitted by least squares, with the standard error of its slope, and is given only if it is meaningful:
//! with enough points, at several loads that are far enough apart. It has a limit: points of one run follow each
//! other, so the true uncertainty is larger than the standard error if the target drifts. Memory per user has none of
//! these lines: it comes from plateaus (`by_load/memory.rs`).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The fewest points of a line. Reason: a line through a few points always fits well.
const LEAST_POINTS: usize = 5;

/// The fewest different loads of a line. Reason: two loads always have a line, however the target behaves in between.
const LEAST_LOADS: usize = 3;

/// The loads must differ by this share of the highest. Reason: the slope of a cloud is noise.
const LEAST_SPREAD: f64 = 0.1;

/// A fitted line: `of` = `intercept` + `slope` × `against`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Fit {
    /// What depends on the load: the name of a series, such as `rss_bytes`.
    pub of: String,
    /// The load: `vus` or `iterations_per_second`.
    pub against: String,
    /// The value without load.
    pub intercept: f64,
    /// The growth per unit of load.
    pub slope: f64,
    /// Standard error of the slope.
    pub slope_error: f64,
    /// The number of fitted intervals.
    pub n: usize,
}

/// Why there is no line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NoFit {
    /// What would depend on the load.
    pub of: String,
    /// The load.
    pub against: String,
    /// The reason, as the rest of a sentence.
    pub reason: String,
}

/// A series by load, interval by interval.
#[derive(Clone, Copy, Debug)]
pub struct Course<'a> {
    /// The dependent values; `None` where they were not measured.
    pub values: &'a [Option<f64>],
    /// The load of the same intervals.
    pub loads: &'a [f64],
    /// The value before there was any load.
    pub base: Option<f64>,
}

impl Course<'_> {
    /// Pairs of load and value, of intervals in which the load was at its highest so far: where it rose, or stayed
    /// there.
    pub fn rising(&self) -> Vec<(f64, f64)> {
        let mut highest = 0.0;
        let at_its_highest = self.all_intervals().filter(|&(load, _)| {
            let is_highest = load >= highest;
            highest = f64::max(highest, load);
            is_highest
        });
        let points = at_its_highest.filter_map(|(load, value)| Some((load, value?)));
        self.base
            .map(|base| (0.0, base))
            .into_iter()
            .chain(points)
            .collect()
    }

    /// Pairs of load and value, of all intervals.
    pub fn all(&self) -> Vec<(f64, f64)> {
        self.all_intervals()
            .filter_map(|(load, value)| Some((load, value?)))
            .collect()
    }

    fn all_intervals(&self) -> impl Iterator<Item = (f64, Option<f64>)> {
        self.loads.iter().copied().zip(self.values.iter().copied())
    }
}

/// The line through these pairs of load and value.
///
/// # Errors
/// The reason why there is none.
pub fn fit(of: &str, against: &str, points: &[(f64, f64)]) -> Result<Fit, NoFit> {
    let no_fit = |reason: String| NoFit {
        of: of.to_owned(),
        against: against.to_owned(),
        reason,
    };
    check_spread(points).map_err(no_fit)?;
    Ok(least_squares(of, against, points))
}

/// The line through these pairs of load and value, of which at least three have different loads.
pub(crate) fn least_squares(of: &str, against: &str, points: &[(f64, f64)]) -> Fit {
    let n = points.len() as f64;
    let mean = |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / n;
    let (mean_load, mean_value) = (mean(|point| point.0), mean(|point| point.1));
    // Around the means, so that memory in bytes does not lose the digits that matter.
    let deviations = || {
        points
            .iter()
            .map(|&(load, value)| (load - mean_load, value - mean_value))
    };
    let squares: f64 = deviations().map(|(load, _)| load * load).sum();
    let products: f64 = deviations().map(|(load, value)| load * value).sum();
    let slope = products / squares;
    let residuals: f64 = deviations()
        .map(|(load, value)| (value - slope * load).powi(2))
        .sum();
    Fit {
        of: of.to_owned(),
        against: against.to_owned(),
        intercept: mean_value - slope * mean_load,
        slope,
        slope_error: (residuals / (n - 2.0) / squares).sqrt(),
        n: points.len(),
    }
}

fn check_spread(points: &[(f64, f64)]) -> Result<(), String> {
    if points.len() < LEAST_POINTS {
        return Err(format!(
            "too few intervals ({}); at least {LEAST_POINTS} with rising or steady load are needed",
            points.len()
        ));
    }
    let mut loads: Vec<f64> = points.iter().map(|point| point.0).collect();
    loads.sort_by(f64::total_cmp);
    loads.dedup();
    let (lowest, highest) = (loads[0], loads[loads.len() - 1]);
    if loads.len() < LEAST_LOADS || highest - lowest < LEAST_SPREAD * highest {
        return Err("the load hardly changed; raise it in steps or as a ramp".to_owned());
    }
    Ok(())
}

#[cfg(test)]
mod tests;
