//! What is wrong with a threshold.

use super::Aggregation;
use crate::metrics::Kind;

/// A threshold that cannot be evaluated. k6 ends with exit code 104.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ThresholdError {
    /// The expression does not read.
    #[error(
        "threshold `{expression}` is not valid: {problem}; expected an aggregation, a comparison and a number, for \
         example `p(95)<500` or `rate>0.9`"
    )]
    Syntax {
        /// The expression.
        expression: String,
        /// What is wrong with it.
        problem: String,
    },
    /// The part before the expression does not read.
    #[error(
        "`{metric}` does not name a metric: {problem}; expected something like `http_req_duration{{status:200}}`"
    )]
    Source {
        /// What was written.
        metric: String,
        /// What is wrong with it.
        problem: String,
    },
    /// The metric does not exist.
    #[error("a threshold uses the metric `{metric}`, which does not exist{suggestion}")]
    UnknownMetric {
        /// What was written.
        metric: String,
        /// `; did you mean …?`, or empty.
        suggestion: String,
    },
    /// The metric has no such aggregation.
    #[error(
        "threshold `{expression}` on `{metric}`: a {kind} has no `{aggregation}`; expected one of {}",
        Aggregation::names_for(*kind)
    )]
    WrongAggregation {
        /// The metric.
        metric: String,
        /// The expression.
        expression: String,
        /// Its aggregation.
        aggregation: String,
        /// The kind of metric.
        kind: Kind,
    },
}
