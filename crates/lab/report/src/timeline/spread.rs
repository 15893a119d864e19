//! The samples of a trend in one interval.

use plimsoll_load::histogram::Histogram;

use super::bins::Bins;

/// Count, sum and maximum, exact, and samples in bins.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Spread {
    n: u64,
    sum_us: u64,
    max_us: u64,
    bins: Bins,
    /// Bins of a heatmap.
    n_hot: u32,
}

impl Spread {
    pub(super) fn of(histogram: &Histogram) -> Self {
        let micros = |duration: std::time::Duration| u64::try_from(duration.as_micros()).unwrap_or(u64::MAX);
        let bins = Bins::of(histogram);
        Self {
            n: histogram.count(),
            sum_us: micros(histogram.sum()),
            max_us: micros(histogram.max()),
            n_hot: bins.n_hot(),
            bins,
        }
    }

    pub(super) fn merged(&self, other: &Self) -> Self {
        match (self.n, other.n) {
            (_, 0) => self.clone(),
            (0, _) => other.clone(),
            _ => {
                let bins = self.bins.merged(&other.bins);
                Self {
                    n: self.n.saturating_add(other.n),
                    sum_us: self.sum_us.saturating_add(other.sum_us),
                    max_us: self.max_us.max(other.max_us),
                    n_hot: bins.n_hot(),
                    bins,
                }
            }
        }
    }

    /// Pairs of [`Self::heat`].
    pub(super) fn n_heat(&self) -> usize {
        self.n_hot as usize
    }

    pub(super) fn n(&self) -> u64 {
        self.n
    }

    /// The mean to a thousandth, which is finer than a microsecond.
    pub(super) fn mean(&self) -> Option<f64> {
        (self.n > 0).then(|| (self.sum_us as f64 / self.n as f64 * 1e3).round() / 1e3)
    }

    pub(super) fn max(&self) -> Option<u64> {
        (self.n > 0).then_some(self.max_us)
    }

    /// The percentile of `quantile` (0 to 1), interpolated like all percentiles, within 1.1 %.
    pub(super) fn quantile(&self, quantile: f64) -> Option<u64> {
        let position = quantile * self.n.checked_sub(1)? as f64;
        let (lower, upper) = (self.at(position.floor()), self.at(position.ceil()));
        Some((lower + (upper - lower) * position.fract()).round() as u64)
    }

    /// The sample at `position` of all samples in ascending order, from 0.
    fn at(&self, position: f64) -> f64 {
        let rank = (position as u64).saturating_add(1);
        let value = if rank >= self.n {
            self.max_us
        } else {
            self.bins.value_at(rank).min(self.max_us)
        };
        value as f64
    }

    pub(super) fn heat(&self) -> Vec<u64> {
        self.bins.heat()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn percentiles_are_near_those_of_the_histogram_and_the_last_is_exact() {
        let mut histogram = Histogram::new();
        for us in 1..=10_000 {
            histogram.record(Duration::from_micros(us * us));
        }
        let spread = Spread::of(&histogram);
        for quantile in [0.5, 0.9, 0.95, 0.99] {
            let expected = histogram.interpolated_us(quantile * 100.0);
            let found = spread.quantile(quantile).unwrap() as f64;
            assert!(
                (found / expected - 1.0).abs() < 0.012,
                "{quantile}: {found} for {expected}"
            );
        }
        assert_eq!(spread.quantile(1.0), Some(100_000_000));
        assert_eq!((spread.n(), spread.max()), (10_000, Some(100_000_000)));
    }

    #[test]
    fn nothing_has_no_figures() {
        let nothing = Spread::default();
        assert_eq!(
            (nothing.quantile(0.5), nothing.mean(), nothing.max()),
            (None, None, None)
        );
        assert_eq!(nothing.merged(&nothing), nothing);
    }

    #[test]
    fn one_sample_is_every_percentile() {
        let mut histogram = Histogram::new();
        histogram.record(Duration::from_micros(777_777));
        let spread = Spread::of(&histogram);
        assert_eq!(
            (spread.quantile(0.5), spread.quantile(0.99)),
            (Some(777_777), Some(777_777))
        );
        assert_eq!(spread.mean(), Some(777_777.0));
    }
}
