//! One worker's account of one step.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use plimsoll_load::histogram::{self, Histogram};
use serde::{Deserialize, Serialize};

use super::{
    bit_set::BitSet,
    causal_order::CausalOrder,
    nodes::{NodeHarvest, Nodes},
    send_table::SendTable,
};

/// Which of this worker's listeners got which broadcast of one step.
///
/// Memory: one bit per listener for each broadcast that is on its way; a broadcast that has arrived everywhere
/// keeps only its counters.
#[derive(Debug)]
pub(crate) struct StepLedger {
    table: Arc<SendTable>,
    members: BitSet,
    nodes: Nodes,
    /// Members whose connections have ended.
    gone: BitSet,
    broadcasts: Vec<Broadcast>,
    n_delivered: u64,
    /// Deliveries that will not come because connections ended.
    n_lost: u64,
    n_duplicated: u64,
    n_out_of_order: u64,
    /// Arrivals and their latencies since the last collection.
    harvest: Harvest,
    last_at: Option<Instant>,
    /// Whether the run no longer waits for arrivals.
    is_closed: bool,
    /// Arrivals after the step was closed.
    n_late: u64,
    /// The number of broadcasts from the first one on that are known to be sent, and the deliveries expected of them.
    n_counted: usize,
    n_counted_deliveries: u64,
}

/// Deliveries that have not been reported yet.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Harvest {
    /// The number of arrivals, including those after the step was closed.
    pub(crate) n_delivered: u64,
    /// The time from a broadcast's send to each arrival before the step was closed.
    #[serde(deserialize_with = "histogram::durations")]
    pub(crate) latency: Histogram,
    /// The time that each missing delivery has been waited for, from when the step was closed.
    #[serde(deserialize_with = "histogram::durations")]
    pub(crate) missing: Histogram,
    /// The same for each server of a cluster; empty for a single server.
    pub(crate) by_node: Vec<NodeHarvest>,
}

/// The deliveries of a step at a moment. Those of several workers add up.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Standing {
    /// Pairs of a sent broadcast and a listener that it was due to.
    pub(crate) n_expected: u64,
    /// Pairs whose listener has the broadcast or has lost its connection: nothing more is awaited of them.
    pub(crate) n_settled: u64,
    /// The time of the last arrival; `None` without an arrival.
    pub(crate) last_at: Option<Instant>,
}

/// A worker's figures of a step. The tallies of several workers add up.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Tally {
    /// Pairs of a sent broadcast and a listener that it was due to.
    pub(crate) n_expected: u64,
    /// The number of deliveries that arrived.
    pub(crate) n_delivered: u64,
    /// Those of them that arrived after the step was closed.
    pub(crate) n_late: u64,
    /// Arrivals at listeners that had the broadcast already.
    pub(crate) n_duplicated: u64,
    /// First arrivals that came after a broadcast which was sent when they had been acknowledged.
    pub(crate) n_out_of_order: u64,
    /// The deliveries that were not collected before.
    pub(crate) harvest: Harvest,
}

/// A broadcast has arrived at all listeners of this worker that it can still arrive at, or its step was closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Completion {
    /// The broadcast.
    pub(crate) id: u64,
    /// The number of listeners that it did not reach: their connections ended, or the step was closed.
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
    /// The same by the node of the member; empty as long as it is zero, and for a single server.
    lost_by_node: Vec<u32>,
    last_at: Option<Instant>,
    is_complete: bool,
}

/// What a broadcast was to a member whose connection has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    /// The member has it.
    Arrived,
    /// It was sent and had not arrived.
    Lost,
    /// It was sent later, and the member was not due to get it.
    Excused,
}

impl StepLedger {
    /// The memory of a broadcast, in bytes, without the bits of its listeners.
    pub(super) const BYTES_EACH: usize = size_of::<Broadcast>();

