//! Messages that have arrived and wait until their user asks for them.
//!
//! An inbox is bounded by number and by bytes. What happens at the bound is the user's choice: [`Overflow`].

use std::collections::VecDeque;

/// Up to this size, an empty queue keeps its memory for the next message.
const KEPT_ITEMS: usize = 8;

/// What happens when more arrives than an inbox holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overflow {
    /// The user stops reading its connection while the inbox [is full](Inbox::is_full), so that a server that floods fills
    /// its own connection.
    StopReading,
    /// The oldest messages give way, and are counted.
    DropOldest,
}

/// How much an inbox holds.
#[derive(Clone, Copy, Debug)]
pub struct Capacity {
    /// Messages that wait at most.
    pub n_messages: usize,
    /// Bytes of messages that wait at most. A number of messages alone is no bound where one may have a megabyte.
    pub n_bytes: usize,
    /// What happens when more arrives.
    pub overflow: Overflow,
}

/// Something whose size counts against [`Capacity::n_bytes`].
pub trait HeapBytes {
    /// What it holds on the heap, in bytes.
    fn heap_bytes(&self) -> usize;
}

/// A queue in the order of arrival.
#[derive(Debug)]
pub struct Inbox<T> {
    items: VecDeque<T>,
    capacity: Capacity,
    n_bytes: usize,
}

impl HeapBytes for Box<[u8]> {
    fn heap_bytes(&self) -> usize {
        self.len()
    }
}

impl<T: HeapBytes> Inbox<T> {
    /// An empty inbox, which owns no memory yet.
    pub fn new(capacity: Capacity) -> Self {
        Self {
            items: VecDeque::new(),
            capacity,
            n_bytes: 0,
        }
    }

    /// Whether the user must stop reading.
    pub fn is_full(&self) -> bool {
        let Capacity {
            n_messages, n_bytes, ..
        } = self.capacity;
        self.capacity.overflow == Overflow::StopReading
            && (self.items.len() >= n_messages || self.n_bytes >= n_bytes)
    }

    /// Adds the latest message. Returns how many of the oldest it dropped: none with [`Overflow::StopReading`], where one
    /// read of the socket may bring several messages, so that an inbox can exceed its capacity by one read (64 KiB) or one
    /// message.
    pub fn push(&mut self, item: T) -> u64 {
        self.n_bytes += item.heap_bytes();
        self.items.push_back(item);
        let mut n_dropped = 0;
        while self.capacity.overflow == Overflow::DropOldest
            && (self.items.len() > self.capacity.n_messages || self.n_bytes > self.capacity.n_bytes)
        {
            self.pop();
            n_dropped += 1;
        }
        n_dropped
    }

    /// Takes the oldest message.
    pub fn pop(&mut self) -> Option<T> {
        self.remove(0)
    }

    /// Takes the message at this position; the oldest has 0.
    pub fn remove(&mut self, position: usize) -> Option<T> {
        let item = self.items.remove(position)?;
        self.n_bytes -= item.heap_bytes();
        if self.items.is_empty() && self.items.capacity() > KEPT_ITEMS {
            self.items = VecDeque::new();
        }
        Some(item)
    }

    /// Takes the first message at or behind position `from` that is wanted.
    pub fn take_first(&mut self, from: usize, is_wanted: impl FnMut(&T) -> bool) -> Option<T> {
        let found = self.items.iter().skip(from).position(is_wanted)?;
        self.remove(from + found)
    }

    /// Drops everything.
    pub fn clear(&mut self) {
        self.items = VecDeque::new();
        self.n_bytes = 0;
    }

    /// The oldest message.
    pub fn front(&self) -> Option<&T> {
        self.items.front()
    }

    /// All messages, the oldest first.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.items.iter()
    }

    /// How many messages wait.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether no message waits.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: Capacity = Capacity {
        n_messages: 3,
        n_bytes: 100,
        overflow: Overflow::StopReading,
    };

    const DROPPING: Capacity = Capacity {
        overflow: Overflow::DropOldest,
        ..SMALL
    };

    fn inbox(capacity: Capacity, texts: &[&str]) -> Inbox<Box<[u8]>> {
        let mut inbox = Inbox::new(capacity);
        for text in texts {
            assert_eq!(inbox.push(text.as_bytes().into()), 0);
        }
        inbox
    }

    fn texts(inbox: &Inbox<Box<[u8]>>) -> Vec<&str> {
        inbox.iter().map(|text| str::from_utf8(text).unwrap()).collect()
    }

    #[test]
    fn it_is_full_by_number_and_by_bytes() {
        let mut many = inbox(SMALL, &[]);
        for is_full in [false, false, true, true] {
            many.push([0].into());
            assert_eq!(many.is_full(), is_full);
        }
        let mut long = inbox(SMALL, &[]);
        for (n_bytes, is_full) in [(99, false), (1, true)] {
            long.push(vec![0; n_bytes].into());
            assert_eq!(long.is_full(), is_full);
        }
        assert!(long.pop().is_some() && !long.is_full());
        assert!(long.pop().is_some() && long.pop().is_none() && long.is_empty());
        assert_eq!(long.n_bytes, 0);
    }

    #[test]
    fn the_oldest_give_way() {
        let check = |n_bytes: usize, expected: u64, left: usize| {
            let mut inbox = inbox(DROPPING, &["a", "b", "c"]);
            assert_eq!(inbox.push(vec![0; n_bytes].into()), expected, "{n_bytes}");
            assert_eq!((inbox.len(), inbox.is_full()), (left, false), "{n_bytes}");
        };
        check(1, 1, 3);
        check(98, 1, 3);
        check(99, 2, 2);
        check(100, 3, 1);
        check(101, 4, 0);
        let mut nothing = Inbox::<Box<[u8]>>::new(Capacity {
            n_messages: 0,
            ..DROPPING
        });
        assert_eq!(nothing.push([0].into()), 1);
        assert!(nothing.is_empty());
    }

    #[test]
    fn the_first_wanted_message_is_taken() {
        let mut inbox = inbox(SMALL, &["a1", "b1", "a2"]);
        let mut take = |from, first: u8| {
            let taken = inbox.take_first(from, |text| text[0] == first)?;
            Some(String::from_utf8(taken.into()).unwrap())
        };
        assert_eq!(take(0, b'b').as_deref(), Some("b1"));
        assert_eq!(take(1, b'a').as_deref(), Some("a2"));
        assert_eq!(take(0, b'b'), None);
        assert_eq!(texts(&inbox), ["a1"]);
    }

    #[test]
    fn an_empty_one_gives_its_memory_back() {
        let mut inbox = inbox(SMALL, &[]);
        for _ in 0..100 {
            inbox.push([0].into());
        }
        while inbox.pop().is_some() {}
        assert_eq!((inbox.items.capacity(), inbox.n_bytes), (0, 0));
        inbox.push([0].into());
        inbox.clear();
        assert_eq!((inbox.len(), inbox.n_bytes), (0, 0));
    }
}
