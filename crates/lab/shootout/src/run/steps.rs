//! The messages of a step: sent, and waited for.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use super::{Run, StepRecord};
use crate::{fleet::WorkerLost, ledger::SendTable, wire::Command, worker::Report};

impl Run<'_> {
    /// Begins a step of at most `n_messages` messages. Returns its number, from 0.
    pub(crate) async fn open_step(
        &mut self,
        command: Command,
        n_messages: usize,
    ) -> Result<usize, WorkerLost> {
        let first_id = self.steps.last().map_or(1, |step| step.messages.ids().end);
        let floor = self.steps.last().map_or(0, |step| step.messages.floor());
        let table = Arc::new(SendTable::new(self.started, first_id, n_messages));
        let mut events = Vec::new();
        self.fleet.open_step(&table, |event| events.push(event)).await?;
        self.record_all(events);
        self.steps.push(StepRecord::new(command, table, floor));
        Ok(self.steps.len() - 1)
    }

    /// Makes a client send one more message of the newest step, whose times count from `due`, or without that from the
    /// send. Returns the message's id, or `None` when no client is connected to the first server.
    pub(crate) async fn send(&mut self, due: Option<Instant>) -> Result<Option<u64>, WorkerLost> {
        let Some(step) = self.steps.last_mut().filter(|_| self.fleet.can_send()) else {
            return Ok(None);
        };
        let n_shares = match step.command {
            Command::Broadcast => self.fleet.n_workers_connected(),
            Command::Echo => 0,
        };
        let (id, floor) = step.messages.issue(n_shares);
        self.measures.sent(self.journal.at(self.started.elapsed()));
        if let Some(singles) = &self.singles {
            singles.sent();
        }
        self.fleet.send_from_anyone(step.command, id, floor, due).await?;
        Ok(Some(id))
    }

    /// The record of the step numbered `step_idx`.
    pub(crate) fn step(&mut self, step_idx: usize) -> &mut StepRecord {
        &mut self.steps[step_idx]
    }

    /// The workers' account of the step numbered `step_idx`.
    pub(crate) async fn report(&mut self, step_idx: usize) -> Result<Report, WorkerLost> {
        let mut events = Vec::new();
        let report = self.fleet.report(step_idx, |event| events.push(event)).await?;
        self.record_all(events);
        self.deliver(step_idx, self.started.elapsed(), &report.tally.harvest);
        Ok(report)
    }

    /// Waits no longer for deliveries of the step numbered `step_idx`. Missing ones are lost, and count with the time that
    /// was waited for them, at least with `at_least`. Returns the workers' account.
    pub(crate) async fn close_step(
        &mut self,
        step_idx: usize,
        at_least: Duration,
    ) -> Result<Report, WorkerLost> {
        let at = Instant::now();
        let mut events = Vec::new();
        let on_event = |event| events.push(event);
        let report = self.fleet.close_step(step_idx, (at, at_least), on_event).await?;
        self.record_all(events);
        self.deliver(step_idx, self.started.elapsed(), &report.tally.harvest);
        let step = &mut self.steps[step_idx];
        step.close(at, at_least);
        let now = self.started.elapsed();
        for waited in step.missing_times() {
            self.measures.reached_all(self.journal.at(now), waited);
            if let Some(singles) = &self.singles {
                singles.missed(waited);
            }
        }
        if step.command == Command::Broadcast {
            self.level(0, 0);
        }
        Ok(report)
    }
}
