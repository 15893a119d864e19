//! The record of a run: what its workers tell, by second and by step.

use std::time::Duration;

use super::{Run, StepRecord, Turn};
use crate::{
    ledger::Harvest,
    outcome::Workload,
    worker::{Event, Failing, Opening},
};

impl Run<'_> {
    /// A client of the ramp got ready.
    pub(crate) fn note_opening(&mut self, opening: &Opening) {
        let now = self.started.elapsed();
        let second = self.journal.at(now);
        second.connection(false);
        self.measures.opened(second, opening);
        if let Some(singles) = &self.singles {
            singles.opened(opening);
        }
        if self.workload == Workload::Connect {
            self.journal.complete(now, 1);
        }
    }

    /// A client of the ramp did not.
    pub(crate) fn note_failed_opening(&mut self, failing: &Failing) {
        let now = self.started.elapsed();
        self.journal.at(now).connection(true);
        let cause = format!("client not ready: {}", failing.described());
        self.journal.fail(now, &cause, &failing.example, 1);
        if self.workload == Workload::Connect {
            self.journal.complete(now, 1);
        }
    }

    /// Records events to which the workload does not react.
    pub(super) fn record_all(&mut self, events: Vec<Event>) {
        events.into_iter().for_each(|event| drop(self.record(event)));
    }

    /// Records an event. Returns what it means to the workload.
    pub(super) fn record(&mut self, event: Event) -> Turn {
        let now = self.started.elapsed();
        if matches!(
            event,
            Event::Opened { .. } | Event::Dropped { .. } | Event::AgentLost(..)
        ) {
            self.journal.users(now, self.fleet.n_connected());
        }
        match event {
            Event::Opened { opening, .. } => return Turn::Opened(opening),
            Event::OpenFailed(failing) => return Turn::OpenFailed(failing),
            Event::Dropped { failing, .. } => {
                self.journal.at(now).connection_lost();
                let text = format!("client lost its connection: {}", failing.described());
                self.journal.fail(now, &text, &text, 1);
                self.drops.add_as(&failing.cause, &failing.cause, 1, now);
            }
            Event::Answered { id, latency } => {
                let was_awaited = self.step_of(id).map(|step| step.messages.answer(id, latency));
                if let Some(was_awaited) = was_awaited {
                    self.measures.answered(self.journal.at(now), latency);
                    if let Some(singles) = &self.singles {
                        singles.answered(latency);
                    }
                    self.journal.complete(now, 1);
                    if was_awaited {
                        return Turn::Settled;
                    }
                }
            }
            Event::Unanswerable { id } => {
                let at = self.started + now;
                if self.step_of(id).is_some_and(|step| step.abandon(id, at)) {
                    return Turn::Settled;
                }
            }
            Event::Completed(completion) => {
                let time = self
                    .step_of(completion.id)
                    .and_then(|step| step.complete(completion));
                if let Some(time) = time {
                    self.measures.reached_all(self.journal.at(now), time);
                    if let Some(singles) = &self.singles {
                        singles.reached_all(time);
                    }
                }
            }
            Event::Collected {
                step_idx,
                at,
                harvest,
            } => self.deliver(step_idx, at, &harvest),
            Event::Surveyed(standing) => {
                if let Some(surveyed) = self.survey.add(&standing) {
                    // What workers sent before they answered, they have told before.
                    self.fleet
                        .hub()
                        .into_iter()
                        .for_each(|hub| hub.make_known(surveyed.asked_at));
                    let n_broadcasts = self.steps.last().map_or(0, |step| step.messages.n_spreading());
                    if self.steps.last().is_some_and(|step| !step.is_closed()) {
                        self.level(surveyed.standing.n_missing(), n_broadcasts);
                    }
                    return Turn::Surveyed(surveyed);
                }
            }
            Event::SpeaksCable => {
                if !std::mem::replace(&mut self.speaks_cable, true) && self.workload == Workload::Connect {
                    self.note(
                        "the target speaks Action Cable: it sends a welcome. Clients count as ready before that; with \
                         --server-type actioncable-connect they count as ready when they are subscribed"
                            .to_owned(),
                    );
                }
            }
            Event::Glanced(agent, glance) => self.journal.glanced(agent, glance),
            Event::AgentLost(_, reason) => {
                self.note(reason.clone());
                self.missing.get_or_insert(reason);
                self.interrupt.force();
                return Turn::Interrupted;
            }
            // Who asked has the answer, and no worker of a run tells of its sends.
            Event::StepOpened
            | Event::Reported(_)
            | Event::Lapped(..)
            | Event::Room(..)
            | Event::Sent { .. } => {}
        }
        Turn::Recorded
    }

    fn step_of(&mut self, id: u64) -> Option<&mut StepRecord> {
        self.steps
            .iter_mut()
            .rev()
            .find(|step| step.messages.ids().contains(&id))
    }

    /// Workers have told of deliveries of a step that came about `at` this time.
    pub(super) fn deliver(&mut self, step_idx: usize, at: Duration, harvest: &Harvest) {
        if let Some(step) = self.steps.get_mut(step_idx) {
            step.deliver(harvest);
        }
        if let Some(singles) = &self.singles {
            singles.delivered(harvest.n_delivered);
        }
        let measures = self.measures;
        self.journal.hand_in(at, |second| {
            measures.delivered(&mut second.metrics, harvest);
        });
    }

    /// So many deliveries and broadcasts are on their way now.
    pub(super) fn level(&mut self, n_deliveries: u64, n_broadcasts: usize) {
        let now = self.started.elapsed();
        self.measures
            .in_flight(self.journal.at(now), n_deliveries, n_broadcasts);
        if let Some(singles) = &self.singles {
            singles.in_flight(n_deliveries, n_broadcasts);
        }
    }
}
