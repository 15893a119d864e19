//! Objectives of every step: `rtt p(95)<500`, `http_req_failed{name:login} rate<0.01`, `errors==0`.
//!
//! An objective is a metric and one of k6's threshold expressions, checked before the search against the test's
//! metrics. A missing aggregation is the only one that the kind of metric has.

use std::time::Duration;

use plimsoll_load::{
    metrics::{Contains, Kind, MetricSet, Registry},
    nearest::nearest,
    threshold::{Expression, Operator, Rule, Rules, ThresholdError, Thresholds},
};

/// The counter of failed iterations, unless the test itself has a metric of this name.
pub const ERRORS: &str = "errors";

/// The counter of lost messages, for workloads that count them.
pub const LOST: &str = "lost";

/// What has to hold.
#[derive(Clone, Debug, PartialEq)]
pub struct Objective {
    text: String,
    /// The metric as written, with its tags.
    metric: String,
    expression: Expression,
    kind: Kind,
    contains: Contains,
    /// Whether the objective also holds without samples. For defaults, which name metrics that a test may not have.
    is_lenient: bool,
}

/// An objective that cannot be judged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ObjectiveError {
    /// The text is not a metric with an expression.
    #[error(
        "the objective `{text}` is not valid: {problem}; expected a metric and a condition, for example \
         'rtt p(95)<500' or 'errors==0'"
    )]
    Syntax {
        /// What was written.
        text: String,
        /// What is wrong with it.
        problem: String,
    },
    /// The test has no such metric.
    #[error("the objective `{text}` uses the metric `{metric}`, which this test does not have; {hint}")]
    UnknownMetric {
        /// What was written.
        text: String,
        /// Its metric.
        metric: String,
        /// The most similar name, or the existing ones.
        hint: String,
    },
    /// The metric cannot be judged so.
    #[error("the objective `{text}`: {error}")]
    Threshold {
        /// What was written.
        text: String,
        /// What is wrong with it.
        error: ThresholdError,
    },
}

/// The subject of an objective: what failed if it does not hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Concern {
    /// A duration.
    Latency,
    /// What failed.
    Errors,
    /// What did not arrive.
    Losses,
    /// Anything else that the test measures.
    Other,
}

/// The unit of an objective's values, for charts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Measure {
    /// Milliseconds.
    Milliseconds,
    /// Bytes.
    Bytes,
    /// 0 to 1.
    Share,
    /// Anything else.
    Number,
}

/// The result of an objective after a step.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// Whether it holds.
    pub held: bool,
    /// The compared value: milliseconds, bytes, plain numbers or shares. `None` without samples.
    pub value: Option<f64>,
}

/// What objectives are judged by.
#[derive(Clone, Copy, Debug)]
pub struct Samples<'a> {
    /// Metrics of all iterations that began in the steady part.
    pub all: &'a MetricSet,
    /// Metrics of the steady part itself, for counts per second.
    pub within: &'a MetricSet,
    /// Its length.
    pub elapsed: Duration,
}

impl Objective {
    /// Parses an objective on one of these metrics.
    ///
    /// # Errors
    /// The text is invalid, or the metric or aggregation does not exist.
    pub fn parse(text: &str, registry: &Registry) -> Result<Self, ObjectiveError> {
        let (metric, expression) = split(text)?;
        let name = metric.split('{').next().unwrap_or(metric).trim();
        let definition = registry
            .find(name)
            .map(|id| registry.definition(id))
            .ok_or_else(|| ObjectiveError::UnknownMetric {
                text: text.to_owned(),
                metric: name.to_owned(),
                hint: hint(name, registry),
            })?;
        let expression = complete(expression, definition.kind).ok_or_else(|| ObjectiveError::Syntax {
            text: text.to_owned(),
            problem: format!(
                "`{name}` is a distribution, so it needs an aggregation: avg, min, med, max or p(95)"
            ),
        })?;
        let threshold = |error| ObjectiveError::Threshold {
            text: text.to_owned(),
            error,
        };
        let objective = Self {
            text: text.trim().to_owned(),
            metric: metric.to_owned(),
            expression: expression.parse().map_err(threshold)?,
            kind: definition.kind,
            contains: definition.contains,
            is_lenient: false,
        };
        Thresholds::new(&rules([&objective]), &mut registry.clone()).map_err(threshold)?;
        Ok(objective)
    }

    /// Turns a threshold into an objective.
    ///
    /// # Errors
    /// As for [`Self::parse`].
    pub fn of_threshold(metric: &str, rule: &Rule, registry: &Registry) -> Result<Self, ObjectiveError> {
        Self::parse(&format!("{metric} {}", rule.expression), registry)
    }

    /// Makes the objective also hold without samples.
    #[must_use]
    pub fn lenient(self) -> Self {
        Self {
            is_lenient: true,
            ..self
        }
    }

    /// As it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The title for a column: the metric and its aggregation, which a plain count omits.
    pub fn title(&self) -> String {
        match self.kind {
            Kind::Trend => format!("{} {}", self.metric, self.expression.aggregation),
            Kind::Counter | Kind::Gauge | Kind::Rate => self.metric.clone(),
        }
    }

    /// What it is about.
    pub fn concern(&self) -> Concern {
        let name = self.metric.split('{').next().unwrap_or_default();
        match self.kind {
            Kind::Trend if self.contains == Contains::Time => Concern::Latency,
            _ if name == LOST => Concern::Losses,
            _ if [ERRORS, "checks"].contains(&name) || name.ends_with("_failed") => Concern::Errors,
            _ => Concern::Other,
        }
    }

