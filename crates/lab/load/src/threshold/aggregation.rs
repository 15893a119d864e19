//! What of a metric a threshold compares.

use std::{fmt, time::Duration};

use crate::metrics::{Kind, Value};

/// What is compared.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Aggregation {
    /// The sum of a counter.
    Count,
    /// Per second of a counter, or the share (0 to 1) of a rate.
    Rate,
    /// The latest value of a gauge.
    Value,
    /// Mean of a trend.
    Average,
    /// Shortest sample of a trend.
    Min,
    /// Longest sample of a trend.
    Max,
    /// Half of the samples of a trend are not longer.
    Median,
    /// So many percent (0 to 100) of the samples of a trend are not longer.
    Percentile(f64),
}

impl Aggregation {
    /// Parses k6's name of it.
    pub(super) fn parse(text: &str) -> Option<Self> {
        Some(match text {
            "count" => Self::Count,
            "rate" => Self::Rate,
            "value" => Self::Value,
            "avg" => Self::Average,
            "min" => Self::Min,
            "max" => Self::Max,
            "med" => Self::Median,
            _ => {
                let percent: f64 = text.strip_prefix("p(")?.strip_suffix(')')?.trim().parse().ok()?;
                Self::Percentile((0.0..=100.0).contains(&percent).then_some(percent)?)
            }
        })
    }

    /// Whether metrics of this kind have it.
    pub(super) fn suits(self, kind: Kind) -> bool {
        match self {
            Self::Count => kind == Kind::Counter,
            Self::Rate => matches!(kind, Kind::Counter | Kind::Rate),
            Self::Value => kind == Kind::Gauge,
            Self::Average | Self::Min | Self::Max | Self::Median | Self::Percentile(_) => kind == Kind::Trend,
        }
    }

    /// The aggregations of a kind of metric, for people.
    pub(super) fn names_for(kind: Kind) -> &'static str {
        match kind {
            Kind::Counter => "count, rate",
            Kind::Gauge => "value",
            Kind::Rate => "rate",
            Kind::Trend => "avg, min, med, max, p(0) to p(100)",
        }
    }

    /// Its value `elapsed` after the start; `None` for a kind of metric that does not have it.
    pub(super) fn of(self, value: &Value<'_>, elapsed: Duration) -> Option<f64> {
        let ms = |duration: Duration| duration.as_secs_f64() * 1e3;
        Some(match (self, value) {
            (Self::Count, Value::Counter(sum)) => *sum,
            (Self::Rate, Value::Counter(sum)) => {
                let seconds = elapsed.as_secs_f64();
                if seconds > 0.0 { sum / seconds } else { 0.0 }
            }
            (Self::Rate, Value::Rate(rate)) => rate.share(),
            (Self::Value, Value::Gauge(gauge)) => gauge.value,
            (Self::Average, Value::Trend(histogram)) => histogram.mean_us() / 1e3,
            (Self::Min, Value::Trend(histogram)) => ms(histogram.min()),
            (Self::Max, Value::Trend(histogram)) => ms(histogram.max()),
            (Self::Median, Value::Trend(histogram)) => histogram.interpolated_us(50.0) / 1e3,
            (Self::Percentile(percent), Value::Trend(histogram)) => histogram.interpolated_us(percent) / 1e3,
            _ => return None,
        })
    }
}

/// As k6 writes it.
impl fmt::Display for Aggregation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Count => "count",
            Self::Rate => "rate",
            Self::Value => "value",
            Self::Average => "avg",
            Self::Min => "min",
            Self::Max => "max",
            Self::Median => "med",
            Self::Percentile(percent) => return write!(f, "p({percent})"),
        })
    }
}