    pub(crate) fn new(table: Arc<SendTable>, members: BitSet, nodes: Nodes) -> Self {
        let broadcasts = table.ids().map(|_| Broadcast::default()).collect();
        Self {
            table,
            gone: members.empty_like(),
            members,
            nodes,
            broadcasts,
            n_delivered: 0,
            n_lost: 0,
            n_duplicated: 0,
            n_out_of_order: 0,
            harvest: Harvest::of(nodes),
            last_at: None,
            is_closed: false,
            n_late: 0,
            n_counted: 0,
            n_counted_deliveries: 0,
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
        self.harvest.n_delivered += 1;
        let node = self.nodes.of(listener);
        if let Some(harvest) = self.harvest.by_node.get_mut(node) {
            harvest.n_delivered += 1;
        }
        self.n_out_of_order += u64::from(!order.arrives_in_order(listener, id, sent.floor));
        if self.is_closed {
            // Its time was recorded when the step was closed: it took at least that long.
            self.n_late += 1;
            return None;
        }
        self.last_at = self.last_at.max(Some(at));
        let latency = at.saturating_duration_since(sent.at);
        self.harvest.latency.record(latency);
        if let Some(harvest) = self.harvest.by_node.get_mut(node) {
            harvest.latency.record(latency);
        }
        broadcast.complete(id, &self.members)
    }

    /// The run waits no longer for arrivals. Each missing delivery is recorded with the time from its send until `at`, or
    /// with `at_least` if that is longer. Returns the broadcasts that were not complete.
    pub(crate) fn close(&mut self, at: Instant, at_least: Duration) -> Vec<Completion> {
        if std::mem::replace(&mut self.is_closed, true) {
            return Vec::new();
        }
        let Self {
            table,
            members,
            nodes,
            gone,
            broadcasts,
            harvest,
            ..
        } = self;
        let mut completions = Vec::new();
        for (id, broadcast) in table.ids().zip(broadcasts) {
            let Some(sent) = table.sent(id) else { continue };
            let n_due = members.n_members() - broadcast.n_excused;
            let n_missing = n_due - broadcast.n_arrived;
            let waited = at.saturating_duration_since(sent.at).max(at_least);
            harvest.missing.record_n(waited, n_missing as u64);
            if n_missing > 0 && nodes.n_accounts() > 0 {
                for (node, n) in broadcast.missing_by_node(*nodes, members, gone).enumerate() {
                    harvest.by_node[node].missing.record_n(waited, n);
                }
            }
            if !broadcast.is_complete {
                completions.push(Completion {
                    id,
                    n_lost: n_missing,
                    last_at: broadcast.last_at,
                });
            }
        }
        completions
    }

    /// The deliveries of all broadcasts with ids below `end_id`.
    pub(crate) fn standing(&mut self, end_id: u64) -> Standing {
        let ids = self.table.ids();
        let n_ids = usize::try_from(end_id.saturating_sub(ids.start)).unwrap_or(usize::MAX);
        let n_ids = n_ids.min(self.broadcasts.len());
        let n_due = |it: &Broadcast| (self.members.n_members() - it.n_excused) as u64;
        let is_sent = |idx: usize| self.table.sent(ids.start + idx as u64).is_some();
        // The excused ones of a broadcast do not change once it is sent.
        while self.n_counted < n_ids && is_sent(self.n_counted) {
            self.n_counted_deliveries += n_due(&self.broadcasts[self.n_counted]);
            self.n_counted += 1;
        }
        let rest = (self.n_counted..n_ids).filter(|idx| is_sent(*idx));
        let n_rest: u64 = rest.map(|idx| n_due(&self.broadcasts[idx])).sum();
        Standing {
            n_expected: self.n_counted_deliveries + n_rest,
            n_settled: self.n_delivered + self.n_lost,
            last_at: self.last_at,
        }
    }

    pub(crate) fn drop_listener(&mut self, listener: usize, at: Instant) -> Vec<Completion> {
        let Self {
            table,
            members,
            nodes,
            gone,
            broadcasts,
            n_counted,
            n_counted_deliveries,
            ..
        } = self;
        if !members.contains(listener) {
            return Vec::new();
        }
        gone.insert(listener);
        let mut completions = Vec::new();
        for (idx, (id, broadcast)) in table.ids().zip(broadcasts).enumerate() {
            let sent = table.sent(id);
            let was_sent = sent.is_some_and(|sent| sent.at <= at);
            match broadcast.drop_listener(listener, was_sent, *nodes) {
                Fate::Arrived => continue,
                Fate::Lost => self.n_lost += 1,
                // It was sent before this was known.
                Fate::Excused if idx < *n_counted => *n_counted_deliveries -= 1,
                Fate::Excused => {}
            }
            // A worker without any listener of a broadcast has no share of it.
            if sent.is_some() && broadcast.n_arrived + broadcast.n_lost > 0 {
                completions.extend(broadcast.complete(id, members).filter(|_| !self.is_closed));
            }
        }
        completions
    }

    /// Takes the deliveries since the last call; `None` without any.
    pub(crate) fn collect(&mut self) -> Option<Harvest> {
        let nodes = self.nodes;
        (!self.harvest.is_empty()).then(|| std::mem::replace(&mut self.harvest, Harvest::of(nodes)))
    }

    pub(crate) fn tally(&mut self) -> Tally {
        Tally {
            n_expected: self.standing(u64::MAX).n_expected,
            n_delivered: self.n_delivered,
            n_late: self.n_late,
            n_duplicated: self.n_duplicated,
            n_out_of_order: self.n_out_of_order,
            harvest: self.collect().unwrap_or_default(),
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

    /// Notes that a member's connection has ended, before or after the broadcast `was_sent`.
    fn drop_listener(&mut self, listener: usize, was_sent: bool, nodes: Nodes) -> Fate {
        let has_it = self.is_complete
            || self
                .arrived
                .as_ref()
                .is_some_and(|arrived| arrived.contains(listener));
        if has_it {
            return Fate::Arrived;
        }
        if !was_sent {
            self.n_excused += 1;
            return Fate::Excused;
        }
        self.n_lost += 1;
        if nodes.n_accounts() > 0 {
            self.lost_by_node.resize(nodes.n_accounts(), 0);
            self.lost_by_node[nodes.of(listener)] += 1;
        }
        Fate::Lost
    }

    /// How many members of each node it was due to and did not reach; `gone` are those whose connections have ended.
    fn missing_by_node(&self, nodes: Nodes, members: &BitSet, gone: &BitSet) -> impl Iterator<Item = u64> {
        let mut missing = vec![0; nodes.n_accounts()];
        for (n, lost) in missing.iter_mut().zip(&self.lost_by_node) {
            *n = u64::from(*lost);
        }
        let has_it =
            |listener| self.is_complete || self.arrived.as_ref().is_some_and(|it| it.contains(listener));
        for listener in members.slots().filter(|it| !gone.contains(*it) && !has_it(*it)) {
            missing[nodes.of(listener)] += 1;
        }
        missing.into_iter()
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
        self.n_late += other.n_late;
        self.n_out_of_order += other.n_out_of_order;
        self.harvest.merge(&other.harvest);
    }
}

impl Default for Harvest {
    fn default() -> Self {
        Self {
            n_delivered: 0,
            latency: Histogram::new(),
            // Empty in most steps.
            missing: Histogram::small(),
            by_node: Vec::new(),
        }
    }
}

impl Harvest {
    /// Nothing yet, from so many nodes.
    fn of(nodes: Nodes) -> Self {
        Self {
            by_node: vec![NodeHarvest::default(); nodes.n_accounts()],
            ..Self::default()
        }
    }

    fn is_empty(&self) -> bool {
        self.n_delivered == 0 && self.missing.is_empty()
    }

    /// Adds the deliveries of another worker.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.n_delivered += other.n_delivered;
        self.latency.merge(&other.latency);
        self.missing.merge(&other.missing);
        NodeHarvest::merge_all(&mut self.by_node, &other.by_node);
    }
}

impl Standing {
    /// Expected, and neither there nor known to be lost.
    pub(crate) fn n_missing(&self) -> u64 {
        self.n_expected.saturating_sub(self.n_settled)
    }

    /// Adds another worker's deliveries of the same step.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.n_expected += other.n_expected;
        self.n_settled += other.n_settled;
        self.last_at = self.last_at.max(other.last_at);
    }
}
