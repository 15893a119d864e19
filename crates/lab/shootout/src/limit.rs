//! Thresholds of `broadcast`, `echo` and `connect`: k6's expressions on the metrics of the summary, over the whole run.

use std::{fmt, str::FromStr, time::Duration};

use plimsoll_load::{
    metrics::{Kind, MetricSet},
    threshold::{Expression, Rule, Rules, Thresholds},
};
use plimsoll_report::summary::Threshold;

use crate::{measures::Measures, outcome::Workload};

/// A threshold on one metric, for example `rtt:p(95)<200`.
#[derive(Debug, Clone, PartialEq)]
pub struct Limit {
    metric: String,
    expression: Expression,
}

impl Limit {
    /// Checks that a workload measures the metric, and that the metric has the aggregation.
    ///
    /// # Errors
    /// The reason, for people.
    pub fn check(&self, workload: Workload) -> Result<(), String> {
        let (_, metrics) = Measures::new();
        self.check_among(workload.name(), &Measures::names(workload), &metrics)
    }

    /// Checks it against the metrics that `bench NAME` measures.
    pub(crate) fn check_among(&self, name: &str, names: &[&str], metrics: &MetricSet) -> Result<(), String> {
        if !names.contains(&self.metric.as_str()) {
            return Err(format!(
                "--threshold {self}: bench {name} does not measure {}; it measures {}",
                self.metric,
                names.join(", ")
            ));
        }
        let checked = Thresholds::new(&rules([self]), &mut metrics.registry().clone());
        checked
            .map(drop)
            .map_err(|error| format!("--threshold {self}: {error}"))
    }
}

impl FromStr for Limit {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let problem = |what: &dyn fmt::Display| {
            format!("{what}; expected a metric and a condition, for example rtt:p(95)<200")
        };
        let (metric, expression) = text
            .split_once(':')
            .ok_or_else(|| problem(&"there is no colon between metric and condition"))?;
        Ok(Self {
            metric: metric.trim().to_owned(),
            expression: expression.trim().parse().map_err(|error| problem(&error))?,
        })
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.metric, self.expression)
    }
}

/// The state of all thresholds after `elapsed`. A counter without samples is zero; a distribution without samples holds
/// nothing.
pub(crate) fn judge(limits: &[Limit], metrics: &MetricSet, elapsed: Duration) -> Vec<Threshold> {
    let mut registry = metrics.registry().clone();
    // The caller has checked them against the same metrics.
    let Ok(mut thresholds) = Thresholds::new(&rules(limits), &mut registry) else {
        return Vec::new();
    };
    thresholds.conclude(metrics, elapsed);
    let findings = thresholds.findings().into_iter().map(|finding| {
        let is_counter = registry.definition(finding.id).kind == Kind::Counter;
        let value = finding.value.or(is_counter.then_some(0.0));
        Threshold {
            key: finding.metric.clone(),
            metric: finding.metric,
            expression: finding.expression,
            aggregation: finding.aggregation,
            passed: finding.passed && value.is_some(),
            value,
            aborted: false,
        }
    });
    findings.collect()
}

fn rules<'a>(limits: impl IntoIterator<Item = &'a Limit>) -> Rules {
    let mut rules = Rules::new();
    for limit in limits {
        rules.entry(limit.metric.clone()).or_default().push(Rule {
            expression: limit.expression.clone(),
            abort_on_fail: false,
            delay_abort_eval: Duration::ZERO,
        });
    }
    rules
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thresholds_are_judged_by_the_whole_run() {
        let (measures, mut metrics) = Measures::new();
        (1..=10).for_each(|ms| measures.answered(&mut metrics, Duration::from_millis(ms)));
        (0..10).for_each(|_| measures.sent(&mut metrics));
        for (text, value, passed) in [
            ("rtt:max<=10", Some(10.0), true),
            ("rtt:max<10", Some(10.0), false),
            ("messages_sent:count==10", Some(10.0), true),
            ("messages_sent:rate>5", Some(5.0), false),
            ("deliveries:count==0", Some(0.0), true),
            // No broadcast reached all listeners, so nothing is known of the time that it takes.
            ("delivery:p(95)<1000", None, false),
        ] {
            let limit: Limit = text.parse().unwrap();
            assert_eq!(limit.check(Workload::Broadcast), Ok(()));
            let judged = judge(&[limit], &metrics, Duration::from_secs(2));
            let [found] = judged.as_slice() else {
                panic!("{text}: {judged:?}");
            };
            let (value_found, expected) = (found.value.map(f64::round), value);
            assert_eq!((value_found, found.passed), (expected, passed), "{text}");
        }
    }

    #[test]
    fn a_threshold_that_cannot_be_judged_is_refused() {
        for (text, workload, words) in [
            ("rtt", Workload::Echo, "there is no colon"),
            ("rtt:p95<1", Workload::Echo, "`p95` is not an aggregation"),
            (
                "rtt:p(95)<1",
                Workload::Connect,
                "bench connect does not measure rtt; it measures connect, ws_tcp",
            ),
            (
                "delivery:p(95)<1",
                Workload::Echo,
                "bench echo does not measure delivery",
            ),
            ("rtt:count<1", Workload::Echo, "a trend has no `count`"),
        ] {
            let limit = text.parse::<Limit>().and_then(|limit| limit.check(workload));
            let error = limit.unwrap_err();
            assert!(error.contains(words), "{text}: {error}");
        }
    }
}
