//! A run of `recover` as a summary.

use plimsoll_report::{
    Summary,
    summary::{End, Generator, Iterations, Measured, Origin},
};

use super::RecoverOutcome;
use crate::recover;

impl RecoverOutcome {
    /// The title of the run for people: the command and its target.
    pub fn name(&self) -> String {
        recover::name(&self.options.target)
    }

    /// Everything there is to say about the run.
    pub fn summarize(&self, origin: Origin<'_>) -> Summary {
        let chronicle = &self.chronicle;
        Summary::of_measured(Measured {
            origin,
            started_at: self.began,
            seconds: self.elapsed.as_secs_f64(),
            plan: self.options.plan(),
            n_workers: self.n_workers,
            end: if self.is_interrupted {
                End::Shutdown
            } else {
                End::Complete
            },
            thresholds: self.thresholds.clone(),
            notices: self.remarks(),
            iterations: Iterations {
                complete: chronicle.n_complete,
                interrupted: 0,
                failed: chronicle.n_failed,
                failures: Vec::new(),
            },
            metrics: &chronicle.metrics,
            steps: Vec::new(),
            timeline: chronicle.timeline.clone(),
            legs: chronicle.legs.clone(),
            levels: Vec::new(),
            losses: Some(self.losses()),
            in_flight: Vec::new(),
            targets: self.targets.clone(),
            generator: Generator::new(self.period.evidence(), &self.health, chronicle.generator.clone()),
        })
    }
}
