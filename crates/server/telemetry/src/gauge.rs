//! Gauges: numbers that go up and down.

use std::sync::{
    Arc,
    atomic::{AtomicI64, Ordering},
};

/// One cell of a gauge. A reader adds the cells of a metric. A clone is the same cell.
#[derive(Debug, Clone, Default)]
pub struct Gauge(Arc<Cell>);

/// A value on a cache line of its own, as for counters.
#[derive(Debug, Default)]
#[repr(align(64))]
struct Cell(AtomicI64);

impl Gauge {
    /// Adds `n`.
    pub fn add(&self, n: i64) {
        self.0.0.fetch_add(n, Ordering::Relaxed);
    }

    /// Subtracts `n`.
    pub fn sub(&self, n: i64) {
        self.0.0.fetch_sub(n, Ordering::Relaxed);
    }

    /// Sets this cell to `value`. Other cells of the metric keep theirs.
    pub fn set(&self, value: i64) {
        self.0.0.store(value, Ordering::Relaxed);
    }

    /// The value of this cell.
    pub fn get(&self) -> i64 {
        self.0.0.load(Ordering::Relaxed)
    }
}
