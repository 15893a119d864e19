//! All metrics at one moment, for the export formats.

use std::time::Duration;

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

    pub(crate) fn add(&mut self, other: &Self) {
        for (mine, theirs) in self.counts.iter_mut().zip(&other.counts) {
            *mine += theirs;
        }
        self.sum += other.sum;
    }
}

impl Value {
    /// Adds another cell of the same series.
    pub(crate) fn add(&mut self, other: &Self) {
        match (self, other) {
            (Self::Counter(mine), Self::Counter(theirs)) => *mine = mine.wrapping_add(*theirs),
            (Self::Gauge(mine), Self::Gauge(theirs)) => *mine += theirs,
            (Self::Histogram(mine), Self::Histogram(theirs)) => mine.add(theirs),
            _ => debug_assert!(false, "a metric has one kind"),
        }
    }
}
