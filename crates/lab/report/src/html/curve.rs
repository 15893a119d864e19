//! Percentiles of a distribution up to the rarest samples, as points of a curve.

use plimsoll_load::histogram::Histogram;
use serde::Serialize;

use crate::percentile;

/// A percentile (0 to 100), and the value that this share of samples does not exceed: microseconds, or thousandths.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(super) struct Point(f64, u64);

/// Nines of the last percentile: 99.99.
const MOST_NINES: f64 = 4.0;

/// Points per nine of the percentile axis. Reason: a curve of 600 pixels has one every four of them.
const POINTS_PER_NINE: f64 = 40.0;

/// Points at equal distances on an axis that is stretched towards the slowest samples (90 %, 99 %, 99.9 %). The curve
/// ends at 99.99, or, with too few samples, with the longest one at the share of all others.
pub(super) fn points(histogram: &Histogram) -> Vec<Point> {
    if histogram.is_empty() {
        return Vec::new();
    }
    let nines = (histogram.count() as f64).log10().min(MOST_NINES);
    let n_points = (nines * POINTS_PER_NINE).ceil() as u32;
    (0..=n_points)
        .map(|at| {
            let share = 1.0 - 10_f64.powf(-nines * f64::from(at) / f64::from(n_points.max(1)));
            let value = if at == n_points && nines < MOST_NINES {
                histogram.max()
            } else {
                percentile(histogram, share * 100.0)
            }
            .as_micros();
            // Six decimals are enough for 99.99, and short.
            let percentile = (share * 1e8).round() / 1e6;
            Point(percentile, u64::try_from(value).unwrap_or(u64::MAX))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_curve_goes_as_far_as_there_are_samples() {
        let mut histogram = Histogram::new();
        assert_eq!(points(&histogram), []);
        histogram.record(Duration::from_micros(500));
        assert_eq!(points(&histogram), [Point(0.0, 500)]);
        for us in 1..=999 {
            histogram.record(Duration::from_micros(us));
        }
        let found = points(&histogram);
        assert_eq!(found.len(), 121);
        assert_eq!(
            [found[0], found[40], found[120]],
            [Point(0.0, 1), Point(90.0, 899), Point(99.9, 999)]
        );
        histogram.record_n(Duration::from_micros(7), 10_000_000);
        let found = points(&histogram);
        assert_eq!((found.len(), found[160].0), (161, 99.99));
        assert!(found.is_sorted_by_key(|point| point.1));
    }
}
