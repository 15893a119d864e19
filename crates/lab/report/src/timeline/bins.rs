//! Samples in geometric bins: a timeline's form of an interval's samples.

use std::sync::LazyLock;

use plimsoll_load::histogram::Histogram;

use super::HEAT_BINS_PER_OCTAVE;
use crate::packed::Packed;

/// Bins per doubling. Reason: each is 2.2 % wide, so its middle is within 1.1 % of its samples; and four of them are
/// one bin of a heatmap.
const PER_OCTAVE: u32 = 4 * HEAT_BINS_PER_OCTAVE;

/// The edges of the bins of the octave from 1 to 2.
static EDGES: LazyLock<[f64; PER_OCTAVE as usize]> =
    LazyLock::new(|| std::array::from_fn(|n| (n as f64 / f64::from(PER_OCTAVE)).exp2()));

/// Bins with their counts, in ascending order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Bins(Packed);

impl Bins {
    pub(super) fn of(histogram: &Histogram) -> Self {
        Self(Packed::of(
            histogram.recorded().map(|(value, n)| (bin_of(value), n)),
        ))
    }

    pub(super) fn merged(&self, other: &Self) -> Self {
        Self(self.0.merged(&other.0))
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, u64)> {
        self.0.iter()
    }

    /// The middle of the bin with the sample at `rank` (from 1) of all in ascending order.
    pub(super) fn value_at(&self, rank: u64) -> u64 {
        let mut n_below = 0;
        let bin = self.iter().find(|(_, n)| {
            n_below += n;
            n_below >= rank
        });
        bin.map_or(0, |(bin, _)| middle(bin))
    }

    /// Bins of a heatmap and their counts in turn.
    pub(super) fn heat(&self) -> Vec<u64> {
        let mut heat: Vec<u64> = Vec::new();
        for (bin, n) in self.iter() {
            let bin = u64::from(hot(bin));
            match heat.as_mut_slice() {
                [.., known, count] if *known == bin => *count += n,
                _ => heat.extend([bin, n]),
            }
        }
        heat
    }

    /// Bins of a heatmap.
    pub(super) fn n_hot(&self) -> u32 {
        let mut last = None;
        let mut count = |bin| u32::from(last.replace(bin) != Some(bin));
        self.iter().map(|(bin, _)| count(hot(bin))).sum()
    }
}

/// Bin 0 is zero; bin n + 1 holds values from 2^(n/32) up to 2^((n+1)/32).
fn bin_of(value: u64) -> u32 {
    let Some(octave) = value.checked_ilog2() else {
        return 0;
    };
    let within = value as f64 / f64::from(octave).exp2();
    let n_edges = EDGES.partition_point(|&edge| edge <= within);
    // The first edge is 1, so one edge is not above the number; a large number may be rounded up to the next octave.
    1 + octave * PER_OCTAVE + u32::try_from(n_edges - 1).expect("there are 32 edges")
}

/// The heatmap bin of a bin. Zero has none of its own.
fn hot(bin: u32) -> u32 {
    bin.saturating_sub(1) * HEAT_BINS_PER_OCTAVE / PER_OCTAVE
}

/// The middle of the whole numbers in a bin.
fn middle(bin: u32) -> u64 {
    let Some(n) = bin.checked_sub(1) else { return 0 };
    let edge = |n: u32| {
        let octave = f64::from(n / PER_OCTAVE).exp2();
        // The conversion saturates, so any edge fits.
        (octave * EDGES[(n % PER_OCTAVE) as usize]).ceil() as u64
    };
    let (first, last) = (edge(n), edge(n + 1).saturating_sub(1));
    first + last.saturating_sub(first) / 2
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use proptest::prelude::*;

    use super::*;

    fn histogram(samples: &[(u64, u64)]) -> Histogram {
        let mut histogram = Histogram::of_numbers();
        for &(value, n) in samples {
            histogram.record_n(Duration::from_micros(value), n);
        }
        histogram
    }

    #[test]
    fn a_bin_begins_at_its_power_of_two() {
        for (value, expected) in [
            (0, 0),
            (1, 1),
            (2, 33),
            (3, 1 + 32 + 18),
            (4, 65),
            (1024, 1 + 10 * 32),
            (1023, 10 * 32),
            (1 << 61, 1 + 61 * 32),
        ] {
            assert_eq!(bin_of(value), expected, "{value}");
        }
    }

    #[test]
    fn heat_has_eight_bins_per_octave() {
        for (samples, expected) in [
            (&[(0, 2), (1, 3)][..], &[0, 5][..]),
            (
                &[(1024, 1), (1100, 1), (1117, 1), (2048, 7)],
                &[80, 2, 81, 1, 88, 7],
            ),
            (&[], &[]),
        ] {
            assert_eq!(Bins::of(&histogram(samples)).heat(), expected);
        }
    }

    prop_compose! {
        fn samples()(samples in prop::collection::vec((0_u32..62, any::<u64>(), 1_u64..1_000_000), 0..60)) -> Vec<(u64, u64)> {
            samples.into_iter().map(|(bits, random, n)| (random >> (63 - bits), n)).collect()
        }
    }

    proptest! {
        #[test]
        fn the_middle_is_near_all_that_is_in_a_bin(value in 0_u64..1 << 60) {
            let error = middle(bin_of(value)).abs_diff(value) as f64 / value.max(1) as f64;
            prop_assert!(error <= 0.011, "{value}: {error}");
        }

        #[test]
        fn merged_bins_are_those_of_all_samples(one in samples(), other in samples()) {
            let both = Bins::of(&histogram(&one)).merged(&Bins::of(&histogram(&other)));
            let mut all = histogram(&one);
            all.merge(&histogram(&other));
            prop_assert_eq!(&both, &Bins::of(&all));
            prop_assert_eq!(both.iter().map(|(_, n)| n).sum::<u64>(), all.count());
            prop_assert_eq!(both.heat().len(), 2 * both.n_hot() as usize);
            prop_assert_eq!(both.heat().chunks(2).map(|pair| pair[1]).sum::<u64>(), all.count());
        }
    }
}
