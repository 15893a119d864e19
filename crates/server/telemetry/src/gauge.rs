//! Numbers that go up and down.

use std::sync::{
    Arc,
    atomic::{AtomicI64, Ordering},
};

/// One cell of a gauge. Cells of the same metric are added when the metric is read. A clone changes the same
/// cell.
#[derive(Debug, Clone, Default)]
pub struct Gauge(Arc<Cell>);

/// A cache line of its own, as with counters.
#[derive(Debug, Default)]
#[repr(align(64))]
struct Cell(AtomicI64);

impl Gauge {
    /// Goes up by `n`.
    pub fn add(&self, n: i64) {
        self.0.0.fetch_add(n, Ordering::Relaxed);
    }

    /// Goes down by `n`.
    pub fn sub(&self, n: i64) {
        self.0.0.fetch_sub(n, Ordering::Relaxed);
    }

    /// Becomes `value`; other cells of the metric keep theirs.
    pub fn set(&self, value: i64) {
        self.0.0.store(value, Ordering::Relaxed);
    }

    /// The value of this cell.
    pub fn get(&self) -> i64 {
        self.0.0.load(Ordering::Relaxed)
    }
}
