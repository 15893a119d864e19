//! The result of a run, and why it ended.

use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use super::{Failures, Iterations, Stretch};
use crate::{
    generator::{Evidence, Schedule},
    metrics::MetricSet,
    threshold::Finding,
};

/// The result of a run.
#[derive(Debug)]
pub struct RunResult {
    /// All metrics, including those of [`Execution`](crate::metrics::built_in::Execution).
    pub metrics: MetricSet,
    /// The part that was not observed: the last part of a second, and the samples at the end.
    pub rest: Stretch,
    /// When the first virtual user started.
    pub started_at: SystemTime,
    /// From the start to the end of the last iteration.
    pub duration: Duration,
    /// Why it ended.
    pub end: RunEnd,
    /// The outcomes of iterations.
    pub iterations: Iterations,
    /// Virtual users that existed.
    pub max_vus: u32,
    /// Why iterations failed.
    pub failures: Failures,
    /// The state of the thresholds.
    pub thresholds: Vec<Finding>,
    /// Why a virtual user marked the run as failed.
    pub marked_failed: Option<String>,
    /// What went wrong in teardown.
    pub teardown_failure: Option<StageFailure>,
    /// Messages for people.
    pub notices: Vec<String>,
    /// What the generator itself did; give it to [`crate::generator::judge`] together with the schedule and the latency
    /// that is reported.
    pub generator: Evidence,
    /// The fate of the iterations that arrival executors scheduled.
    pub schedule: Schedule,
}

/// Why a run ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunEnd {
    /// Everything was done.
    Complete,
    /// A person or a signal ended it.
    Shutdown,
    /// A threshold with `abortOnFail` ended it.
    ThresholdsCrossed,
    /// A virtual user ended it.
    Aborted {
        /// What it said.
        reason: String,
    },
    /// It never began.
    SetupFailed(StageFailure),
}

/// Why setup or teardown failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StageFailure {
    /// It said so.
    #[error("{0}")]
    Failed(String),
    /// It took too long.
    #[error("took longer than {limit:?}")]
    TimedOut {
        /// Its time limit.
        limit: Duration,
    },
}
