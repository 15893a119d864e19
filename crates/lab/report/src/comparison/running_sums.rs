//! A figure of any stretch of intervals for the cost of two look-ups: sums from the start to each interval.

use super::measurement::Parts;

/// The most bins of a histogram. Reason: 64 octaves of 8 bins, more than a duration in microseconds can take.
const MAX_BINS: u32 = 512;

/// Sums over the intervals, twice around, so that a stretch may go over the end to the start.
pub(super) struct RunningSums {
    n_intervals: usize,
    /// Numbers per interval.
    width: usize,
    /// Row `i` has the sums of the intervals before `i`; row 0 is all zero.
    rows: Vec<f64>,
    statistic: Statistic,
}

enum Statistic {
    Ratio,
    Quantile {
        quantile: f64,
        first_bin: u32,
        per_octave: f64,
    },
}

impl RunningSums {
    /// The sums of the first `n_intervals`. `None` for a figure without intervals.
    pub(super) fn new(parts: &Parts, n_intervals: usize) -> Option<Self> {
        match parts {
            Parts::Ratio(pairs) => {
                let rows = pairs.iter().map(|pair| vec![pair.0, pair.1]).take(n_intervals);
                let rows: Vec<_> = rows.collect();
                Some(Self::of_rows(&rows, 2, Statistic::Ratio))
            }
            Parts::Quantile {
                quantile,
                per_octave,
                histograms,
            } => {
                let bins = histograms.iter().flatten().map(|&(bin, _)| bin.min(MAX_BINS));
                let (first_bin, last) = (bins.clone().min()?, bins.max()?);
                let width = (last - first_bin) as usize + 1;
                let dense = |histogram: &Vec<(u32, u64)>| {
                    let mut row = vec![0.0; width];
                    for &(bin, count) in histogram {
                        row[(bin.min(MAX_BINS) - first_bin) as usize] += count as f64;
                    }
                    row
                };
                let rows: Vec<_> = histograms.iter().take(n_intervals).map(dense).collect();
                let statistic = Statistic::Quantile {
                    quantile: *quantile,
                    first_bin,
                    per_octave: f64::from(*per_octave),
                };
                Some(Self::of_rows(&rows, width, statistic))
            }
            Parts::Whole => None,
        }
    }

    fn of_rows(intervals: &[Vec<f64>], width: usize, statistic: Statistic) -> Self {
        let n_intervals = intervals.len();
        let mut rows = vec![0.0; width];
        for interval in intervals.iter().chain(intervals) {
            let above = rows.len() - width;
            for (column, number) in interval.iter().enumerate() {
                rows.push(rows[above + column] + number);
            }
        }
        Self {
            n_intervals,
            width,
            rows,
            statistic,
        }
    }

    /// The figure of all intervals of these stretches of `length`, which begin below `n_intervals`. Not a number
    /// without samples.
    pub(super) fn figure(&self, starts: &[usize], length: usize) -> f64 {
        debug_assert!(length <= self.n_intervals);
        let mut sums = vec![0.0; self.width];
        for &start in starts {
            let (before, end) = (self.row(start), self.row(start + length));
            for ((sum, before), end) in sums.iter_mut().zip(before).zip(end) {
                *sum += end - before;
            }
        }
        match self.statistic {
            Statistic::Ratio => sums[0] / sums[1],
            Statistic::Quantile {
                quantile,
                first_bin,
                per_octave,
            } => {
                let position = position(&sums, quantile);
                ((f64::from(first_bin) + position) / per_octave).exp2()
            }
        }
    }

    fn row(&self, index: usize) -> &[f64] {
        &self.rows[index * self.width..(index + 1) * self.width]
    }
}

/// The position of the quantile, in bins from the start of the first one: samples are evenly distributed in their bin.
fn position(counts: &[f64], quantile: f64) -> f64 {
    let wanted = quantile * counts.iter().sum::<f64>();
    let mut below = 0.0;
    for (bin, &count) in counts.iter().enumerate() {
        if count > 0.0 && below + count >= wanted {
            return bin as f64 + (wanted - below) / count;
        }
        below += count;
    }
    f64::NAN
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stretches_go_over_the_end() {
        let parts = Parts::Ratio(vec![(1.0, 1.0), (20.0, 1.0), (300.0, 1.0)]);
        let sums = RunningSums::new(&parts, 3).unwrap();
        for (starts, length, expected) in [
            (vec![0], 3, 107.0),
            (vec![2], 2, 150.5),
            (vec![1, 1], 1, 20.0),
            (vec![2, 0], 2, 322.0 / 4.0),
        ] {
            assert_eq!(sums.figure(&starts, length), expected, "{starts:?}");
        }
    }

    #[test]
    fn quantiles_are_of_merged_histograms() {
        let parts = Parts::Quantile {
            quantile: 0.5,
            per_octave: 1,
            // 10 samples in 8..16, 30 in 16..32.
            histograms: vec![vec![(3, 10)], vec![(4, 10), (4, 20)]],
        };
        let sums = RunningSums::new(&parts, 2).unwrap();
        // The 20th of 40 samples is a third into the second bin.
        let expected = (4.0_f64 + 1.0 / 3.0).exp2();
        assert!((sums.figure(&[0], 2) - expected).abs() < 1e-9);
        assert!(RunningSums::new(&Parts::Whole, 2).is_none());
    }

    #[test]
    fn bins_beyond_the_most_are_one() {
        let parts = |bins: [u32; 2]| Parts::Quantile {
            quantile: 1.0,
            per_octave: 8,
            histograms: vec![bins.map(|bin| (bin, 1)).into(), vec![(700, 100)]],
        };
        // The second interval is not part of the stretch.
        for (bins, end) in [([10, 500], 501.0), ([600, 1000], 513.0), ([512, 512], 513.0)] {
            let sums = RunningSums::new(&parts(bins), 1).unwrap();
            let expected = (end / 8.0_f64).exp2();
            let found = sums.figure(&[0], 1);
            assert!((found / expected - 1.0).abs() < 1e-9, "{bins:?}: {found}");
        }
    }

    #[test]
    fn samples_lie_evenly_in_their_bin() {
        for (counts, quantile, expected) in [
            (&[4.0][..], 0.25, 0.25),
            (&[4.0, 0.0, 4.0], 0.5, 1.0),
            (&[4.0, 0.0, 4.0], 0.75, 2.5),
            (&[0.0, 1.0], 0.0, 1.0),
            (&[1.0, 1.0], 1.0, 2.0),
        ] {
            let found = position(counts, quantile);
            assert!((found - expected).abs() < 1e-12, "{counts:?} {quantile}: {found}");
        }
    }

    #[test]
    fn no_samples_are_no_number() {
        let empty = Parts::Ratio(vec![(0.0, 0.0)]);
        assert!(RunningSums::new(&empty, 1).unwrap().figure(&[0], 1).is_nan());
    }
}
