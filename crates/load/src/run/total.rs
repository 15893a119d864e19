//! The sum of what all workers have reported.

use std::time::{Duration, SystemTime};

use super::{BuiltIn, Failures, Iterations, Progress, RunError, RunResult, account::Delta, worker::Report};
use crate::{generator::Evidence, metrics::MetricSet};

pub(super) struct Total {
    metrics: MetricSet,
    built_in: BuiltIn,
    iterations: Iterations,
    failures: Failures,
    max_vus: u32,
    n_not_ready: usize,
    /// Active virtual users of each worker, as it last reported.
    active_vus: Vec<u32>,
}

impl Total {
    pub(super) fn new(mut metrics: MetricSet, built_in: BuiltIn, n_workers: usize, max_vus: u32) -> Self {
        metrics.set(built_in.vus_max, f64::from(max_vus));
        Self {
            metrics,
            built_in,
            iterations: Iterations::default(),
            failures: Failures::default(),
            max_vus,
            n_not_ready: n_workers,
            active_vus: vec![0; n_workers],
        }
    }

    pub(super) fn add(&mut self, report: Report) -> Result<(), RunError> {
        match report {
            Report::Ready => self.n_not_ready = self.n_not_ready.saturating_sub(1),
            Report::Failed(error) => return Err(error),
            Report::Delta(delta) => self.merge(&delta),
        }
        Ok(())
    }

    /// Whether every worker has made its virtual users.
    pub(super) fn all_ready(&self) -> bool {
        self.n_not_ready == 0
    }

    /// The state `elapsed` after the start; samples the gauge of active users.
    pub(super) fn progress(&mut self, elapsed: Duration) -> Progress<'_> {
        let active_vus = self.active_vus.iter().sum();
        self.metrics.set(self.built_in.vus, f64::from(active_vus));
        Progress {
            elapsed,
            active_vus,
            max_vus: self.max_vus,
            n_iterations_complete: self.iterations.n_complete,
            n_interrupted: self.iterations.n_interrupted,
            metrics: &self.metrics,
        }
    }

    pub(super) fn into_result(
        self,
        started_at: SystemTime,
        duration: Duration,
        generator: Evidence,
    ) -> RunResult {
        RunResult {
            metrics: self.metrics,
            started_at,
            duration,
            iterations: self.iterations,
            max_vus: self.max_vus,
            failures: self.failures,
            generator,
        }
    }

    fn merge(&mut self, delta: &Delta) {
        self.metrics.merge(&delta.metrics);
        self.iterations.n_complete += delta.iterations.n_complete;
        self.iterations.n_interrupted += delta.iterations.n_interrupted;
        self.failures.merge(&delta.failures);
        self.active_vus[delta.worker] = delta.active_vus;
    }
}
