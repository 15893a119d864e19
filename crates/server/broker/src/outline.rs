//! The log of a stream in figures, for operators and backends.

use std::sync::Arc;

use crate::Label;

/// The figures of one log.
#[derive(Debug, Clone)]
pub struct Outline {
    /// The stream and the epoch of its log.
    pub label: Arc<Label>,
    /// The offset of the last message, kept or not; 0 before the first one.
    pub top: u64,
    /// Messages that are kept and not too old.
    pub n_entries: usize,
    /// The memory of the log, in bytes.
    pub n_bytes: usize,
    /// The time of the last message, in milliseconds of Unix time.
    pub last_at_ms: u64,
}

impl Outline {
    /// The offset before the oldest message that is kept: a replay from there has all of them.
    pub fn before_oldest(&self) -> u64 {
        self.top - self.n_entries as u64
    }
}
