//! The summary of a run in progress, for its page.

use std::time::SystemTime;

use plimsoll_load::{
    generator::{Evidence, Health},
    plan::Plan,
    run::{Iterations, Progress, RunEnd, RunResult, Stretch},
    watch::Sampling,
};
use plimsoll_report::{
    Summary,
    summary::{Agent, Origin, Parts},
    timeline::Recorder,
};

/// The summary of the run until now. The end and the generator, which are judged at the end, are as if nothing had
/// happened; the page does not show them.
pub(super) fn summarize(
    progress: &Progress<'_>,
    recorder: &Recorder,
    plan: &Plan,
    sampling: Option<&Sampling>,
    origin: Origin<'_>,
) -> Summary {
    let accounts = sampling.map(Sampling::so_far);
    Summary::new(Parts {
        origin,
        plan,
        n_workers: 1,
        run: &run(progress),
        recorder: recorder.clone(),
        health: &Health::default(),
        losses: None,
        accounts: &accounts.unwrap_or_default(),
        trend_stats: &plan.summary_trend_stats,
    })
    .with_agents(progress.agents.iter().map(Agent::so_far).collect())
}

fn run(progress: &Progress<'_>) -> RunResult {
    RunResult {
        metrics: progress.metrics.clone(),
        rest: Stretch {
            // Within the last second that was recorded, so that it adds no other.
            start: progress.recent.start,
            end: progress.recent.end,
            ..Stretch::empty(progress.metrics)
        },
        started_at: SystemTime::now() - progress.elapsed,
        duration: progress.recent.end,
        end: RunEnd::Complete,
        iterations: Iterations {
            n_complete: progress.n_iterations_complete,
            n_interrupted: progress.n_interrupted,
        },
        max_vus: progress.max_vus,
        failures: progress.failures.clone(),
        thresholds: progress.thresholds.clone(),
        marked_failed: None,
        teardown_failure: None,
        notices: progress.notices.to_vec(),
        generator: Evidence {
            elapsed: progress.elapsed,
            ..Evidence::nothing()
        },
        schedule: progress.schedule,
    }
}
