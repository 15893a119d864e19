//! Histograms of durations.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use crate::{
    HistogramValue,
    buckets::{BOUNDS_MICROS, N_BOUNDS},
};

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
