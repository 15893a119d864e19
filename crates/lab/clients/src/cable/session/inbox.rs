//! Messages that have arrived and that nobody has asked for yet.

use std::collections::VecDeque;

use super::Message;

/// A queue, first in, first out. Full rule: whoever fills it has to stop. It takes what comes anyway, because one
/// read from the socket may bring several messages, so it can exceed its capacity by one read (64 KiB) or one message.
#[derive(Debug)]
pub(super) struct Inbox<T> {
    items: VecDeque<T>,
    capacity: usize,
    n_bytes: usize,
}

/// What an item holds on the heap.
pub(super) trait HeapBytes {
    fn heap_bytes(&self) -> usize;
}

impl<T: HeapBytes> Inbox<T> {
    /// A count alone is no bound where one message may have a megabyte.
    const MAX_BYTES: usize = 16 * 1024 * 1024;

    /// Up to this size, an empty queue keeps its memory for the next message.
    const KEPT_ITEMS: usize = 8;

    /// Room for `capacity` items.
    pub(super) fn new(capacity: usize) -> Self {
        Self {
            items: VecDeque::new(),
            capacity,
            n_bytes: 0,
        }
    }

    pub(super) fn is_full(&self) -> bool {
        self.items.len() >= self.capacity || self.n_bytes >= Self::MAX_BYTES
    }

    pub(super) fn front(&self) -> Option<&T> {
        self.items.front()
    }

    pub(super) fn push(&mut self, item: T) {
        self.n_bytes += item.heap_bytes();
        self.items.push_back(item);
    }

    pub(super) fn pop(&mut self) -> Option<T> {
        let item = self.items.pop_front()?;
        self.n_bytes -= item.heap_bytes();
        if self.items.is_empty() && self.items.capacity() > Self::KEPT_ITEMS {
            self.items = VecDeque::new();
        }
        Some(item)
    }

    pub(super) fn clear(&mut self) {
        self.items = VecDeque::new();
        self.n_bytes = 0;
    }
}

impl HeapBytes for Message {
    fn heap_bytes(&self) -> usize {
        self.json.len()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    fn message(n_bytes: usize) -> Message {
        Message {
            json: "x".repeat(n_bytes).into(),
            at: Instant::now(),
            unix_ms: 0,
        }
    }

    #[test]
    fn it_is_full_by_number_and_by_bytes() {
        let mut inbox = Inbox::new(3);
        for (n_bytes, is_full) in [(1, false), (1, false), (1, true), (1, true)] {
            inbox.push(message(n_bytes));
            assert_eq!(inbox.is_full(), is_full);
        }
        let mut inbox = Inbox::new(3);
        inbox.push(message(16 * 1024 * 1024));
        assert!(inbox.is_full());
        assert!(inbox.pop().is_some() && inbox.pop().is_none() && !inbox.is_full());
    }

    #[test]
    fn an_empty_one_gives_its_memory_back() {
        let mut inbox = Inbox::new(100);
        (0..100).for_each(|_| inbox.push(message(1)));
        while inbox.pop().is_some() {}
        assert_eq!((inbox.items.capacity(), inbox.n_bytes), (0, 0));
    }
}
