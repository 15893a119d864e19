//! The end of a run: its books are closed, and its clients are let go.

use std::time::Duration;

use super::Run;
use crate::{
    journal::Chronicle,
    limit,
    outcome::{Outcome, Step},
    remote::Hub,
    worker::Report,
};

impl Run<'_> {
    /// Closes all connections and puts the result together. `report` is the workers' last one.
    pub(crate) async fn finish(mut self, steps: Vec<Step>, report: &Report) -> Outcome {
        let elapsed = self.started.elapsed();
        if let Some(singles) = &self.singles {
            singles.end_second(self.fleet.n_connected());
        }
        let chronicle = self.close_journal(elapsed);
        let targets = self.meter.finish(&chronicle.timeline, &chronicle.timeline.vus);
        let mut outcome = Outcome {
            workload: self.workload,
            plan: self.plan.clone(),
            setting: self.setting.clone(),
            steps,
            messages: Vec::new(),
            elapsed,
            thresholds: limit::judge(&self.limits, &chronicle.metrics, elapsed),
            chronicle,
            generator: self.meter.whole().clone(),
            targets,
            is_interrupted: self.interrupt.is_requested(),
            n_foreign: report.n_foreign,
            n_stray_answers: report.n_stray_answers,
            n_altered: report.n_altered,
            shares: self.fleet.hub().map_or_else(Vec::new, Hub::shares),
            missing: self.missing.take(),
        };
        outcome.hide_unknown_times();
        outcome.remarks().into_iter().for_each(|remark| self.note(remark));
        outcome.messages = self.messages;
        outcome.learn();
        self.fleet.finish(self.interrupt).await;
        outcome
    }

    fn close_journal(&mut self, elapsed: Duration) -> Chronicle {
        for step in &self.steps {
            for given_up_at in step.messages.unanswered() {
                let at = given_up_at.map_or(elapsed, |at| at.saturating_duration_since(self.started));
                self.journal
                    .hand_in(at, |second| second.iterations.n_complete += 1);
                let cause =
                    "message without an answer: is --server-type right, and does the server answer in time?";
                self.journal.fail(at, cause, cause, 1);
            }
        }
        self.journal.finish(elapsed)
    }
}
