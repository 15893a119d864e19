//! A place in a log of several servers.

/// A place in a log that is kept elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place<'a> {
    /// The epoch of the log.
    pub epoch: &'a str,
    /// The offset of a message; 0: before the first one.
    pub offset: u64,
    /// The time of that message, in milliseconds of Unix time.
    pub at_ms: u64,
}