    /// Whether it is about failed iterations.
    pub fn is_about_errors(&self) -> bool {
        self.metric == ERRORS
    }

    /// Judges samples. A metric without samples fails, except counters, which are then 0: a target that answers nothing
    /// is not fast.
    pub fn judge(&self, samples: Samples<'_>) -> Finding {
        let per_second = self.kind == Kind::Counter
            && self.expression.aggregation == plimsoll_load::threshold::Aggregation::Rate;
        let metrics = if per_second { samples.within } else { samples.all };
        let thresholds = Thresholds::new(&rules([self]), &mut metrics.registry().clone());
        // The objective was made from the same metrics.
        let value = thresholds.ok().and_then(|mut thresholds| {
            thresholds.conclude(metrics, samples.elapsed);
            thresholds.findings().first().and_then(|finding| finding.value)
        });
        let value = match self.kind {
            Kind::Counter => Some(value.unwrap_or(0.0)),
            Kind::Gauge | Kind::Rate | Kind::Trend => value,
        };
        Finding {
            held: value.map_or(self.is_lenient, |value| self.expression.holds(value)),
            value,
        }
    }

    /// The unit of its values.
    pub fn measure(&self) -> Measure {
        match (self.kind, self.contains) {
            (Kind::Rate, _) => Measure::Share,
            (_, Contains::Data) => Measure::Bytes,
            (Kind::Trend, Contains::Time) => Measure::Milliseconds,
            _ => Measure::Number,
        }
    }

    /// The limit of its values.
    pub fn limit(&self) -> f64 {
        self.expression.limit
    }

    /// Formats one of its values for people.
    pub fn shown(&self, value: f64) -> String {
        use plimsoll_report::quantity;
        match self.measure() {
            Measure::Share => quantity::percent(value),
            Measure::Bytes => quantity::bytes(value),
            Measure::Milliseconds => quantity::duration(rounded(value)),
            Measure::Number => quantity::number((value * 100.0).round() / 100.0),
        }
    }

    /// The measured value and the limit: `rtt p(95) 612ms of 500ms allowed`.
    pub fn complaint(&self, value: Option<f64>) -> String {
        let title = self.title();
        let limit = self.shown(self.expression.limit);
        let Some(value) = value else {
            return format!("{title}: nothing was measured");
        };
        let value = self.shown(value);
        match self.expression.operator {
            Operator::Less | Operator::LessOrEqual => format!("{title} {value} of {limit} allowed"),
            Operator::Greater | Operator::GreaterOrEqual => {
                format!("{title} {value}, at least {limit} required")
            }
            Operator::Equal if self.expression.limit == 0.0 => format!("{title} {value}, none allowed"),
            Operator::Equal => format!("{title} {value} instead of {limit}"),
            Operator::NotEqual => format!("{title} is {value}"),
        }
    }
}

/// The objectives as thresholds of a run, so that the sub-metrics they need are kept.
pub fn rules<'a>(objectives: impl IntoIterator<Item = &'a Objective>) -> Rules {
    let mut rules = Rules::new();
    for objective in objectives {
        rules.entry(objective.metric.clone()).or_default().push(Rule {
            expression: objective.expression.clone(),
            abort_on_fail: false,
            delay_abort_eval: Duration::ZERO,
        });
    }
    rules
}

/// Splits a metric with its tags from the expression.
fn split(text: &str) -> Result<(&str, &str), ObjectiveError> {
    let error = |problem: &str| ObjectiveError::Syntax {
        text: text.to_owned(),
        problem: problem.to_owned(),
    };
    let text = text.trim();
    let end_of_tags = text.rfind('}').map_or(0, |at| at + 1);
    let operator = text[end_of_tags..]
        .find(['<', '>', '=', '!'])
        .map(|at| at + end_of_tags)
        .ok_or_else(|| error("it has no comparison operator"))?;
    let metric = match end_of_tags {
        0 => text[..operator].split_whitespace().next().unwrap_or_default(),
        end => &text[..end],
    };
    if metric.is_empty() {
        return Err(error("it has no metric"));
    }
    Ok((metric, text[metric.len()..].trim()))
}

/// The expression with its aggregation. `None` if a required one is missing.
fn complete(expression: &str, kind: Kind) -> Option<String> {
    if !expression.starts_with(['<', '>', '=', '!']) {
        return Some(expression.to_owned());
    }
    let aggregation = match kind {
        Kind::Counter => "count",
        Kind::Gauge => "value",
        Kind::Rate => "rate",
        Kind::Trend => return None,
    };
    Some(format!("{aggregation}{expression}"))
}

fn hint(name: &str, registry: &Registry) -> String {
    let wholes = || {
        let definitions = registry.definitions().iter();
        definitions
            .filter(|it| it.selection.is_none())
            .map(|it| it.name.as_str())
    };
    match nearest(name, wholes()) {
        Some(name) => format!("did you mean `{name}`?"),
        None => {
            let names: Vec<_> = wholes().collect();
            format!("it has: {}", names.join(", "))
        }
    }
}

/// Rounds to three digits, enough for comparisons by people.
fn rounded(ms: f64) -> Duration {
    let us = (ms.max(0.0) * 1e3).round();
    let unit = 10_f64.powf((us.max(1.0).log10().floor() - 2.0).max(0.0));
    Duration::from_micros(((us / unit).round() * unit) as u64)
}

#[cfg(test)]
mod tests;
