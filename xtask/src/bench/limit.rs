//! The physical limits: what the system calls alone cost on this machine, right now.
//!
//! The loops do nothing that a server or client could leave out: no protocol, no bookkeeping, one buffer. They run
//! over loopback TCP inside this process and measure the CPU time of one thread.

pub(super) mod accept;
pub(super) mod exchange;
pub(super) mod pairs;
mod thread_cpu;
mod writer;

use std::time::Duration;

/// Most connections whose two ends fit into one process with 20,000 open files.
pub(super) const MAX_CONNECTIONS: usize = 9_000;

/// CPU time that one thread spent on a number of equal operations.
pub(super) struct Cost {
    pub(super) n_operations: usize,
    pub(super) cpu: Duration,
}

impl Cost {
    /// CPU microseconds per operation.
    pub(super) fn us_per_operation(&self) -> f64 {
        self.cpu.as_secs_f64() * 1e6 / self.n_operations as f64
    }
}
