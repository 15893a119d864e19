//! Time cut into intervals of equal length.

/// What the lists of a timeline are about: interval i begins i·`interval_seconds` after the start of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Axis {
    /// Length of an interval: a power of two.
    pub interval_seconds: u32,
    /// The number of intervals.
    pub n_intervals: usize,
}

impl Axis {
    /// An axis without intervals. They are of one second.
    pub(super) const EMPTY: Self = Self {
        interval_seconds: 1,
        n_intervals: 0,
    };

    /// The interval of a second of the run.
    pub(super) fn interval_of(self, second: u64) -> usize {
        usize::try_from(second / u64::from(self.interval_seconds)).unwrap_or(usize::MAX)
    }

    /// The axis with half as many intervals over the same time. `None` beyond 68 years.
    pub(super) fn doubled(self) -> Self {
        Self {
            interval_seconds: self.interval_seconds.saturating_mul(2),
            n_intervals: self.n_intervals.div_ceil(2),
        }
    }
}

/// Merges neighbours, the first with the second and so on; an odd last one stays alone.
pub(super) fn halve<T: Clone>(values: &mut Vec<T>, merge: impl Fn(&T, &T) -> T) {
    *values = values
        .chunks(2)
        .filter_map(|pair| pair.iter().cloned().reduce(|one, other| merge(&one, &other)))
        .collect();
}
