//! All metrics at one moment, for the export formats.

use std::time::Duration;

use crate::BUCKET_BOUNDS;

/// All metrics by name. Cells are read one after the other, so two metrics may be a few microseconds apart.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Snapshot {
    /// The metrics, in the order of their names.
    pub metrics: Vec<Metric>,
}

/// One metric.
#[derive(Debug, Clone, PartialEq)]
pub struct Metric {
    /// The metric's name without a prefix, for example `clients_num`.
    pub name: &'static str,
    /// The help text.
    pub help: &'static str,
    /// The kind of metric.
    pub kind: Kind,
    /// The values, one for each combination of labels. Most metrics have one without labels.
    pub series: Vec<Series>,
}

/// The kind of a metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A number that only grows.
    Counter,
    /// A number that goes up and down.
    Gauge,
    /// A distribution of durations.
    Histogram,
}

/// The value of a metric with certain labels.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// Names and values of the labels.
    pub labels: Vec<(&'static str, String)>,
    /// The sum over all cells.
    pub value: Value,
}

/// The value of one series.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// The value of a counter.
    Counter(u64),
    /// The value of a gauge, or of a counter of something that is not counted in whole numbers.
    Gauge(f64),
    /// The value of a histogram.
    Histogram(HistogramValue),
}

/// The observations of a histogram.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HistogramValue {
    /// Observations per bucket, not cumulative. The last bucket is beyond all [`BUCKET_BOUNDS`](crate::BUCKET_BOUNDS).
    pub counts: Vec<u64>,
    /// The sum of all durations.
    pub sum: Duration,
}

impl Snapshot {
    /// The metric with this name.
    pub fn metric(&self, name: &str) -> Option<&Metric> {
        self.metrics.iter().find(|metric| metric.name == name)
    }
}

impl HistogramValue {
    /// Number of observations.
    pub fn count(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// The observations that were made since the same histogram had `earlier`.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let counts = self.counts.iter().zip(&earlier.counts);
        Self {
            counts: counts
                .map(|(now, earlier)| now.saturating_sub(*earlier))
                .collect(),
            sum: self.sum.saturating_sub(earlier.sum),
        }
    }

    /// The duration that a share `q` of the observations do not exceed, `None` without observations. Within a bucket a
    /// straight line is assumed, as Prometheus' `histogram_quantile` does; beyond the last bound there is only the bound.
    pub fn quantile(&self, q: f64) -> Option<Duration> {
        let rank = q * self.count() as f64;
        let mut below = 0.0;
        for (bucket, n) in self.counts.iter().enumerate().filter(|(_, n)| **n > 0) {
            let n = *n as f64;
            let Some(bound) = BUCKET_BOUNDS.get(bucket) else {
                break;
            };
            let low = bucket.checked_sub(1).map_or(0.0, |bucket| BUCKET_BOUNDS[bucket]);
            if below + n >= rank {
                return Some(Duration::from_secs_f64(low + (bound - low) * (rank - below) / n));
            }
            below += n;
        }
        (self.count() > 0).then(|| Duration::from_secs_f64(BUCKET_BOUNDS[BUCKET_BOUNDS.len() - 1]))
    }

    pub(crate) fn add(&mut self, other: &Self) {
        for (mine, theirs) in self.counts.iter_mut().zip(&other.counts) {
            *mine += theirs;
        }
        self.sum += other.sum;
    }
}

impl Value {
    /// Adds another cell or series of the same metric.
    pub fn add(&mut self, other: &Self) {
        match (self, other) {
            (Self::Counter(mine), Self::Counter(theirs)) => *mine = mine.wrapping_add(*theirs),
            (Self::Gauge(mine), Self::Gauge(theirs)) => *mine += theirs,
            (Self::Histogram(mine), Self::Histogram(theirs)) => mine.add(theirs),
            _ => debug_assert!(false, "a metric has one kind"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn histogram(buckets: &[(usize, u64)]) -> HistogramValue {
        let mut counts = vec![0; BUCKET_BOUNDS.len() + 1];
        buckets.iter().for_each(|(bucket, n)| counts[*bucket] = *n);
        HistogramValue {
            counts,
            sum: Duration::ZERO,
        }
    }

    fn check(buckets: &[(usize, u64)], q: f64, expected_us: Option<u128>) {
        let quantile = histogram(buckets)
            .quantile(q)
            .map(|duration| duration.as_micros());
        assert_eq!(quantile, expected_us, "{buckets:?} at {q}");
    }

    #[test]
    fn quantiles_lie_on_a_straight_line_within_their_bucket() {
        check(&[], 0.5, None);
        check(&[(0, 10)], 0.5, Some(50));
        check(&[(0, 10)], 1.0, Some(100));
        check(&[(0, 5), (3, 5)], 0.5, Some(100));
        check(&[(0, 5), (3, 5)], 0.6, Some(600));
        // Beyond the last bound there is only the bound.
        check(&[(16, 1)], 0.5, Some(10_000_000));
        check(&[(0, 1), (16, 9)], 0.1, Some(100));
        check(&[(0, 1), (16, 9)], 0.99, Some(10_000_000));
    }

    #[test]
    fn what_was_observed_since_is_the_difference() {
        let (earlier, now) = (histogram(&[(0, 2), (5, 1)]), histogram(&[(0, 2), (5, 4), (6, 1)]));
        assert_eq!(now.since(&earlier), histogram(&[(5, 3), (6, 1)]));
    }
}
