//! The buckets of all histograms of durations.

/// The number of bounds.
pub(crate) const N_BOUNDS: usize = 16;

/// Upper bounds of the buckets in seconds. The last bucket has no bound. All histograms share them, because all measure
/// similar durations: from a hop over loopback (100 µs) to the end of a person's patience (10 s), with three bounds per
/// decade, so that a quantile read from them is wrong by a factor of 2.5 at most. The values are round because people
/// read them.
pub const BUCKET_BOUNDS: [f64; N_BOUNDS] = [
    0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0,
];

/// [`BUCKET_BOUNDS`] in microseconds, for comparisons without floating point.
pub(crate) const BOUNDS_MICROS: [u64; N_BOUNDS] = [
    100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000, 1_000_000,
    2_500_000, 5_000_000, 10_000_000,
];

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
}
