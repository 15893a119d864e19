//! A message of a channel, kept as text until it is examined.

use std::{rc::Rc, time::Instant};

use crate::inbox::HeapBytes;

/// What arrived for a channel, and when.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// The JSON text of the payload, exactly as sent. Messages of several channels may share it.
    pub json: Rc<str>,
    /// When it was read from the socket, on the monotonic clock.
    pub at: Instant,
    /// The time of the read on the wall clock, in milliseconds of Unix time.
    pub unix_ms: u64,
}

/// When a message was read from the socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Mark {
    /// On the monotonic clock.
    pub(super) at: Instant,
    /// On the wall clock, in milliseconds of Unix time.
    pub(super) unix_ms: u64,
}

impl Message {
    /// Its times.
    pub(super) fn mark(&self) -> Mark {
        Mark {
            at: self.at,
            unix_ms: self.unix_ms,
        }
    }
}

impl Mark {
    /// The message with this text that arrived then.
    pub(super) fn on(self, json: Rc<str>) -> Message {
        Message {
            json,
            at: self.at,
            unix_ms: self.unix_ms,
        }
    }
}

impl HeapBytes for Message {
    fn heap_bytes(&self) -> usize {
        self.json.len()
    }
}
