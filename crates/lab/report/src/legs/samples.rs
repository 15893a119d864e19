//! The samples of a trend in one leg.

use std::time::Duration;

use plimsoll_load::histogram::Histogram;

use crate::packed::Packed;

/// A histogram in little memory: its filled buckets, and the exact sum, minimum and maximum.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Samples {
    /// By microseconds. A duration beyond 71 minutes counts as that long; histograms end at 60.
    buckets: Packed,
    n: u64,
    sum: Duration,
    min: Duration,
    max: Duration,
}

impl Samples {
    pub(super) fn of(histogram: &Histogram) -> Self {
        let short = |(us, n)| (u32::try_from(us).unwrap_or(u32::MAX), n);
        Self {
            buckets: Packed::of(histogram.recorded().map(short)),
            n: histogram.count(),
            sum: histogram.sum(),
            min: histogram.min(),
            max: histogram.max(),
        }
    }

    pub(super) fn merged(&self, other: &Self) -> Self {
        Self {
            buckets: self.buckets.merged(&other.buckets),
            n: self.n.saturating_add(other.n),
            sum: self.sum.saturating_add(other.sum),
            min: self.min.min(other.min),
            max: self.max.max(other.max),
        }
    }

    pub(super) fn n(&self) -> u64 {
        self.n
    }

    pub(super) fn n_bytes(&self) -> usize {
        self.buckets.n_bytes()
    }

    /// A histogram with the percentiles of the one that was packed.
    pub(super) fn histogram(&self) -> Histogram {
        let mut histogram = Histogram::small();
        for (us, n) in self.buckets.iter() {
            histogram.record_n(Duration::from_micros(us.into()), n);
        }
        histogram.with_exact(self.sum, self.min, self.max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_survive_packing_and_merging() {
        let (mut all, mut halves) = (Histogram::new(), [Histogram::new(), Histogram::new()]);
        for n in 1..=20_000_u64 {
            let sample = Duration::from_micros(n * n * 7 % 3_000_017);
            all.record(sample);
            halves[n as usize % 2].record(sample);
        }
        let [one, other] = halves.map(|half| Samples::of(&half));
        let merged = one.merged(&other);
        assert_eq!(merged, Samples::of(&all));
        let found = merged.histogram();
        for permille in 0..=1_000 {
            let percent = f64::from(permille) / 10.0;
            assert_eq!(
                found.interpolated_us(percent),
                all.interpolated_us(percent),
                "{percent}"
            );
        }
        assert_eq!((found.count(), found.sum()), (all.count(), all.sum()));
    }
}
