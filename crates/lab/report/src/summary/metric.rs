//! One metric as a report shows it.

use std::time::Duration;

use plimsoll_load::{
    histogram::{DecodeError, Histogram},
    metrics::{self, Definition, Gauge, Kind, Value},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::number;
use crate::{Distribution, trend_figure};

/// A metric with its figures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Metric {
    /// What its numbers mean.
    pub contains: Contains,
    /// Its figures, by type.
    #[serde(flatten)]
    pub values: Values,
    /// For a trend: the figures that the user chose, in that order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub figures: Vec<Figure>,
    /// For a trend: all samples, for HdrHistogram libraries (V2, deflated, in base64). Absent if the summary would be
    /// too long with it, and in parts of a run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub histogram: Option<String>,
    /// For a trend with at most 256 samples: each of them in ascending order, in microseconds or thousandths. Absent where
    /// there is no histogram.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub exact: Vec<u64>,
}

/// A figure of a trend under k6's name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Figure {
    /// `avg`, `min`, `med`, `max`, `count` or `p(N)`.
    pub stat: String,
    /// Milliseconds, bytes or plain numbers.
    pub value: f64,
}

/// What the numbers of a metric mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", content = "values", rename_all = "lowercase")]
pub enum Values {
    /// A sum.
    Counter {
        /// The sum; an integer in JSON if it is whole.
        #[serde(with = "number")]
        #[schemars(with = "Option<f64>")]
        count: f64,
        /// Per second of the whole run.
        rate: f64,
    },
    /// A level.
    Gauge {
        /// The last value.
        #[serde(deserialize_with = "number::deserialize")]
        #[schemars(with = "Option<f64>")]
        value: f64,
        /// The lowest value.
        #[serde(deserialize_with = "number::deserialize")]
        #[schemars(with = "Option<f64>")]
        min: f64,
        /// The highest value.
        #[serde(deserialize_with = "number::deserialize")]
        #[schemars(with = "Option<f64>")]
        max: f64,
    },
    /// The number of true and of all samples.
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
    /// The figures of `value` in a run of this many `seconds`.
    pub(super) fn new(
        contains: metrics::Contains,
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
            contains: contains.into(),
            values,
            figures,
            histogram: None,
            exact: Vec::new(),
        }
    }

    /// Adds all samples of a trend, which `value` is.
    pub(super) fn with_histogram(self, value: Value<'_>) -> Self {
        let Value::Trend(histogram) = value else {
            return self;
        };
        Self {
            histogram: Some(histogram.encode()),
            exact: histogram.exact().unwrap_or_default(),
            ..self
        }
    }

    /// Removes all samples, to save room. Returns whether there were any.
    pub(super) fn omit_samples(&mut self) -> bool {
        self.exact.clear();
        self.histogram.take().is_some()
    }

    /// All samples of a trend, with the sum, minimum and maximum of its distribution. `None` for other metrics, and
    /// without a histogram.
    ///
    /// # Errors
    /// The histogram is invalid.
    pub fn samples(&self) -> Result<Option<Histogram>, DecodeError> {
        let (Values::Trend(distribution), Some(text)) = (&self.values, &self.histogram) else {
            return Ok(None);
        };
        let mut histogram = Histogram::decode(text)?;
        if !self.exact.is_empty() {
            histogram = Histogram::of_numbers();
            for &us in &self.exact {
                histogram.record(Duration::from_micros(us));
            }
        }
        let sum = distribution.mean * distribution.count as f64;
        Ok(Some(histogram.with_exact(
            Duration::from_micros(sum.round() as u64),
            Duration::from_micros(distribution.min),
            Duration::from_micros(distribution.max),
        )))
    }

    /// The distribution of durations. `None` for other metrics, and without samples.
    pub(crate) fn durations(&self) -> Option<&Distribution> {
        match &self.values {
            Values::Trend(distribution) if self.contains == Contains::Time && distribution.count > 0 => {
                Some(distribution)
            }
            _ => None,
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
        Self::new(definition.contains, value, 0.0, trend_stats)
    }
}

/// The chosen figures. Invalid names were refused before the run.
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
