//! One sample of a target: numbers with names, each of a kind that defines its meaning over time.

use std::{borrow::Cow, time::Instant};

use serde::{Deserialize, Serialize};

/// CPU time in seconds; over time, the number of busy cores. The only figure whose name over time does not fit its
/// kind.
pub const CPU_CORES: &str = "cpu_cores";
/// Resident memory in bytes.
pub const RSS_BYTES: &str = "rss_bytes";
/// Resident memory with every shared page divided by the number of its processes, in bytes.
pub const PSS_BYTES: &str = "pss_bytes";
/// Threads.
pub const THREADS: &str = "threads";
/// Open file descriptors.
pub const OPEN_FILES: &str = "open_files";
/// Open sockets.
pub const SOCKETS: &str = "sockets";
/// Live processes.
pub const PROCESSES: &str = "processes";
/// Bytes that the target's network namespace received; over time, per second.
pub const NETWORK_RECEIVED_BYTES: &str = "network_received_bytes";
/// Bytes that the target's network namespace sent; over time, per second.
pub const NETWORK_SENT_BYTES: &str = "network_sent_bytes";

/// A number, and its meaning over time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Figure {
    /// What is there now, such as memory.
    Level(f64),
    /// A sum that only grows (until it restarts at 0), such as CPU time; over time it is a rate per second.
    Total(f64),
    /// A sum of observations and their number, both growing; over time it is the mean of those in between.
    Mean {
        /// The sum.
        sum: f64,
        /// The number.
        count: f64,
    },
}

/// The figures of one sample by name; no name occurs twice.
pub type Figures = [(Cow<'static, str>, Figure)];

/// All figures of one sample.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    /// When it was taken.
    pub taken_at: Instant,
    /// By name; no name occurs twice.
    pub figures: Vec<(Cow<'static, str>, Figure)>,
}

impl Figure {
    /// Whether all its numbers are finite: others cannot be shown, nor written as JSON.
    pub(super) fn is_finite(self) -> bool {
        match self {
            Self::Level(value) | Self::Total(value) => value.is_finite(),
            Self::Mean { sum, count } => sum.is_finite() && count.is_finite(),
        }
    }
}
