//! Numbers that only grow.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

/// One cell of a counter. Cells of the same metric are added when the metric is read, so a shard with a cell of
/// its own counts without ever waiting for another core. A clone counts into the same cell.
#[derive(Debug, Clone, Default)]
pub struct Counter(Arc<Cell>);

/// A cache line of its own: cells of different shards that shared one would make their cores wait for each other.
#[derive(Debug, Default)]
#[repr(align(64))]
struct Cell(AtomicU64);

impl Counter {
    /// Counts one more.
    pub fn increment(&self) {
        self.add(1);
    }

    /// Counts `n` more. It wraps after 2^64.
    pub fn add(&self, n: u64) {
        self.0.0.fetch_add(n, Ordering::Relaxed);
    }

    /// What this cell has counted.
    pub fn get(&self) -> u64 {
        self.0.0.load(Ordering::Relaxed)
    }
}
