//! The exact account of a broadcast run: which listener got which broadcast, and what went wrong.
//!
//! Every worker keeps one ledger for its own listeners and tells the coordinator once per broadcast, when its
//! whole share has arrived; nothing is reported per delivery (counting 10,000 deliveries through a channel cut
//! the capacity of websocket-bench's ancestor by five). The ledger is pure: it does no I/O and reads no clock.
//!
//! Definitions, per step:
//! * *expected*: a broadcast is expected by every listener that was connected when the step began and still
//!   was when the broadcast was sent;
//! * *missing*: expected and not arrived, while the run waits for it;
//! * *lost*: expected and not arrived when the step is *closed*. A broadcast that arrives later is taken off the lost
//!   ones and put on the delivered ones of its own step, so no delivery is ever both. Its time is not recorded: each lost
//!   delivery was counted with the time that was waited for it;
//! * *duplicated*: arrived again at a listener that had it;
//! * *out of order*: see [`causal_order`].

mod bit_set;
mod causal_order;
mod nodes;
mod send_table;
mod step;

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

pub(crate) use self::{
    bit_set::BitSet,
    nodes::{NodeHarvest, Nodes},
    send_table::SendTable,
    step::{Completion, Harvest, Standing, Tally},
};
use self::{causal_order::CausalOrder, step::StepLedger};

/// One worker's account of all steps. Listeners are named by their slot in the worker, which is never reused.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    steps: Vec<StepLedger>,
    nodes: Nodes,
    order: CausalOrder,
    n_foreign: u64,
}

impl Ledger {
    /// An empty ledger of listeners that are spread over these servers.
    pub(crate) fn new(nodes: Nodes) -> Self {
        Self {
            nodes,
            ..Self::default()
        }
    }

    /// The memory of a broadcast in the ledger of one worker, in bytes, without the bits of its listeners.
    pub(crate) const BYTES_EACH: usize = StepLedger::BYTES_EACH;

    /// Begins the step whose broadcasts `table` will list; `members` are the listeners connected now.
    pub(crate) fn open_step(&mut self, table: Arc<SendTable>, members: BitSet) {
        self.steps.push(StepLedger::new(table, members, self.nodes));
    }

    /// Counts the arrival of broadcast `id` at `listener`. Returns the broadcast's completion when this arrival
    /// was the last one that this worker waited for.
    pub(crate) fn deliver(&mut self, listener: usize, id: u64, at: Instant) -> Option<Completion> {
        // The newest step is last and nearly always the right one.
        match self.steps.iter_mut().rev().find(|step| step.holds(id)) {
            Some(step) => step.deliver(listener, id, at, &mut self.order),
            None => {
                self.n_foreign += 1;
                None
            }
        }
    }

    /// Whether a broadcast with this id is known to be sent.
    pub(crate) fn holds(&self, id: u64) -> bool {
        self.steps.iter().rev().any(|step| step.holds(id))
    }

    /// The connection of `listener` ended `at` this time: its missing messages are lost, and the run does not wait for them
    /// any more. It was not due to get what was sent later.
    pub(crate) fn drop_listener(&mut self, listener: usize, at: Instant) -> Vec<Completion> {
        self.steps
            .iter_mut()
            .flat_map(|step| step.drop_listener(listener, at))
            .collect()
    }

    /// The account of the step numbered `step_idx` (from 0) as it stands now; later arrivals change it.
    pub(crate) fn tally(&mut self, step_idx: usize) -> Option<Tally> {
        self.steps.get_mut(step_idx).map(StepLedger::tally)
    }

    /// The run waits no longer for deliveries of the step numbered `step_idx`; see [`StepLedger::close`].
    pub(crate) fn close_step(&mut self, step_idx: usize, at: Instant, at_least: Duration) -> Vec<Completion> {
        let step = self.steps.get_mut(step_idx);
        step.map_or_else(Vec::new, |step| step.close(at, at_least))
    }

    /// The deliveries of the step numbered `step_idx`, of its broadcasts with ids below `end_id`.
    pub(crate) fn standing(&mut self, step_idx: usize, end_id: u64) -> Standing {
        let step = self.steps.get_mut(step_idx);
        step.map_or_else(Standing::default, |step| step.standing(end_id))
    }

    /// The deliveries since they were collected last, by the number of their step.
    pub(crate) fn collect(&mut self) -> impl Iterator<Item = (usize, Harvest)> {
        let steps = self.steps.iter_mut().enumerate();
        steps.filter_map(|(step_idx, step)| Some((step_idx, step.collect()?)))
    }

    /// A message that no step of this run sent: another load on the same channel, or a broken server.
    pub(crate) fn count_foreign(&mut self) {
        self.n_foreign += 1;
    }

    /// The number of messages that this run did not send.
    pub(crate) fn n_foreign(&self) -> u64 {
        self.n_foreign
    }
}

#[cfg(test)]
mod tests;
