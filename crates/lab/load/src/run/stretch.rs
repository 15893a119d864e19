//! The metrics and counts of a stretch of a run: between two calls of its observer, or after the last one.

use std::time::Duration;

use super::{Iterations, Users};
use crate::{generator::Glance, metrics::MetricSet};

/// The reports of workers since the last observation of the run.
///
/// The stretches of a run and its [rest](super::RunResult::rest) together hold each sample exactly once. Workers report
/// at full seconds, so a sample is in the stretch of the second in which it was recorded; a sample of a worker that was
/// too busy to report in time is in a later stretch.
#[derive(Clone, Debug)]
pub struct Stretch {
    /// The beginning, since the start of the run: a full second, at which the previous stretch ends. Samples of setup
    /// are in the stretch that begins at zero.
    pub start: Duration,
    /// The end: a full second; for the rest, the end of the last iteration. Samples of teardown are in the rest.
    pub end: Duration,
    /// What was recorded.
    pub metrics: MetricSet,
    /// Iterations that ended.
    pub iterations: Iterations,
    /// Failed complete iterations, and other failures of virtual users.
    pub n_failed: u64,
    /// The active virtual users.
    pub users: Users,
    /// What the generator itself did.
    pub generator: Glance,
}

impl Stretch {
    /// A stretch without samples of `metrics`.
    pub fn empty(metrics: &MetricSet) -> Self {
        Self {
            start: Duration::ZERO,
            end: Duration::ZERO,
            metrics: metrics.empty(),
            iterations: Iterations::default(),
            n_failed: 0,
            users: Users::default(),
            generator: Glance::default(),
        }
    }
}
