//! The samples of a trend in one leg.

use std::time::Duration;

use plimsoll_load::histogram::{Histogram, MOST_EXACT};

use crate::packed::Packed;

/// A histogram in little memory: its samples while they are few, else its filled buckets; and the exact sum, minimum and
/// maximum.
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
        let n = self.n.saturating_add(other.n);
        let both = self.buckets.merged(&other.buckets);
        Self {
            buckets: if n > MOST_EXACT as u64 {
                in_buckets(&both)
            } else {
                both
            },
            n,
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

/// Samples by the lowest values of their buckets, which take less memory than the samples themselves.
fn in_buckets(samples: &Packed) -> Packed {
    let lowest = |us: u32| {
        let lowest = Histogram::lowest_of_bucket(us.into());
        u32::try_from(lowest).expect("it is at most the value")
    };
    Packed::of(samples.iter().map(|(us, n)| (lowest(us), n)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_samples_stay_exact_and_many_take_no_more_than_their_buckets() {
        let of = |samples: &[u64]| {
            let mut histogram = Histogram::new();
            for &us in samples {
                histogram.record(Duration::from_micros(us));
            }
            histogram
        };
        let few: Vec<_> = (0..200).map(|n| 1_000_003 + n * 37).collect();
        let merged = Samples::of(&of(&few[..90])).merged(&Samples::of(&of(&few[90..])));
        assert_eq!(merged.histogram().exact(), Some(few));

        let many: Vec<_> = (0..100)
            .map(|n| (0..200).map(move |at| 1_000_000 + n * 1_000 + at * 5))
            .collect();
        let parts = many
            .iter()
            .map(|part| Samples::of(&of(&part.clone().collect::<Vec<_>>())));
        let merged = parts.reduce(|one, other| one.merged(&other)).unwrap();
        let all: Vec<_> = many.iter().flat_map(Clone::clone).collect();
        assert_eq!(merged, Samples::of(&of(&all)));
        // A bucket of this size holds 512 values.
        assert!(merged.n_bytes() < 1_200, "{}", merged.n_bytes());
    }

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
