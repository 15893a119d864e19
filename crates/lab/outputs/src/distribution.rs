//! The sum of a trend's samples, in the form that its database needs.

use std::{collections::BTreeMap, mem, time::Duration};

use plimsoll_load::{histogram::Histogram, metrics::Contains};

/// The form.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum TrendStyle {
    /// Percentiles and such.
    Figures,
    /// Counts in [`BOUNDS`].
    Explicit,
    /// Counts in buckets that grow by [`SCALE`].
    Exponential {
        /// What a millisecond is, in the unit that the database has for durations.
        millisecond: f64,
    },
}

/// The samples of one trend with one set of tags.
#[derive(Debug)]
pub(crate) struct Distribution {
    /// The factor for each sample.
    scale: f64,
    pub(crate) count: u64,
    pub(crate) sum: f64,
    pub(crate) min: f64,
    pub(crate) max: f64,
    pub(crate) values: Values,
}

#[derive(Debug)]
pub(crate) enum Values {
    /// Up to [`FEW`] samples, unchanged.
    Few(Vec<f64>, Contains),
    Many(Box<Histogram>),
    Explicit([u64; BOUNDS.len() + 1]),
    Exponential(Box<Exponential>),
}

/// Samples that a series keeps individually, before it gets a histogram: 2 KiB. A URL with an id in it makes thousands
/// of series with few samples each, and a histogram takes 16 to 184 KiB.
const FEW: usize = 256;

/// Upper bounds of buckets: OpenTelemetry's defaults, which are meant for milliseconds.
pub(crate) const BOUNDS: [f64; 15] = [
    0.0, 5.0, 10.0, 25.0, 50.0, 75.0, 100.0, 250.0, 500.0, 750.0, 1_000.0, 2_500.0, 5_000.0, 7_500.0,
    10_000.0,
];

/// Each bucket ends at 2^(1/2^SCALE) times the end of the previous one: 9 %, as in k6's native histograms.
pub(crate) const SCALE: i32 = 3;

/// Counts in buckets whose bounds are powers of 2^(1/2^[`SCALE`]). Memory grows with the logarithm of the range, up to
/// 17,000 buckets for all possible numbers.
#[derive(Debug, Default)]
pub(crate) struct Exponential {
    pub(crate) n_zero: u64,
    /// By index: bucket `i` holds values above base^i, up to base^(i+1) inclusive.
    pub(crate) positive: BTreeMap<i32, u64>,
    /// Buckets of the absolute values of negative samples.
    pub(crate) negative: BTreeMap<i32, u64>,
}

impl Distribution {
    pub(crate) fn new(style: TrendStyle, contains: Contains) -> Self {
        Self {
            scale: match style {
                TrendStyle::Exponential { millisecond } if contains == Contains::Time => millisecond,
                _ => 1.0,
            },
            count: 0,
            sum: 0.0,
            min: f64::INFINITY,
            max: f64::NEG_INFINITY,
            values: match style {
                TrendStyle::Figures => Values::Few(Vec::new(), contains),
                TrendStyle::Explicit => Values::Explicit(Default::default()),
                TrendStyle::Exponential { .. } => Values::Exponential(Box::default()),
            },
        }
    }

    pub(crate) fn add(&mut self, sample: f64) {
        let value = sample * self.scale;
        self.count += 1;
        self.sum += value;
        self.min = self.min.min(value);
        self.max = self.max.max(value);
        match &mut self.values {
            Values::Few(values, contains) => {
                values.push(value);
                if values.len() > FEW {
                    let mut histogram = empty(*contains);
                    record(&mut histogram, &mem::take(values));
                    self.values = Values::Many(Box::new(histogram));
                }
            }
            Values::Many(histogram) => record(histogram, &[value]),
            Values::Explicit(counts) => counts[BOUNDS.partition_point(|bound| *bound < value)] += 1,
            Values::Exponential(buckets) => buckets.add(value),
        }
    }

    /// The samples as a histogram, for figures. `None` if they are kept in another form.
    pub(crate) fn with_histogram<T>(&self, read: impl FnOnce(&Histogram) -> T) -> Option<T> {
        match &self.values {
            Values::Few(values, contains) => {
                let mut histogram = empty(*contains);
                record(&mut histogram, values);
                Some(read(&histogram))
            }
            Values::Many(histogram) => Some(read(histogram)),
            Values::Explicit(_) | Values::Exponential(_) => None,
        }
    }
}

fn empty(contains: Contains) -> Histogram {
    match contains {
        Contains::Time => Histogram::small(),
        Contains::Default | Contains::Data => Histogram::of_numbers(),
    }
}

/// Numbers as milliseconds, as everywhere.
fn record(histogram: &mut Histogram, values: &[f64]) {
    for value in values {
        let duration = Duration::try_from_secs_f64(value.max(0.0) / 1_000.0).unwrap_or(Duration::MAX);
        histogram.record(duration);
    }
}

impl Exponential {
    fn add(&mut self, value: f64) {
        let buckets = if value > 0.0 {
            &mut self.positive
        } else if value < 0.0 {
            &mut self.negative
        } else {
            self.n_zero += 1;
            return;
        };
        *buckets.entry(index(value.abs())).or_default() += 1;
    }
}

/// The bucket of a positive number.
fn index(value: f64) -> i32 {
    let position = value.log2() * f64::from(1 << SCALE);
    // The conversion saturates, so that infinity has a bucket, too.
    position.ceil() as i32 - 1
}

#[cfg(test)]
mod tests;
