//! A message of a channel, kept as text until it is examined.

use std::time::Instant;

use crate::inbox::HeapBytes;

/// What arrived for a channel, and when.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// The JSON text of the payload, exactly as sent.
    pub json: Box<str>,
    /// When it was read from the socket, on the monotonic clock.
    pub at: Instant,
    /// The time of the read on the wall clock, in milliseconds of Unix time.
    pub unix_ms: u64,
}

impl HeapBytes for Message {
    fn heap_bytes(&self) -> usize {
        self.json.len()
    }
}
