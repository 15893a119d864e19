//! One message of a log.

use std::sync::Arc;

/// The name of a stream, and the epoch of its log.
#[derive(Debug, PartialEq, Eq)]
pub struct Label {
    /// The stream's name.
    pub stream: Box<str>,
    /// The epoch. No other log, also of the same stream, has the same one.
    pub epoch: Box<str>,
}

/// A message with its position.
#[derive(Debug)]
pub struct Entry<T> {
    /// The stream and its epoch, shared by all messages of the log.
    pub label: Arc<Label>,
    /// The number of the message in its log, from 1.
    pub offset: u64,
    /// The number of the message among those of all logs, from 1, in the order in which they were appended.
    pub serial: u64,
    /// The time at which the message was appended, in milliseconds of Unix time. Never less than that of the message
    /// before it in the log.
    pub at_ms: u64,
    /// The message.
    pub value: T,
    /// The memory that the entry counts as, in bytes.
    pub(crate) n_bytes: usize,
}

impl<T> Entry<T> {
    /// The memory of an entry without its message, in bytes: itself, its reference counts, and its slot in the log.
    pub(crate) const OVERHEAD: usize = size_of::<Self>() + 3 * size_of::<usize>();

    pub(crate) fn at_secs(&self) -> u64 {
        self.at_ms / 1000
    }

    /// The memory of the message, in bytes, as it was given when the message was appended.
    pub fn value_bytes(&self) -> usize {
        self.n_bytes - Self::OVERHEAD
    }
}
