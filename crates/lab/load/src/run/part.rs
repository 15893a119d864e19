//! What one instance of a run tells the others: its part of a run that several instances make together.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{Failures, Iterations, Progress, RunEnd, RunResult, StageFailure, Stretch, Users};
use crate::{
    generator::{Evidence, Glance, Schedule},
    metrics::wire::Metrics,
};

/// The part of one instance in a stretch of time, and its state at the end of the stretch.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Part {
    /// The beginning of the stretch, since the start of the run.
    pub start: Duration,
    /// Its end.
    pub end: Duration,
    /// What was recorded.
    pub metrics: Metrics,
    /// Iterations that ended.
    pub iterations: Iterations,
    /// Failed complete iterations, and other failures of virtual users.
    pub n_failed: u64,
    /// The active virtual users.
    pub users: Users,
    /// What the generator itself did.
    pub generator: Glance,
    /// How the instance stands at the end.
    pub standing: Standing,
}

/// The state of an instance: all counts are since its start.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Standing {
    /// Virtual users that run iterations now.
    pub active_vus: u32,
    /// Virtual users that exist.
    pub max_vus: u32,
    /// The scenarios that the instance takes part in.
    pub scenarios: Vec<SceneStanding>,
    /// What became of the arrivals of all scenarios together.
    pub schedule: Schedule,
    /// Why iterations failed.
    pub failures: Failures,
    /// Messages for people.
    pub notices: Vec<String>,
}

/// The state of one scenario on one instance.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SceneStanding {
    /// The name of the scenario.
    pub name: String,
    /// Virtual users that exist for it.
    pub vus: u32,
    /// Its iterations that run now.
    pub n_under_way: u32,
    /// Its iterations that ran to their end.
    pub n_complete: u64,
    /// Its iterations that will never begin.
    pub n_dropped: u64,
}

/// The end of an instance's run, with everything that no earlier part has.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LastPart {
    /// The rest of the run.
    pub rest: Part,
    /// From its start to the end of its last iteration.
    pub duration: Duration,
    /// Why it ended.
    pub end: RunEnd,
    /// All iterations since its start. Those of all its parts must add up to them.
    pub iterations: Iterations,
    /// Why a virtual user marked the run as failed.
    pub marked_failed: Option<String>,
    /// What went wrong in teardown.
    pub teardown_failure: Option<StageFailure>,
    /// What its generator did.
    pub evidence: Evidence,
}

impl Part {
    /// The part of the stretch that `progress` ends.
    pub fn of(progress: &Progress<'_>) -> Self {
        let scenarios = progress.scenarios.iter().map(|scene| SceneStanding {
            name: scene.scenario.name.clone(),
            vus: scene.vus,
            n_under_way: scene.n_under_way,
            n_complete: scene.n_complete,
            n_dropped: scene.n_dropped,
        });
        let standing = Standing {
            active_vus: progress.active_vus,
            max_vus: progress.max_vus,
            scenarios: scenarios.collect(),
            schedule: progress.schedule,
            failures: progress.failures.clone(),
            notices: progress.notices.to_vec(),
        };
        Self::new(progress.recent, standing)
    }

    fn new(stretch: &Stretch, standing: Standing) -> Self {
        let mut metrics = stretch.metrics.to_wire();
        // Those of all instances together are not the last ones of any; they follow from the standings.
        for of_one in ["vus", "vus_max"] {
            metrics.forget_gauge(of_one);
        }
        Self {
            start: stretch.start,
            end: stretch.end,
            metrics,
            iterations: stretch.iterations,
            n_failed: stretch.n_failed,
            users: stretch.users,
            generator: stretch.generator,
            standing,
        }
    }
}

impl LastPart {
    /// The end of an instance whose run has this result. `scenarios` are its last ones.
    pub fn of(result: &RunResult, scenarios: Vec<SceneStanding>) -> Self {
        let standing = Standing {
            active_vus: 0,
            max_vus: result.max_vus,
            scenarios,
            schedule: result.schedule,
            failures: result.failures.clone(),
            notices: result.notices.clone(),
        };
        Self {
            rest: Part::new(&result.rest, standing),
            duration: result.duration,
            end: result.end.clone(),
            iterations: result.iterations,
            marked_failed: result.marked_failed.clone(),
            teardown_failure: result.teardown_failure.clone(),
            evidence: result.generator.clone(),
        }
    }
}
