//! The percentiles and the bars of a report.

use std::time::Duration;

use plimsoll_load::histogram::Histogram;
use plimsoll_report::percentile;

/// ab's percentiles; 100 is the longest request.
pub(super) const OF_AB: [u8; 9] = [50, 66, 75, 80, 90, 95, 98, 99, 100];

/// Ours, which go to where few requests are.
pub(super) const FINE: [f64; 9] = [50.0, 75.0, 90.0, 95.0, 99.0, 99.5, 99.9, 99.95, 99.99];

/// The time in milliseconds that this percentage of the requests did not exceed.
pub(super) fn at_ms(histogram: &Histogram, percent: f64) -> f64 {
    percentile(histogram, percent).as_secs_f64() * 1e3
}

/// Requests that took `from` or longer, and shorter than `to`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Bar {
    pub(super) from: Duration,
    pub(super) to: Duration,
    pub(super) n: u64,
}

/// Steps of a decade. Reason: each is about twice the one before, as in the bars of other tools.
const STEPS: [u64; 3] = [1, 2, 5];

/// All requests in bars from the shortest to the longest time, with limits at 1, 2 and 5 of each decade of
/// microseconds.
pub(super) fn bars(histogram: &Histogram) -> Vec<Bar> {
    let decades = (0..u64::MAX.ilog10()).map(|exponent| 10_u64.pow(exponent));
    let limits: Vec<_> = decades
        .flat_map(|decade| STEPS.map(|step| Duration::from_micros(decade.saturating_mul(step))))
        .collect();
    let mut bars = vec![bar(histogram, Duration::ZERO, limits[0])];
    bars.extend(limits.windows(2).map(|two| bar(histogram, two[0], two[1])));
    let first = bars.iter().position(|bar| bar.n > 0).unwrap_or(bars.len());
    let end = bars
        .iter()
        .rposition(|bar| bar.n > 0)
        .map_or(first, |last| last + 1);
    bars.drain(first..end).collect()
}

fn bar(histogram: &Histogram, from: Duration, to: Duration) -> Bar {
    let n = histogram.n_at_or_above(from) - histogram.n_at_or_above(to).min(histogram.n_at_or_above(from));
    Bar { from, to, n }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_request_is_in_one_bar() {
        let mut histogram = Histogram::new();
        for (us, n) in [(0, 1), (1, 2), (150, 3), (199, 4), (200, 5), (4_000_000, 6)] {
            histogram.record_n(Duration::from_micros(us), n);
        }
        let bars = bars(&histogram);
        let found: Vec<_> = bars
            .iter()
            .filter(|bar| bar.n > 0)
            .map(|bar| (bar.from.as_micros(), bar.to.as_micros(), bar.n))
            .collect();
        assert_eq!(
            found,
            [
                (0, 1, 1),
                (1, 2, 2),
                (100, 200, 7),
                (200, 500, 5),
                (2_000_000, 5_000_000, 6)
            ]
        );
        assert_eq!(bars.iter().map(|bar| bar.n).sum::<u64>(), histogram.count());
        assert!(super::bars(&Histogram::new()).is_empty());
    }
}
