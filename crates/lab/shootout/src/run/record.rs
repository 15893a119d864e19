//! The coordinator's record of one step: its messages, and the times of their deliveries.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use plimsoll_load::histogram::Histogram;

use crate::{
    in_flight::InFlight,
    ledger::{Completion, Harvest, NodeHarvest, SendTable},
    sampling::{Arrival, Messages},
    wire::Command,
};

/// The record of one step.
#[derive(Debug)]
pub(crate) struct StepRecord {
    pub(crate) command: Command,
    pub(crate) table: Arc<SendTable>,
    pub(crate) messages: Messages,
    /// The times from each send to each listener that workers have reported so far, and for each missing delivery the time
    /// that it has been waited for.
    pub(crate) deliveries: Histogram,
    /// The same for each server of a cluster; empty for a single server.
    pub(crate) by_node: Vec<NodeHarvest>,
    /// The shortest time that a missing delivery has been waited for; `None` if nothing is missing.
    pub(crate) waited: Option<Duration>,
    closed: Option<Closed>,
}

/// The end of the waiting for deliveries.
#[derive(Debug, Clone, Copy)]
struct Closed {
    at: Instant,
    /// Each missing delivery counts with this time, or with a longer one.
    at_least: Duration,
}

impl StepRecord {
    /// A step whose messages `table` will list. All ids up to `floor` have been answered.
    pub(super) fn new(command: Command, table: Arc<SendTable>, floor: u64) -> Self {
        Self {
            command,
            messages: Messages::new(table.ids().start, floor),
            table,
            deliveries: Histogram::new(),
            by_node: Vec::new(),
            waited: None,
            closed: None,
        }
    }

    /// Whether the run waits no longer for deliveries.
    pub(crate) fn is_closed(&self) -> bool {
        self.closed.is_some()
    }

    /// The run waits no longer for deliveries.
    pub(super) fn close(&mut self, at: Instant, at_least: Duration) {
        self.closed = Some(Closed { at, at_least });
    }

    /// Workers have told of deliveries.
    pub(super) fn deliver(&mut self, harvest: &Harvest) {
        self.deliveries.merge(&harvest.latency);
        NodeHarvest::merge_all(&mut self.by_node, &harvest.by_node);
        if !harvest.missing.is_empty() {
            self.deliveries.merge(&harvest.missing);
            let shortest = harvest.missing.min();
            self.waited = Some(self.waited.map_or(shortest, |it| it.min(shortest)));
        }
    }

    /// A worker's share of a broadcast has arrived. Returns how long it took to reach all, when this was the last share
    /// and it counts as lost for no client.
    pub(super) fn complete(&mut self, completion: Completion) -> Option<Duration> {
        let reached_all_at = self.messages.complete(completion)?;
        let sent = self.table.sent(completion.id)?;
        Some(reached_all_at.saturating_duration_since(sent.at))
    }

    /// Gives up the answer to a message `at` this time. False when none was awaited.
    pub(super) fn abandon(&mut self, id: u64, at: Instant) -> bool {
        // What was sent may still arrive at the others.
        let went_out = self.table.sent(id).is_some();
        if went_out {
            self.messages.give_up(id, at)
        } else {
            self.messages.cancel(id, at)
        }
    }

    /// The time that was waited for each broadcast that did not reach all listeners. Empty until the step is closed.
    pub(crate) fn missing_times(&self) -> impl Iterator<Item = Duration> {
        self.closed.into_iter().flat_map(|Closed { at, at_least }| {
            let sent = self.messages.missing().filter_map(|id| self.table.sent(id));
            sent.map(move |sent| at.saturating_duration_since(sent.at).max(at_least))
        })
    }

    /// The time from each send to the last listener; for broadcasts that did not reach all, the time that was waited.
    pub(crate) fn last_delivery_times(&self) -> impl Iterator<Item = Duration> {
        let whole = self.messages.last_delivery_times(&self.table);
        whole.chain(self.missing_times())
    }

    /// How many broadcasts were in flight.
    pub(crate) fn in_flight(&self) -> InFlight {
        let end = self.closed.map(|closed| closed.at);
        let spans = self.messages.ids().filter_map(|id| {
            let sent = self.table.sent(id)?;
            match self.messages.arrival(id) {
                Arrival::Whole(at) => Some((sent.at, at)),
                Arrival::Missing => Some((sent.at, end?)),
                Arrival::NotDue => None,
            }
        });
        InFlight::of(spans)
    }
}
