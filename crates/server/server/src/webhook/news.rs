//! What the webhook is told about one member.

use std::sync::Arc;

/// The memory of one entry of the queue besides its texts, in bytes.
const OVERHEAD: usize = 96;

/// A member has come, has changed its info, or has left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct News {
    /// `join`, `update` or `leave`.
    pub(crate) kind: &'static str,
    /// The stream.
    pub(crate) stream: Arc<str>,
    /// The member's id.
    pub(crate) id: Arc<str>,
    /// The member's info as JSON text.
    pub(crate) info: Option<Arc<str>>,
    /// When it happened, in Unix milliseconds.
    pub(crate) at_ms: u64,
}

impl News {
    /// The memory of the entry, in bytes, if no other owner has its texts.
    pub(super) fn n_bytes(&self) -> usize {
        OVERHEAD + self.stream.len() + self.id.len() + self.info.as_deref().map_or(0, str::len)
    }
}
