//! What happened in a stretch of a run: between two looks of its observer, or after the last one.

use std::time::Duration;

use super::Iterations;
use crate::{generator::Glance, metrics::MetricSet};

/// What workers reported since the run was looked at before.
///
/// The stretches of a run and its [rest](super::RunResult::rest) together hold each sample exactly once. Workers report
/// at full seconds, so a sample is in the stretch of the second in which it was recorded; one of a worker that was too
/// busy to report in time is in a later stretch.
#[derive(Clone, Debug)]
pub struct Stretch {
    /// When it begins, since the start of the run: a full second, at which the stretch before it ends. What setup
    /// recorded is in the one that begins at zero.
    pub start: Duration,
    /// When it ends: a full second; of the rest, when the last iteration ended. What teardown recorded is in the rest.
    pub end: Duration,
    /// What was recorded.
    pub metrics: MetricSet,
    /// Iterations that ended.
    pub iterations: Iterations,
    /// Complete ones that failed, and other failures of virtual users.
    pub n_failed: u64,
    /// Virtual users that were active at the same moment, at the most.
    pub peak_vus: u32,
    /// What the generator itself did.
    pub generator: Glance,
}

impl Stretch {
    /// One in which nothing happened to `metrics`.
    pub fn empty(metrics: &MetricSet) -> Self {
        Self {
            start: Duration::ZERO,
            end: Duration::ZERO,
            metrics: metrics.empty(),
            iterations: Iterations::default(),
            n_failed: 0,
            peak_vus: 0,
            generator: Glance::default(),
        }
    }
}
