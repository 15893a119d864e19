//! The servers of a cluster as a ledger sees them.

use plimsoll_load::histogram::{self, Histogram};
use serde::{Deserialize, Serialize};

/// The servers that a worker's clients are spread over. Workers and servers take turns, so that each worker has clients of
/// each server, and the slot of a client tells its server.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Nodes {
    n: usize,
    worker: usize,
}

/// Deliveries to the listeners of one server that have not been reported yet.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct NodeHarvest {
    /// As in [`Harvest`](super::Harvest), and so are the others.
    pub(crate) n_delivered: u64,
    #[serde(deserialize_with = "histogram::durations")]
    pub(crate) latency: Histogram,
    #[serde(deserialize_with = "histogram::durations")]
    pub(crate) missing: Histogram,
}

impl Nodes {
    /// So many servers, for the worker with this number.
    pub(crate) fn new(n: usize, worker: usize) -> Self {
        Self { n, worker }
    }

    /// The number of servers with accounts of their own: a single one needs none.
    pub(crate) fn n_accounts(self) -> usize {
        if self.n > 1 { self.n } else { 0 }
    }

    /// The number of the server, from 0, of the client in `slot`.
    pub(crate) fn of(self, slot: usize) -> usize {
        (self.worker + slot) % self.n.max(1)
    }
}

impl Default for NodeHarvest {
    fn default() -> Self {
        Self {
            n_delivered: 0,
            latency: Histogram::small(),
            missing: Histogram::small(),
        }
    }
}

impl NodeHarvest {
    /// The number of deliveries that were due.
    pub(crate) fn n_expected(&self) -> u64 {
        self.latency.count() + self.missing.count()
    }

    /// Adds the deliveries of others, server by server. An empty list is a list of nothing.
    pub(crate) fn merge_all(all: &mut Vec<Self>, others: &[Self]) {
        if all.len() < others.len() {
            all.resize_with(others.len(), Self::default);
        }
        for (one, other) in all.iter_mut().zip(others) {
            one.n_delivered += other.n_delivered;
            one.latency.merge(&other.latency);
            one.missing.merge(&other.missing);
        }
    }
}
