//! Makes the summary from the result of a run.

use plimsoll_load::{generator::Health, machine::Machine, run::RunResult, watch::Account};
use plimsoll_report::{Summary, summary::Parts, timeline::Recorder};

use super::Subject;
use crate::{origin::origin, watching};

/// The inputs of a summary beside the result of the run.
#[derive(Debug)]
pub(super) struct Course<'a> {
    pub(super) subject: Subject<'a>,
    pub(super) n_workers: usize,
    /// The recorder that observed the run.
    pub(super) recorder: Recorder,
    /// Whether the figures are the target's alone.
    pub(super) health: Health,
    /// The costs of the watched targets.
    pub(super) accounts: Vec<Account>,
}

impl Course<'_> {
    /// The summary of the run.
    pub(super) fn summarize(self, run: &RunResult) -> Summary {
        let Subject { kind, name, plan, .. } = self.subject;
        let summary = Summary::new(Parts {
            origin: origin(kind, name, &Machine::read()),
            plan,
            n_workers: self.n_workers,
            run,
            recorder: self.recorder,
            health: &self.health,
            losses: None,
            accounts: &self.accounts,
            trend_stats: &plan.summary_trend_stats,
        });
        watching::tell_ended(&summary.targets);
        summary
    }
}
