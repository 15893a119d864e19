//! Counters: numbers that only grow.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

/// One cell of a counter. A reader adds the cells of a metric, so a shard with a cell of its own never waits for
/// another core. A clone is the same cell.
#[derive(Debug, Clone, Default)]
pub struct Counter(Arc<Cell>);

/// A value on a cache line of its own. Cells of different shards on one line would make their cores wait for each
/// other.
#[derive(Debug, Default)]
#[repr(align(64))]
struct Cell(AtomicU64);

impl Counter {
    /// Adds 1.
    pub fn increment(&self) {
        self.add(1);
    }

    /// Adds `n`. The counter wraps after 2^64.
    pub fn add(&self, n: u64) {
        self.0.0.fetch_add(n, Ordering::Relaxed);
    }

    /// The value of this cell.
    pub fn get(&self) -> u64 {
        self.0.0.load(Ordering::Relaxed)
    }
}
