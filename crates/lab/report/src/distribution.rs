//! The figures that represent a histogram in every report.

use std::time::Duration;

use plimsoll_load::histogram::Histogram;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A distribution of durations, in microseconds. All zero when `count` is zero.
///
/// Percentiles are k6's, as in thresholds: interpolated between the two nearest samples. They are exact for up to 256
/// samples; of more, each sample is known within 0.1 %. `count`, `min`, `mean` and `max` are exact.
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
    /// Figures of this length and more are lower bounds: samples among them stand for messages that were lost, with the
    /// time that was waited. `None` if nothing was lost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lower_bounds_from: Option<u64>,
}

/// How close to the bound a figure counts as one, because samples are known within 0.1 %.
const BOUND_WITHIN: f64 = 0.999;

impl Distribution {
    /// The same, where figures from this time on are lower bounds.
    #[must_use]
    pub fn bounded_from(self, waited: Option<Duration>) -> Self {
        Self {
            lower_bounds_from: waited.map(micros),
            ..self
        }
    }

    /// Whether a figure of this distribution is a lower bound only.
    pub fn is_lower_bound(&self, us: u64) -> bool {
        self.lower_bounds_from
            .is_some_and(|from| us as f64 >= from as f64 * BOUND_WITHIN)
    }

    /// The mark of a figure that is a lower bound, `> `, or nothing.
    pub fn mark(&self, us: u64) -> &'static str {
        if self.is_lower_bound(us) { "> " } else { "" }
    }
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
            lower_bounds_from: None,
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
/// Percentiles and the median are k6's, interpolated between the two nearest samples: exact for up to 256 samples, and
/// within 0.1 % for more. The other figures are exact, with samples rounded to a microsecond (or thousandth).
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
    fn figures_of_lost_messages_are_lower_bounds() {
        let mut histogram = Histogram::new();
        for us in [10, 20, 2_000] {
            histogram.record(Duration::from_micros(us));
        }
        let all = Distribution::from(&histogram);
        let bounded = all.bounded_from(Some(Duration::from_micros(2_000)));
        assert_eq!(
            [10, 1_997, 1_999, 2_000].map(|us| bounded.mark(us)),
            ["", "", "> ", "> "]
        );
        assert_eq!(all.mark(2_000), "");
        // Summaries without losses have no such field, as before.
        assert!(!serde_json::to_string(&all).unwrap().contains("lower"));
        let json = serde_json::to_string(&bounded).unwrap();
        assert_eq!(serde_json::from_str::<Distribution>(&json).unwrap(), bounded);
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
            ("p(75)", Some(3.25)),
            ("p(101)", None),
            ("p95", None),
            ("", None),
        ] {
            let found = trend_figure(&histogram, stat);
            assert_eq!(found, expected, "{stat}");
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
