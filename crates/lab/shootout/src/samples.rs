//! The few exact samples behind websocket-bench's result line.
//!
//! Its percentile is an element of the sorted list, and comparable figures need the same one; a histogram would
//! only come near. The list is as long as `--sample-size` (or `--step-size`), which the user chose. All other
//! figures come from histograms.

use std::time::Duration;

use plimsoll_load::histogram::Histogram;
use plimsoll_report::percentile;

/// Durations, sorted when they are asked about.
#[derive(Debug, Clone, Default)]
pub(crate) struct Samples {
    durations: Vec<Duration>,
}

/// The figures of a step that the first line has: websocket-bench's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rtt {
    /// The sample at the limit percentile.
    pub percentile: Duration,
    /// The smallest.
    pub min: Duration,
    /// The one at percentile 50.
    pub median: Duration,
    /// The largest.
    pub max: Duration,
}

impl Rtt {
    /// The figures of samples that are known within 0.1 %; `None` without samples.
    pub(crate) fn of_histogram(samples: &Histogram, limit_percentile: u8) -> Option<Self> {
        let at = |percent| percentile(samples, f64::from(percent));
        (!samples.is_empty()).then(|| Self {
            percentile: at(limit_percentile),
            min: samples.min(),
            median: at(50),
            max: samples.max(),
        })
    }
}

impl Samples {
    pub(crate) fn push(&mut self, duration: Duration) {
        self.durations.push(duration);
    }

    /// All samples.
    pub(crate) fn durations(&self) -> &[Duration] {
        &self.durations
    }

    /// The figures of the line; `None` without samples.
    pub(crate) fn rtt(mut self, limit_percentile: u8) -> Option<Rtt> {
        self.durations.sort_unstable();
        let at = |percentile| percentile_of(&self.durations, percentile);
        Some(Rtt {
            percentile: at(limit_percentile)?,
            min: at(0)?,
            median: at(50)?,
            max: at(100)?,
        })
    }
}

impl FromIterator<Duration> for Samples {
    fn from_iter<I: IntoIterator<Item = Duration>>(durations: I) -> Self {
        Self {
            durations: durations.into_iter().collect(),
        }
    }
}

/// websocket-bench's percentile: the element at index ⌊p·n/100⌋ of the ascending list. So p95 of 100 samples is the
/// 96th smallest, and of 20 the largest.
fn percentile_of(sorted: &[Duration], percentile: u8) -> Option<Duration> {
    let idx = sorted.len() * usize::from(percentile) / 100;
    sorted.get(idx).or(sorted.last()).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_those_of_websocket_bench() {
        // The samples 1 ms … n ms; percentile, expected milliseconds.
        let check = |n: u64, percentile, expected| {
            let samples: Samples = (1..=n).rev().map(Duration::from_millis).collect();
            let got = samples.rtt(percentile).map(|rtt| rtt.percentile.as_millis());
            assert_eq!(got, expected, "p{percentile} of {n}");
        };
        check(100, 95, Some(96));
        check(20, 95, Some(20));
        check(20, 90, Some(19));
        check(100, 100, Some(100));
        check(100, 0, Some(1));
        check(1, 95, Some(1));
        check(0, 95, None);
    }

    #[test]
    fn the_median_is_percentile_50() {
        let samples: Samples = [4, 1, 3, 2].map(Duration::from_millis).into_iter().collect();
        let rtt = samples.rtt(95).unwrap();
        assert_eq!([rtt.min, rtt.median, rtt.max].map(|it| it.as_millis()), [1, 3, 4]);
    }
}
