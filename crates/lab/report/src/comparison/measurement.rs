//! One run's measurement of one figure: its value over the whole run, and the parts that show its noise.

/// A figure of one run.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Measurement {
    /// The value over the whole run, from its summary.
    pub(super) value: f64,
    /// Its parts in each interval of the timeline.
    pub(super) parts: Parts,
}

/// The parts of a figure, interval by interval, so that it can be recomputed from some of them.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Parts {
    /// A ratio of two sums, as (numerator, denominator): a rate, a share, a mean, a cost per unit of work.
    Ratio(Vec<(f64, f64)>),
    /// A quantile (0 to 1) of merged histograms, each as (bin, count).
    Quantile {
        /// Which one.
        quantile: f64,
        /// Bin `b` covers `[2^(b / per_octave), 2^((b + 1) / per_octave))`.
        per_octave: u32,
        /// The histogram of each interval.
        histograms: Vec<Vec<(u32, u64)>>,
    },
    /// No parts: the figure is known for the whole run only.
    Whole,
}

impl Parts {
    /// The number of intervals. `None` for a figure without parts.
    pub(super) fn n_intervals(&self) -> Option<usize> {
        match self {
            Self::Ratio(pairs) => Some(pairs.len()),
            Self::Quantile { histograms, .. } => Some(histograms.len()),
            Self::Whole => None,
        }
    }

    /// Joins `n` neighbours into one interval each, as in the timeline of a longer run.
    pub(super) fn coarser(&self, n: usize) -> Self {
        match self {
            Self::Ratio(pairs) => Self::Ratio(pairs.chunks(n).map(sum).collect()),
            Self::Quantile {
                quantile,
                per_octave,
                histograms,
            } => Self::Quantile {
                quantile: *quantile,
                per_octave: *per_octave,
                // Bins may occur twice in a histogram: they are added when it is read.
                histograms: histograms.chunks(n).map(<[_]>::concat).collect(),
            },
            Self::Whole => Self::Whole,
        }
    }
}

fn sum(pairs: &[(f64, f64)]) -> (f64, f64) {
    pairs
        .iter()
        .fold((0.0, 0.0), |sum, pair| (sum.0 + pair.0, sum.1 + pair.1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_are_joined() {
        let of = |histograms| Parts::Quantile {
            quantile: 0.5,
            per_octave: 8,
            histograms,
        };
        for (parts, n_intervals, joined) in [
            (
                Parts::Ratio(vec![(1.0, 10.0), (2.0, 20.0), (4.0, 40.0)]),
                Some(3),
                Parts::Ratio(vec![(3.0, 30.0), (4.0, 40.0)]),
            ),
            (
                of(vec![vec![(1, 5)], vec![(1, 6), (2, 7)], vec![]]),
                Some(3),
                of(vec![vec![(1, 5), (1, 6), (2, 7)], vec![]]),
            ),
            (Parts::Whole, None, Parts::Whole),
        ] {
            assert_eq!((parts.n_intervals(), parts.coarser(2)), (n_intervals, joined));
        }
    }
}
