//! JSON that is not a message.

/// The fault, with its place, in the words of protobuf's library for Go.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("proto: {0}")]
pub(crate) struct Invalid(pub(super) String);
