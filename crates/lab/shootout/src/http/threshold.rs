//! Thresholds of a run: a measure and one of k6's rules.

use std::{fmt, str::FromStr, time::Duration};

use plimsoll_load::threshold::{Aggregation, Expression};
use plimsoll_report::trend_figure;

use super::{measures, tally::Tally};

/// The measure of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Measure {
    /// The time of complete requests, in milliseconds.
    Latency,
    /// Complete requests.
    Requests,
    /// Failed requests, of all that were started.
    Failed,
    /// Responses with another status than 2xx, of all complete requests.
    Non2xx,
}

const MEASURES: [(&str, Measure); 4] = [
    ("latency", Measure::Latency),
    ("requests", Measure::Requests),
    ("failed", Measure::Failed),
    ("non_2xx", Measure::Non2xx),
];

/// One threshold.
#[derive(Debug, Clone, PartialEq)]
pub struct Threshold {
    measure: Measure,
    rule: Expression,
}

/// The result of a threshold.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// The threshold as the user wrote it.
    pub threshold: String,
    /// The compared aggregation of the metric, for example `p(95)`.
    pub aggregation: String,
    /// The metric that has it in the summary.
    pub metric: &'static str,
    /// The value that was compared with the limit.
    pub value: f64,
    /// Whether it holds.
    pub passed: bool,
}

impl Threshold {
    /// A rule about a measure.
    ///
    /// # Errors
    /// When the measure has not what the rule compares, in words for people.
    pub fn new(measure: Measure, rule: Expression) -> Result<Self, String> {
        let is_of_latency = !matches!(
            rule.aggregation,
            Aggregation::Count | Aggregation::Rate | Aggregation::Value
        );
        let suits = match measure {
            Measure::Latency => is_of_latency,
            _ => matches!(rule.aggregation, Aggregation::Count | Aggregation::Rate),
        };
        if suits {
            return Ok(Self { measure, rule });
        }
        let has = if measure == Measure::Latency {
            "avg, min, med, max and p(N)"
        } else {
            "count and rate"
        };
        Err(format!("{measure} has no {}; it has {has}", rule.aggregation))
    }

    /// Whether it is about failed requests.
    pub(crate) fn is_of_failures(&self) -> bool {
        self.measure == Measure::Failed
    }

    /// Judges a run of which `elapsed` counts.
    pub(crate) fn judge(&self, tally: &Tally, elapsed: Duration) -> Finding {
        let share = |n: u64, of: u64| if of == 0 { 0.0 } else { n as f64 / of as f64 };
        let is_count = self.rule.aggregation == Aggregation::Count;
        let value = match self.measure {
            Measure::Latency => {
                trend_figure(&tally.total.histogram, &self.rule.aggregation.to_string()).unwrap_or_default()
            }
            Measure::Requests if is_count => tally.n_complete as f64,
            Measure::Requests if elapsed.is_zero() => 0.0,
            Measure::Requests => tally.n_complete as f64 / elapsed.as_secs_f64(),
            Measure::Failed if is_count => tally.failures.total() as f64,
            Measure::Failed => share(tally.failures.total(), tally.n_started),
            Measure::Non2xx if is_count => tally.n_non_2xx as f64,
            Measure::Non2xx => share(tally.n_non_2xx, tally.n_complete),
        };
        Finding {
            threshold: self.to_string(),
            aggregation: self.rule.aggregation.to_string(),
            metric: match self.measure {
                Measure::Latency => measures::LATENCY,
                Measure::Requests => measures::COMPLETE,
                Measure::Failed if is_count => measures::FAILED,
                Measure::Failed => measures::FAILED_SHARE,
                Measure::Non2xx if is_count => measures::NON_2XX,
                Measure::Non2xx => measures::NON_2XX_SHARE,
            },
            value,
            passed: self.rule.holds(value),
        }
    }
}

impl fmt::Display for Threshold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.measure, self.rule)
    }
}

impl fmt::Display for Measure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = MEASURES.iter().find(|(_, measure)| measure == self);
        f.write_str(name.map_or("", |(name, _)| name))
    }
}

impl FromStr for Measure {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = MEASURES.iter().find(|(name, _)| *name == text);
        let names = MEASURES.map(|(name, _)| name).join(", ");
        found
            .map(|(_, measure)| *measure)
            .ok_or_else(|| format!("{text:?} is not a measure; expected one of {names}"))
    }
}

#[cfg(test)]
mod tests {
    use super::{super::failures::Kind, *};

    fn judge(measure: &str, rule: &str) -> Result<(f64, bool), String> {
        let mut tally = Tally {
            n_started: 11,
            n_complete: 10,
            n_non_2xx: 1,
            ..Tally::default()
        };
        (1..=10).for_each(|ms| tally.total.record(Duration::from_millis(ms)));
        tally.failures.count(Kind::Receive, "x".into());
        let threshold = Threshold::new(
            measure.parse()?,
            rule.parse().map_err(|error| format!("{error}"))?,
        )?;
        let finding = threshold.judge(&tally, Duration::from_secs(2));
        Ok((finding.value, finding.passed))
    }

    #[test]
    fn measures_have_their_figures() {
        let check = |measure: &str, rule: &str, value: f64, passed: bool| {
            let (found, found_passed) = judge(measure, rule).unwrap();
            assert!((found - value).abs() < 0.01, "{measure}:{rule}: {found}");
            assert_eq!(found_passed, passed, "{measure}:{rule}");
        };
        check("latency", "max<10", 10.0, false);
        check("latency", "p(50)<6", 5.5, true);
        check("requests", "rate>4", 5.0, true);
        check("requests", "count==10", 10.0, true);
        check("failed", "count==0", 1.0, false);
        check("failed", "rate<0.1", 1.0 / 11.0, true);
        check("non_2xx", "rate<0.1", 0.1, false);
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        for (measure, rule, words) in [
            ("latency", "rate<1", "avg, min, med, max and p(N)"),
            ("failed", "p(9)<1", "count and rate"),
            ("x", "p(9)<1", "latency, requests, failed, non_2xx"),
        ] {
            let error = judge(measure, rule).unwrap_err();
            assert!(error.contains(words), "{error}");
        }
    }
}
