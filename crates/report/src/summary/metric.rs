//! One metric as a report shows it.

use plimsoll_load::{
    histogram::Histogram,
    metrics::{self, Definition, Gauge, Kind, Value},
};
use serde::{Serialize, Serializer};

use crate::{Distribution, quantity, trend_figure};

/// A metric with its figures.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Metric {
    /// What its numbers mean.
    pub contains: Contains,
    /// Its figures, by type.
    #[serde(flatten)]
    pub values: Values,
    /// Of a trend: the figures that the user chose, in that order. Not in the JSON, which has the same figures always.
    #[serde(skip)]
    pub figures: Vec<Figure>,
}

/// A figure of a trend under k6's name.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// `avg`, `min`, `med`, `max`, `count` or `p(N)`.
    pub stat: String,
    /// Milliseconds, bytes or plain numbers.
    pub value: f64,
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
    pub(super) fn new(
        definition: &Definition,
        value: Value<'_>,
        seconds: f64,
        trend_stats: &[String],
    ) -> Self {
        let figures = match value {
            Value::Trend(histogram) => figures(histogram, trend_stats),
            _ => Vec::new(),
        };
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
            figures,
        }
    }

    /// A metric without samples: all figures are zero.
    pub(super) fn unsampled(definition: &Definition, trend_stats: &[String]) -> Self {
        let nothing = Histogram::new();
        let value = match definition.kind {
            Kind::Counter => Value::Counter(0.0),
            Kind::Gauge => Value::Gauge(Gauge {
                value: 0.0,
                min: 0.0,
                max: 0.0,
            }),
            Kind::Rate => Value::Rate(metrics::Rate::default()),
            Kind::Trend => Value::Trend(&nothing),
        };
        Self::new(definition, value, 0.0, trend_stats)
    }
}

/// The chosen figures; names that stand for none were refused before the run.
fn figures(histogram: &Histogram, trend_stats: &[String]) -> Vec<Figure> {
    let figure = |stat: &String| {
        let value = trend_figure(histogram, stat)?;
        Some(Figure {
            stat: stat.clone(),
            value,
        })
    };
    trend_stats.iter().filter_map(figure).collect()
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

fn integer_if_whole<S: Serializer>(number: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    match quantity::integer(*number) {
        Some(integer) => serializer.serialize_i64(integer),
        None => serializer.serialize_f64(*number),
    }
}
