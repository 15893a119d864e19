//! One worker's account of one step.

use std::{sync::Arc, time::Instant};

use plimsoll_load::histogram::Histogram;

use super::{bit_set::BitSet, causal_order::CausalOrder, send_table::SendTable};

/// Which of this worker's listeners got which broadcast of one step.
///
/// Memory: one bit per listener for each broadcast that is on its way; a broadcast that has arrived everywhere
/// keeps only its counters.
#[derive(Debug)]
pub(crate) struct StepLedger {
    table: Arc<SendTable>,
    members: BitSet,
    broadcasts: Vec<Broadcast>,
    n_delivered: u64,
    n_duplicated: u64,
    n_out_of_order: u64,
    /// The latencies of arrivals since the last collection.
    latency: Histogram,
}

/// A worker's figures of a step. The tallies of several workers add up.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tally {
    /// Pairs of a sent broadcast and a listener that it was due to.
    pub(crate) n_expected: u64,
    /// The number of deliveries that arrived.
    pub(crate) n_delivered: u64,
    /// Arrivals at listeners that had the broadcast already.
    pub(crate) n_duplicated: u64,
    /// First arrivals that came after a broadcast which was sent when they had been acknowledged.
    pub(crate) n_out_of_order: u64,
    /// The time from a broadcast's send to its first arrival at each listener, without times that were already
    /// collected.
    pub(crate) latency: Histogram,
}

/// A broadcast has arrived at all listeners of this worker that it can still arrive at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Completion {
    /// The broadcast.
    pub(crate) id: u64,
    /// The number of listeners that it never reached because their connections ended.
    pub(crate) n_lost: usize,
    /// The time of the last arrival; `None` without an arrival.
    pub(crate) last_at: Option<Instant>,
}

/// One broadcast's way to this worker's listeners.
#[derive(Debug, Default)]
struct Broadcast {
    /// The listeners that have the broadcast. It is allocated at the first arrival and freed when all have it.
    arrived: Option<BitSet>,
    n_arrived: usize,
    /// The number of members whose connections ended before the send. They were not due to get it.
    n_excused: usize,
    /// The number of members whose connections ended between the send and the arrival.
    n_lost: usize,
    last_at: Option<Instant>,
    is_complete: bool,
}

impl StepLedger {
    pub(crate) fn new(table: Arc<SendTable>, members: BitSet) -> Self {
        let broadcasts = table.ids().map(|_| Broadcast::default()).collect();
        Self {
            table,
            members,
            broadcasts,
            n_delivered: 0,
            n_duplicated: 0,
            n_out_of_order: 0,
            latency: Histogram::new(),
        }
    }

    /// Whether `id` was sent in this step.
    pub(crate) fn holds(&self, id: u64) -> bool {
        self.table.sent(id).is_some()
    }

    pub(crate) fn deliver(
        &mut self,
        listener: usize,
        id: u64,
        at: Instant,
        order: &mut CausalOrder,
    ) -> Option<Completion> {
        let sent = self.table.sent(id)?;
        if !self.members.contains(listener) {
            // It connected while the server was still fanning out an earlier step: not due, and no mistake.
            return None;
        }
        let broadcast = self
            .broadcasts
            .get_mut(usize::try_from(id - self.table.ids().start).ok()?)?;
        if !broadcast.arrive(listener, at, &self.members) {
            self.n_duplicated += 1;
            return None;
        }
        self.n_delivered += 1;
        self.latency.record(at.saturating_duration_since(sent.at));
        self.n_out_of_order += u64::from(!order.arrives_in_order(listener, id, sent.floor));
        broadcast.complete(id, &self.members)
    }

    pub(crate) fn drop_listener(&mut self, listener: usize) -> Vec<Completion> {
        let Self {
            table,
            members,
            broadcasts,
            ..
        } = self;
        if !members.contains(listener) {
            return Vec::new();
        }
        let each = table.ids().zip(broadcasts);
        each.filter_map(|(id, broadcast)| broadcast.drop_listener(listener, id, table, members))
            .collect()
    }

    /// Takes the latencies of arrivals since the last call; `None` without arrivals.
    pub(crate) fn collect(&mut self) -> Option<Histogram> {
        (!self.latency.is_empty()).then(|| std::mem::take(&mut self.latency))
    }

    pub(crate) fn tally(&mut self) -> Tally {
        let latency = self.collect().unwrap_or_default();
        let sent = self
            .table
            .ids()
            .zip(&self.broadcasts)
            .filter(|(id, _)| self.table.sent(*id).is_some());
        Tally {
            n_expected: sent
                .map(|(_, it)| (self.members.n_members() - it.n_excused) as u64)
                .sum(),
            n_delivered: self.n_delivered,
            n_duplicated: self.n_duplicated,
            n_out_of_order: self.n_out_of_order,
            latency,
        }
    }
}

impl Broadcast {
    /// Notes the arrival at a member; false when it is a repetition.
    fn arrive(&mut self, listener: usize, at: Instant, members: &BitSet) -> bool {
        if self.is_complete {
            return false;
        }
        let arrived = self.arrived.get_or_insert_with(|| members.empty_like());
        let is_first = arrived.insert(listener);
        if is_first {
            self.n_arrived += 1;
            self.last_at = self.last_at.max(Some(at));
        }
        is_first
    }

    fn drop_listener(
        &mut self,
        listener: usize,
        id: u64,
        table: &SendTable,
        members: &BitSet,
    ) -> Option<Completion> {
        let has_it = self.is_complete
            || self
                .arrived
                .as_ref()
                .is_some_and(|arrived| arrived.contains(listener));
        if has_it {
            return None;
        }
        if table.sent(id).is_none() {
            self.n_excused += 1;
            return None;
        }
        self.n_lost += 1;
        self.complete(id, members)
    }

    fn complete(&mut self, id: u64, members: &BitSet) -> Option<Completion> {
        self.is_complete = self.n_arrived + self.n_excused + self.n_lost == members.n_members();
        if !self.is_complete {
            return None;
        }
        self.arrived = None;
        Some(Completion {
            id,
            n_lost: self.n_lost,
            last_at: self.last_at,
        })
    }
}

impl Tally {
    /// Adds another worker's account of the same step, or the account of another step.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.n_expected += other.n_expected;
        self.n_delivered += other.n_delivered;
        self.n_duplicated += other.n_duplicated;
        self.n_out_of_order += other.n_out_of_order;
        self.latency.merge(&other.latency);
    }
}
