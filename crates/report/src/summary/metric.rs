//! One metric as a report shows it.

use plimsoll_load::metrics::{self, Definition, Value};
use serde::{Serialize, Serializer};

use crate::Distribution;

/// A metric with its figures.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Metric {
    /// What its numbers mean.
    pub contains: Contains,
    /// Its figures, by type.
    #[serde(flatten)]
    pub values: Values,
}

/// What the numbers of a metric mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Contains {
    /// Plain numbers.
    Default,
    /// Durations in microseconds.
    Time,
    /// Bytes.
    Data,
}

/// The figures of a metric, by type.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(tag = "type", content = "values", rename_all = "lowercase")]
pub enum Values {
    /// A sum.
    Counter {
        /// The sum; an integer in JSON when it is one.
        #[serde(serialize_with = "integer_if_whole")]
        count: f64,
        /// Per second of the whole run.
        rate: f64,
    },
    /// A level.
    Gauge {
        /// The last value.
        value: f64,
        /// The lowest value.
        min: f64,
        /// The highest value.
        max: f64,
    },
    /// How often something was true.
    Rate {
        /// Share (0 to 1) that was true.
        rate: f64,
        /// Samples that were true.
        passes: u64,
        /// Samples that were not.
        fails: u64,
    },
    /// A distribution of durations.
    Trend(Distribution),
}

impl Metric {
    /// The figures of `value` in a run of so many `seconds`.
    pub(super) fn new(definition: &Definition, value: Value<'_>, seconds: f64) -> Self {
        let values = match value {
            Value::Counter(count) => Values::Counter {
                count,
                rate: if seconds > 0.0 { count / seconds } else { 0.0 },
            },
            Value::Gauge(gauge) => Values::Gauge {
                value: gauge.value,
                min: gauge.min,
                max: gauge.max,
            },
            Value::Rate(rate) => Values::rate(rate),
            Value::Trend(histogram) => Values::Trend(Distribution::from(histogram)),
        };
        Self {
            contains: definition.contains.into(),
            values,
        }
    }
}

impl Values {
    fn rate(rate: metrics::Rate) -> Self {
        Self::Rate {
            rate: rate.share(),
            passes: rate.n_true,
            fails: rate.n_total - rate.n_true,
        }
    }
}

impl From<metrics::Contains> for Contains {
    fn from(contains: metrics::Contains) -> Self {
        match contains {
            metrics::Contains::Default => Self::Default,
            metrics::Contains::Time => Self::Time,
            metrics::Contains::Data => Self::Data,
        }
    }
}

/// The largest range in which each integer has its own `f64`.
const EXACT: f64 = 9_007_199_254_740_992.0;

fn integer_if_whole<S: Serializer>(number: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    if number.fract() == 0.0 && number.abs() <= EXACT {
        serializer.serialize_i64(*number as i64)
    } else {
        serializer.serialize_f64(*number)
    }
}
