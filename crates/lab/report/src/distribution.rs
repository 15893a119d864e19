//! The figures that represent a histogram in every report.

use std::time::Duration;

use plimsoll_load::histogram::Histogram;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A distribution of durations, in microseconds. All zero when `count` is zero.
///
/// Percentiles are k6's, as in thresholds: interpolated between the two nearest samples, each of which is known within
/// 0.1 %. `count`, `min`, `mean` and `max` are exact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Distribution {
    /// Number of samples.
    pub count: u64,
    /// Shortest sample.
    pub min: u64,
    /// Arithmetic mean.
    pub mean: f64,
    /// Median.
    pub p50: u64,
    /// 90th percentile.
    pub p90: u64,
    /// 95th percentile.
    pub p95: u64,
    /// 99th percentile.
    pub p99: u64,
    /// 99.9th percentile.
    pub p99_9: u64,
    /// Longest sample.
    pub max: u64,
}

impl From<&Histogram> for Distribution {
    fn from(histogram: &Histogram) -> Self {
        let at = |percent| micros(percentile(histogram, percent));
        Self {
            count: histogram.count(),
            min: micros(histogram.min()),
            mean: histogram.mean_us(),
            p50: at(50.0),
            p90: at(90.0),
            p95: at(95.0),
            p99: at(99.0),
            p99_9: at(99.9),
            max: micros(histogram.max()),
        }
    }
}

/// The duration that `percentile` (0 to 100) of the samples do not exceed, to a microsecond: the definition of all
/// percentiles, see [`Distribution`]. Zero when the histogram is empty.
pub fn percentile(histogram: &Histogram, percentile: f64) -> Duration {
    Duration::from_micros(histogram.interpolated_us(percentile).round() as u64)
}

/// The figure that k6 calls `stat` (`avg`, `min`, `med`, `max`, `count` or `p(N)`): milliseconds, bytes or plain
/// numbers. `None` if there is no such figure. For summaries whose figures the user chooses.
///
/// Percentiles and the median are k6's: interpolated between the two nearest samples, each of which is known within 0.1
/// %. The other figures are exact, with samples rounded to a microsecond (or thousandth).
pub fn trend_figure(histogram: &Histogram, stat: &str) -> Option<f64> {
    let ms = |duration: Duration| duration.as_secs_f64() * 1e3;
    Some(match stat {
        "avg" => histogram.mean_us() / 1e3,
        "min" => ms(histogram.min()),
        "med" => histogram.interpolated_us(50.0) / 1e3,
        "max" => ms(histogram.max()),
        "count" => histogram.count() as f64,
        _ => {
            let percent: f64 = stat.strip_prefix("p(")?.strip_suffix(')')?.parse().ok()?;
            histogram.interpolated_us((0.0..=100.0).contains(&percent).then_some(percent)?) / 1e3
        }
    })
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    #[test]
    fn has_the_documented_keys() {
        let mut histogram = Histogram::new();
        for ms in 1..=1000 {
            histogram.record(Duration::from_millis(ms));
        }
        let json = serde_json::to_string_pretty(&Distribution::from(&histogram)).unwrap();
        expect![[r#"
            {
              "count": 1000,
              "min": 1000,
              "mean": 500500.0,
              "p50": 500735,
              "p90": 900197,
              "p95": 950322,
              "p99": 990217,
              "p99_9": 999424,
              "max": 1000000
            }"#]]
        .assert_eq(&json);
    }

    #[test]
    fn nothing_recorded_is_all_zero() {
        assert_eq!(Distribution::from(&Histogram::new()), Distribution::default());
    }

    #[test]
    fn chosen_figures_have_the_names_of_k6() {
        let mut histogram = Histogram::new();
        for ms in [1, 2, 3, 4] {
            histogram.record(Duration::from_millis(ms));
        }
        for (stat, expected) in [
            ("avg", Some(2.5)),
            ("min", Some(1.0)),
            ("med", Some(2.5)),
            ("max", Some(4.0)),
            ("count", Some(4.0)),
            ("p(100)", Some(4.0)),
            ("p(75.5)", Some(3.265)),
            ("p(101)", None),
            ("p95", None),
            ("", None),
        ] {
            let found = trend_figure(&histogram, stat);
            let is_near = |(found, expected): (f64, f64)| (found - expected).abs() < 0.01;
            assert!(found.is_some() == expected.is_some(), "{stat}: {found:?}");
            assert!(found.zip(expected).is_none_or(is_near), "{stat}: {found:?}");
        }
    }

    #[test]
    fn chosen_percentiles_agree_with_the_fixed_ones() {
        let mut histogram = Histogram::new();
        for us in 1..=10_000 {
            histogram.record(Duration::from_micros(us));
        }
        let fixed = Distribution::from(&histogram);
        for (chosen, expected) in [
            (0.0, fixed.min),
            (50.0, fixed.p50),
            (99.9, fixed.p99_9),
            (100.0, fixed.max),
        ] {
            assert_eq!(micros(percentile(&histogram, chosen)), expected, "{chosen}");
        }
    }
}
