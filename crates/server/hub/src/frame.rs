//! Encoded frames, shared by outboxes, and their cost.

use std::{fmt, ops::Deref, rc::Rc};

use crate::Budget;

/// One encoded frame, shared by every outbox of the shard that holds it. It counts in the shard's [`Budget`] from its
/// creation until the last outbox drops it.
///
/// `Rc`, not `Arc`: a shard encodes its own copy, because a reference count that two cores change costs more than the
/// encoding. One pointer wide, because each of its outboxes has a slot for it.
#[derive(Clone)]
pub struct Frame(Rc<Counted>);

struct Counted {
    bytes: Vec<u8>,
    budget: Rc<Budget>,
}

/// Unused bytes at the end of a frame that are not released. Releasing them costs more than they do.
const KEPT_SLACK: usize = 16;

impl Frame {
    /// The memory for a frame beside its bytes: the shared part, and the allocator's rounding.
    pub const OVERHEAD: usize = size_of::<Counted>() + 24;

    pub(crate) fn new(mut bytes: Vec<u8>, budget: &Rc<Budget>) -> Self {
        if bytes.capacity() - bytes.len() > KEPT_SLACK {
            bytes.shrink_to_fit();
        }
        budget.add(bytes.capacity() + Self::OVERHEAD);
        Self(Rc::new(Counted {
            bytes,
            budget: Rc::clone(budget),
        }))
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.budget.sub(self.bytes.capacity() + Frame::OVERHEAD);
    }
}

impl Deref for Frame {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0.bytes
    }
}

impl fmt::Debug for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Frame({} bytes)", self.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_counts_once_until_the_last_holder_lets_go() {
        let budget = Budget::new(usize::MAX);
        let mut bytes = Vec::with_capacity(1000);
        bytes.extend([7; 100]);
        let frame = Frame::new(bytes, &budget);
        let cost = 100 + Frame::OVERHEAD;
        assert_eq!(budget.used(), cost, "unused capacity is given back");
        let shared = frame.clone();
        drop(frame);
        assert_eq!((budget.used(), shared.len()), (cost, 100));
        drop(shared);
        assert_eq!(budget.used(), 0);
    }

    #[test]
    fn little_unused_capacity_stays() {
        for (capacity, kept) in [(100, 100), (116, 116), (117, 100)] {
            let budget = Budget::new(usize::MAX);
            let mut bytes = Vec::with_capacity(capacity);
            bytes.extend([7; 100]);
            let _frame = Frame::new(bytes, &budget);
            assert_eq!(budget.used(), kept + Frame::OVERHEAD, "{capacity} bytes of room");
        }
    }

    #[test]
    fn logs_show_the_length_alone() {
        let frame = Frame::new(b"secret".into(), &Budget::new(usize::MAX));
        assert_eq!(format!("{frame:?}"), "Frame(6 bytes)");
    }

    #[test]
    fn a_queue_has_one_pointer_per_frame() {
        assert_eq!(size_of::<Frame>(), size_of::<usize>());
    }
}
