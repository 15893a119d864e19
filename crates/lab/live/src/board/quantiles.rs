//! The figures of a distribution that people watch.

use std::time::Duration;

use plimsoll_load::histogram::Histogram;
use plimsoll_report::percentile;

/// Percentiles of one set of samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Quantiles {
    pub(crate) p50: Duration,
    pub(crate) p95: Duration,
    pub(crate) p99: Duration,
    pub(crate) max: Duration,
    /// How many samples.
    pub(crate) n: u64,
}

impl Quantiles {
    /// `None` without samples.
    pub(crate) fn of(histogram: &Histogram) -> Option<Self> {
        (!histogram.is_empty()).then(|| Self {
            p50: percentile(histogram, 50.0),
            p95: percentile(histogram, 95.0),
            p99: percentile(histogram, 99.0),
            max: histogram.max(),
            n: histogram.count(),
        })
    }
}
