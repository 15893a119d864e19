//! A run over time: up to 512 intervals of equal length.
//!
//! A [`Recorder`] is fed once per second during the run. When its intervals are used up, neighbours are merged and the
//! length doubles (1 s, 2 s, 4 s …): counts add, samples merge, levels keep the last value. So a timeline is as large
//! after a week as after ten minutes, and its sums are exactly the totals of the run.
//!
//! Percentiles of an interval come from its own samples. Those are kept in bins of a 32nd of an octave, so a percentile
//! is within 1.1 % of the whole histogram's; counts, sums and maxima are exact.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::summary::number;

mod axis;
mod bins;
mod recorder;
mod sampled;
mod spread;
mod track;

pub use self::{
    axis::Axis,
    recorder::{MAX_NUMBERS, Recorded, Recorder},
    sampled::{Fold, Sampled},
};

/// The most intervals. Reason: more than a screen has points for a curve; half of them are left after a merge.
pub const MAX_INTERVALS: usize = 512;

/// Bins of [`Series::Trend`]'s `heat` per doubling: each is 9 % wide.
pub const HEAT_BINS_PER_OCTAVE: u32 = 8;

/// What happened when. The i-th entry of every list is the interval from i·`interval_seconds` on, since the start of
/// the first virtual user. The last interval ends with the run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Timeline {
    /// Length of an interval: 1, 2, 4, 8 …
    pub interval_seconds: u32,
    /// The number of intervals, at most 512.
    pub n_intervals: usize,
    /// The most virtual users active at the same moment.
    pub vus: Vec<u32>,
    /// Iterations that ran to their end.
    pub iterations: Vec<u64>,
    /// Failed iterations among them, and other failures of virtual users.
    pub failed: Vec<u64>,
    /// All metrics with samples, under the names that they have in the summary.
    pub metrics: BTreeMap<String, Series>,
    /// Bins of `heat` per doubling: 8.
    pub heat_bins_per_octave: u32,
}

/// A metric over time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum Series {
    /// A sum.
    Counter {
        /// The amounts added. Integers in JSON if they are whole.
        #[serde(with = "number::list")]
        #[schemars(with = "Vec<Option<f64>>")]
        counts: Vec<f64>,
    },
    /// A level.
    Gauge {
        /// The last value; null without one.
        values: Vec<Option<f64>>,
    },
    /// The number of true and of all samples.
    Rate {
        /// Samples that were true.
        passes: Vec<u64>,
        /// All samples.
        totals: Vec<u64>,
    },
    /// A distribution: microseconds, or thousandths of plain numbers and of bytes. Figures are null without samples.
    Trend {
        /// Samples.
        counts: Vec<u64>,
        /// Arithmetic means, exact.
        means: Vec<Option<f64>>,
        /// Medians.
        p50: Vec<Option<u64>>,
        /// 90th percentiles.
        p90: Vec<Option<u64>>,
        /// 95th percentiles.
        p95: Vec<Option<u64>>,
        /// 99th percentiles.
        p99: Vec<Option<u64>>,
        /// Longest samples, exact.
        max: Vec<Option<u64>>,
        /// Bin and count in turn, in ascending order. Bin b holds samples from 2^(b/8) up to 2^((b+1)/8); bin 0 also
        /// holds zeros.
        heat: Vec<Vec<u64>>,
    },
}

impl Timeline {
    /// What its lists are about.
    pub fn axis(&self) -> Axis {
        Axis {
            interval_seconds: self.interval_seconds,
            n_intervals: self.n_intervals,
        }
    }
}

#[cfg(test)]
mod tests;
