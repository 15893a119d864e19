//! Histograms of durations.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use crate::HistogramValue;

const N_BOUNDS: usize = 16;

/// Upper bounds of the buckets in seconds. The last bucket has no bound. All histograms share them, because all measure
/// similar durations: from a hop over loopback (100 µs) to the end of a person's patience (10 s), with three bounds per
/// decade, so that a quantile read from them is wrong by a factor of 2.5 at most. The values are round because people
/// read them.
pub const BUCKET_BOUNDS: [f64; N_BOUNDS] = [
    0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0,
];

/// [`BUCKET_BOUNDS`] in microseconds, for comparisons without floating point.
const BOUNDS_MICROS: [u64; N_BOUNDS] = [
    100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000, 1_000_000,
    2_500_000, 5_000_000, 10_000_000,
];

/// One cell of a histogram of durations. A reader adds the cells with the same labels. An observation is two
/// uncontended additions and allocates nothing. A clone is the same cell.
#[derive(Debug, Clone, Default)]
pub struct Histogram(Arc<Cell>);

#[derive(Debug, Default)]
#[repr(align(64))]
struct Cell {
    /// One bucket per bound, and one beyond the last bound.
    buckets: [AtomicU64; N_BOUNDS + 1],
    sum_nanos: AtomicU64,
}

impl Histogram {
    /// Counts one duration. A bucket includes its upper bound.
    pub fn observe(&self, duration: Duration) {
        let nanos = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
        let bucket = BOUNDS_MICROS.partition_point(|bound| bound * 1_000 < nanos);
        self.0.buckets[bucket].fetch_add(1, Ordering::Relaxed);
        self.0.sum_nanos.fetch_add(nanos, Ordering::Relaxed);
    }

    /// The observations of this cell.
    pub(crate) fn value(&self) -> HistogramValue {
        HistogramValue {
            counts: self.0.buckets.iter().map(|n| n.load(Ordering::Relaxed)).collect(),
            sum: Duration::from_nanos(self.0.sum_nanos.load(Ordering::Relaxed)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_lists_of_bounds_are_the_same() {
        for (seconds, micros) in BUCKET_BOUNDS.into_iter().zip(BOUNDS_MICROS) {
            assert!(
                (seconds * 1e6 - micros as f64).abs() < 1e-6,
                "{seconds} s, {micros} µs"
            );
        }
    }

    #[test]
    fn a_bucket_includes_its_upper_bound() {
        for (micros, expected) in [
            (0, 0),
            (100, 0),
            (101, 1),
            (1_000, 3),
            (10_000_000, 15),
            (10_000_001, 16),
            (u64::MAX, 16),
        ] {
            let histogram = Histogram::default();
            histogram.observe(Duration::from_micros(micros));
            let counts = histogram.value().counts;
            assert_eq!(counts.iter().position(|&n| n == 1), Some(expected), "{micros} µs");
        }
    }
}
