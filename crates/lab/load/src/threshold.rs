//! Thresholds: conditions for a run to pass (docs/protocols/k6.md, Thresholds).
//!
//! They are checked before the run, when all metrics are known, and evaluated on merged metrics during the run and at
//! its end.

use std::{collections::BTreeMap, time::Duration};

use crate::metrics::{Kind, MetricId, MetricSet, Registry, Value};

mod aggregation;
mod error;
mod expression;
mod source;

pub use self::{
    aggregation::Aggregation,
    error::ThresholdError,
    expression::{Expression, Operator},
};

/// Time between two evaluations during a run (k6's).
pub const EVALUATE_EVERY: Duration = Duration::from_secs(2);

/// What must hold, by metric: `http_req_duration` or `http_req_duration{status:200}`.
pub type Rules = BTreeMap<String, Vec<Rule>>;

/// One condition on a metric.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    /// What it is.
    pub expression: Expression,
    /// Whether the run ends early when it does not hold.
    pub abort_on_fail: bool,
    /// Before this time of the run it does not end it.
    pub delay_abort_eval: Duration,
}

/// How a rule stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// The metric as the rule names it.
    pub metric: String,
    /// The metric.
    pub id: MetricId,
    /// The rule as written.
    pub expression: String,
    /// The aggregation as written, for example `p(95)`.
    pub aggregation: String,
    /// What it was compared with the limit: milliseconds, bytes, plain numbers or shares. `None` when the metric
    /// has no samples.
    pub value: Option<f64>,
    /// Whether it holds.
    pub passed: bool,
    /// Whether it ended the run.
    pub aborted: bool,
}

/// The thresholds of one run.
#[derive(Clone, Debug, Default)]
pub struct Thresholds {
    watched: Vec<Watched>,
}

#[derive(Clone, Debug)]
struct Watched {
    metric: MetricId,
    name: String,
    rule: Rule,
    passed: bool,
    value: Option<f64>,
    aborted: bool,
}

impl Thresholds {
    /// Checks the rules against the existing metrics, and registers their sub-metrics.
    ///
    /// # Errors
    /// A metric does not exist, or has no such aggregation.
    pub fn new(rules: &Rules, registry: &mut Registry) -> Result<Self, ThresholdError> {
        let mut watched = Vec::new();
        for (name, rules) in rules {
            let metric = source::resolve(name, registry)?;
            let definition = registry.definition(metric);
            for rule in rules {
                if !rule.expression.aggregation.suits(definition.kind) {
                    return Err(ThresholdError::WrongAggregation {
                        metric: name.clone(),
                        expression: rule.expression.to_string(),
                        aggregation: rule.expression.aggregation.to_string(),
                        kind: definition.kind,
                    });
                }
                watched.push(Watched {
                    metric,
                    name: name.clone(),
                    rule: rule.clone(),
                    passed: true,
                    value: None,
                    aborted: false,
                });
            }
        }
        Ok(Self { watched })
    }

    /// Evaluates all rules of metrics with samples `elapsed` after the start. Returns true if one of them ends the run.
    pub fn evaluate(&mut self, metrics: &MetricSet, elapsed: Duration) -> bool {
        for watched in &mut self.watched {
            let Some(value) = metrics.value(watched.metric) else {
                continue;
            };
            watched.judge(Some(value), elapsed);
            let Rule {
                abort_on_fail,
                delay_abort_eval,
                ..
            } = watched.rule;
            watched.aborted |= abort_on_fail && !watched.passed && elapsed >= delay_abort_eval;
        }
        self.watched.iter().any(|watched| watched.aborted)
    }

    /// Evaluates all rules at the end, by k6's rules. A counter without samples is 0; a trend has no value then and is
    /// compared as 0; a rate without samples holds.
    pub fn conclude(&mut self, metrics: &MetricSet, duration: Duration) {
        for watched in &mut self.watched {
            watched.judge(metrics.value(watched.metric), duration);
            if watched.value.is_none() {
                let kind = metrics.registry().definition(watched.metric).kind;
                watched.value = (kind == Kind::Counter).then_some(0.0);
                watched.passed = kind == Kind::Rate || watched.rule.expression.holds(0.0);
            }
        }
    }

    /// The state of all rules, by metric.
    pub fn findings(&self) -> Vec<Finding> {
        let findings = self.watched.iter().map(|watched| Finding {
            metric: watched.name.clone(),
            id: watched.metric,
            expression: watched.rule.expression.to_string(),
            aggregation: watched.rule.expression.aggregation.to_string(),
            value: watched.value,
            passed: watched.passed,
            aborted: watched.aborted,
        });
        findings.collect()
    }
}

impl Watched {
    fn judge(&mut self, value: Option<Value<'_>>, elapsed: Duration) {
        let expression = &self.rule.expression;
        self.value = value.and_then(|value| expression.aggregation.of(&value, elapsed));
        self.passed = self.value.is_none_or(|value| expression.holds(value));
    }
}

#[cfg(test)]
mod tests;
