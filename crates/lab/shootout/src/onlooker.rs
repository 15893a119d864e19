//! The view of a bench in progress.

use std::{sync::Arc, time::Duration};

use plimsoll_load::{
    attempts::Attempts,
    generator::{Evidence, Health, Schedule},
    metrics::MetricSet,
    run::{AgentProgress, Failures, Progress},
    threshold::Finding,
    watch::Sampling,
};
use plimsoll_report::{
    Summary,
    summary::{Agent, End, Generator, Iterations, Measured, Origin, Plan, Threshold},
};

use crate::{journal::Draft, meter};

/// Half a second after each full one. Reason: by then workers have handed in what they counted in the second before.
pub(crate) const LAG: Duration = Duration::from_millis(500);

/// Is shown a bench second by second. It is called on the coordinator's thread, for which the closed loop waits: what takes
/// time belongs on a thread of its own.
pub trait Onlooker {
    /// Whether a viewer looks at the moment. Without a viewer, no frames are made.
    fn is_looking(&self) -> bool;
    /// Shows the current state.
    fn show(&self, so_far: SoFar);
}

/// A bench up to its last full second.
#[derive(Debug)]
pub struct SoFar {
    pub(crate) draft: Draft,
    pub(crate) plan: Plan,
    pub(crate) n_workers: usize,
    pub(crate) thresholds: Vec<Threshold>,
    pub(crate) notices: Vec<String>,
    pub(crate) sampling: Option<Arc<Sampling>>,
    /// The agents that make the load. Empty: this process does.
    pub(crate) agents: Vec<AgentProgress>,
    /// Whether the users work concurrently as in the timeline, so that targets have a cost per user.
    pub(crate) has_users: bool,
}

impl SoFar {
    /// Passes the state of the bench to the view of runs. Fields that only runs have are empty.
    pub fn observe(&self, take: impl FnOnce(&Progress<'_>)) {
        let draft = &self.draft;
        let progress = Progress {
            elapsed: draft.end(),
            active_vus: draft.n_users(),
            max_vus: draft.n_users(),
            n_iterations_complete: draft.n_complete(),
            n_interrupted: 0,
            scenarios: Vec::new(),
            thresholds: self.thresholds.iter().filter_map(|it| self.finding(it)).collect(),
            metrics: draft.total(),
            recent: draft.last(),
            notices: &self.notices,
            failures: &Failures::default(),
            attempts: attempts(draft.total(), draft.n_complete(), draft.n_failed()),
            schedule: Schedule::default(),
            agents: self.agents.clone(),
        };
        take(&progress);
    }

    fn finding(&self, threshold: &Threshold) -> Option<Finding> {
        Some(Finding {
            metric: threshold.metric.clone(),
            id: self.draft.total().registry().find(&threshold.key)?,
            expression: threshold.expression.clone(),
            aggregation: threshold.aggregation.clone(),
            value: threshold.value,
            passed: threshold.passed,
            aborted: threshold.aborted,
        })
    }

    /// The state as a summary. The end and the generator, which are judged only at the end, are as if nothing had
    /// happened.
    pub fn summarize(&self, origin: Origin<'_>) -> Summary {
        let end = self.draft.end();
        let chronicle = self.draft.clone().finish();
        let accounts: Vec<_> = self
            .sampling
            .iter()
            .flat_map(|sampling| sampling.so_far())
            .collect();
        let clients: &[u32] = if self.has_users {
            &chronicle.timeline.vus
        } else {
            &[]
        };
        let targets = meter::targets(&accounts, &chronicle.timeline, clients);
        let evidence = Evidence {
            elapsed: end,
            ..Evidence::nothing()
        };
        Summary::of_measured(Measured {
            origin,
            started_at: chronicle.began,
            seconds: end.as_secs_f64(),
            plan: self.plan.clone(),
            n_workers: self.n_workers,
            end: End::Complete,
            thresholds: self.thresholds.clone(),
            notices: self.notices.clone(),
            iterations: Iterations {
                complete: chronicle.n_complete,
                interrupted: 0,
                failed: chronicle.n_failed,
                failures: Vec::new(),
            },
            metrics: &chronicle.metrics,
            steps: Vec::new(),
            timeline: chronicle.timeline,
            legs: chronicle.legs,
            levels: Vec::new(),
            losses: None,
            in_flight: Vec::new(),
            targets,
            generator: Generator::new(&evidence, &Health::default(), chronicle.generator),
        })
        .with_agents(self.agents.iter().map(Agent::so_far).collect())
    }
}

/// The attempts of a bench, whose journal counts failed connections among the failures.
fn attempts(metrics: &MetricSet, n_complete: u64, n_failed: u64) -> [Attempts; 3] {
    let of_connections = metrics.failed_connections().n_true;
    Attempts::of_run(metrics, n_complete, n_failed.saturating_sub(of_connections))
}
