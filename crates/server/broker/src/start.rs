//! Where a replay begins, and why it is refused.

/// Where the replay of a stream begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Start<'a> {
    /// Behind this position.
    After {
        /// The epoch in which the offset counts.
        epoch: &'a str,
        /// The offset of the last message that the client has.
        offset: u64,
    },
    /// With the first message of this second of Unix time, or of a later one.
    Since(u64),
    /// With the first message behind this serial number: the client is live since its shard has seen that message.
    Unseen(u64),
}

/// The answer to a request by time when some of the messages are gone.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Truncation {
    /// The request is refused, so that the client learns of the loss.
    #[default]
    Refuse,
    /// The rest is replayed, as if it were all, as AnyCable does.
    Confirm,
}

/// Why a replay is refused, or cannot go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// The stream has no log.
    #[error("no messages of the stream are kept")]
    NoLog,
    /// The position belongs to another log.
    #[error("the epoch is not that of the stream's log")]
    OtherEpoch,
    /// The position is behind the last message.
    #[error("the offset is beyond the last message")]
    Ahead,
    /// Messages that the replay needs are gone.
    #[error("some of the messages are no longer kept")]
    Gone,
}
