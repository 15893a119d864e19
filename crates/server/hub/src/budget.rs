//! The memory for unsent data of one shard, and its limit.

use std::{cell::Cell, rc::Rc};

/// Counts bytes of frames, of outbox queues, and of anything else that is reserved for sessions.
///
/// A frame counts once, with its first outbox, however many outboxes share it; each outbox counts the slots of its
/// queue. The hub counts, and refuses new frames at the limit. The caller makes room, starting at
/// [`tight_at`](Self::tight_at).
#[derive(Debug)]
pub struct Budget {
    used: Cell<usize>,
    limit: usize,
}

impl Budget {
    /// An unused budget of `limit` bytes.
    pub fn new(limit: usize) -> Rc<Self> {
        Rc::new(Self {
            used: Cell::new(0),
            limit,
        })
    }

    /// Bytes in use.
    pub fn used(&self) -> usize {
        self.used.get()
    }

    /// The limit in bytes.
    pub fn limit(&self) -> usize {
        self.limit
    }

    /// The number of bytes beyond which the caller should make room: seven eighths of the limit.
    pub fn tight_at(&self) -> usize {
        self.limit - self.limit / 8
    }

    /// Whether the limit is reached.
    pub fn is_exhausted(&self) -> bool {
        self.used.get() >= self.limit
    }

    /// Bytes that must be freed to get down to three quarters of the limit; 0 if fewer are used.
    pub fn excess(&self) -> usize {
        self.used.get().saturating_sub(self.limit / 4 * 3)
    }

    pub(crate) fn add(&self, n_bytes: usize) {
        self.used.set(self.used.get() + n_bytes);
    }

    pub(crate) fn sub(&self, n_bytes: usize) {
        self.used.set(self.used.get() - n_bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(used: usize, exhausted: bool, excess: usize) {
        let budget = Budget::new(800);
        budget.add(used);
        assert_eq!(
            (budget.is_exhausted(), budget.excess()),
            (exhausted, excess),
            "{used} of 800 bytes"
        );
    }

    #[test]
    fn room_is_made_before_the_limit_is_reached() {
        assert_eq!(
            (Budget::new(800).limit(), Budget::new(800).tight_at()),
            (800, 700)
        );
        check(0, false, 0);
        check(600, false, 0);
        check(701, false, 101);
        check(799, false, 199);
        check(800, true, 200);
    }
}
