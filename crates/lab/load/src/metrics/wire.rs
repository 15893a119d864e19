//! The metrics of one machine in the form in which another one gets them, by name: JSON, made by
//! [`MetricSet::to_wire`](super::MetricSet::to_wire) and read by [`MetricSet::add_wire`](super::MetricSet::add_wire).
//!
//! Without samples it is `{}`; fields without values are omitted. Pairs and triples are arrays, in the order of the
//! fields' documentation.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Gauge, Kind, Place, Rate};
use crate::{
    causes::Causes,
    histogram::{Packed, UnpackError},
};

/// The values of a [`MetricSet`](super::MetricSet), to be sent.
///
/// It may hold anything when it comes in: [`MetricSet::add_wire`](super::MetricSet::add_wire) checks it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Metrics {
    /// Sums of counters. Sub-metrics have names such as `rtt{kind:b}`, here and below.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) counters: BTreeMap<String, Number>,
    /// Last, lowest and highest values of gauges.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) gauges: BTreeMap<String, [Number; 3]>,
    /// True and all samples of rates.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) rates: BTreeMap<String, [u64; 2]>,
    /// Samples of trends.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) trends: BTreeMap<String, Packed>,
    /// Passes and fails of registered checks.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) checks: BTreeMap<String, [u64; 2]>,
    /// Group, name, passes and fails of other checks, in the order in which they appeared.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) named_checks: Vec<(String, String, u64, u64)>,
    /// Counters that appeared during the run.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) tallies: BTreeMap<String, u64>,
    /// Events that appeared during the run.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) events: BTreeMap<String, u64>,
    /// Distributions of plain numbers that appeared during the run.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) distributions: BTreeMap<String, Packed>,
    /// Distributions of durations that appeared during the run; they are stored as numbers, too.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) times: BTreeMap<String, Packed>,
    /// Failures that did not end an iteration.
    #[serde(skip_serializing_if = "Causes::is_empty")]
    pub(super) faults: Causes,
    /// Failed connections, and attempts to connect. A connection may fail seconds after its attempt, so the first
    /// number may be the larger one.
    #[serde(skip_serializing_if = "is_zero")]
    pub(super) connections: [u64; 2],
    /// Paths of groups, in the order in which they were entered.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) groups: Vec<String>,
    /// Scenario, group and metrics of places, which themselves have no places.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) places: Vec<(String, String, Metrics)>,
}

impl Metrics {
    /// Leaves a gauge out.
    pub(crate) fn forget_gauge(&mut self, name: &str) {
        self.gauges.remove(name);
    }
}

/// A number that may be infinite or no number, which JSON has no form for: then it is a text.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "Written", into = "Written")]
pub(super) struct Number(pub(super) f64);

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Written {
    Finite(f64),
    Other(Other),
}

#[derive(Serialize, Deserialize)]
enum Other {
    #[serde(rename = "inf")]
    Infinity,
    #[serde(rename = "-inf")]
    MinusInfinity,
    #[serde(rename = "nan")]
    NotANumber,
}

/// Why metrics from another machine are refused. None of them were added.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WireError {
    /// The receiver has no such metric.
    #[error("the {kind} `{name}` is unknown; sender and receiver need the same version and the same test")]
    UnknownMetric {
        /// The sender's name.
        name: String,
        /// The sender's kind.
        kind: Kind,
    },
    /// The receiver has no such registered check.
    #[error("the check `{name}` is unknown; sender and receiver need the same version and the same test")]
    UnknownCheck {
        /// The sender's name.
        name: String,
    },
    /// The samples of a trend or distribution are invalid.
    #[error("invalid samples of `{name}`: {error}")]
    Samples {
        /// The metric.
        name: String,
        /// The problem.
        error: UnpackError,
    },
    /// A rate has more true samples than samples, or too many.
    #[error("the rate `{name}` cannot have {n_true} true samples of {n_total}")]
    Rate {
        /// The metric.
        name: String,
        /// Its true samples.
        n_true: u64,
        /// All its samples.
        n_total: u64,
    },
    /// The receiver keeps no metrics of places, or a place has places.
    #[error("unexpected metrics of the scenario `{}`, group `{}`", .0.scenario, .0.group)]
    Place(Place),
}

impl Gauge {
    pub(super) fn to_wire(self) -> [Number; 3] {
        [self.value, self.min, self.max].map(Number)
    }

    pub(super) fn from_wire([value, min, max]: [Number; 3]) -> Self {
        let [value, min, max] = [value.0, min.0, max.0];
        Self { value, min, max }
    }
}

impl Rate {
    pub(super) fn to_wire(self) -> [u64; 2] {
        [self.n_true, self.n_total]
    }

    pub(super) fn from_wire([n_true, n_total]: [u64; 2]) -> Self {
        Self { n_true, n_total }
    }
}

impl From<Number> for Written {
    fn from(Number(number): Number) -> Self {
        if number.is_finite() {
            Self::Finite(number)
        } else if number.is_nan() {
            Self::Other(Other::NotANumber)
        } else if number > 0.0 {
            Self::Other(Other::Infinity)
        } else {
            Self::Other(Other::MinusInfinity)
        }
    }
}

impl From<Written> for Number {
    fn from(written: Written) -> Self {
        Self(match written {
            Written::Finite(number) => number,
            Written::Other(Other::Infinity) => f64::INFINITY,
            Written::Other(Other::MinusInfinity) => f64::NEG_INFINITY,
            Written::Other(Other::NotANumber) => f64::NAN,
        })
    }
}

fn is_zero(pair: &[u64; 2]) -> bool {
    *pair == [0, 0]
}

#[cfg(test)]
mod tests;
