//! Messages that a client has received and no step has taken, in the order of their arrival.

use std::{cell::OnceCell, time::Instant};

use plimsoll_clients::inbox::{Capacity, HeapBytes, Inbox, Overflow};
use serde_json::Value;

/// The most waiting messages. A step that has to look further fails.
pub(super) const MOST_MESSAGES: usize = 10_000;

/// Bytes of messages that wait at most.
pub(super) const MOST_BYTES: usize = 4 << 20;

/// A text message.
#[derive(Debug)]
pub(super) struct Message {
    /// When it was read from the socket.
    pub(super) at: Instant,
    pub(super) text: String,
    json: OnceCell<Option<Value>>,
}

impl Message {
    pub(super) fn new(at: Instant, text: String) -> Self {
        Self {
            at,
            text,
            json: OnceCell::new(),
        }
    }

    /// The text as JSON, if it is JSON. Parsed once, because many steps may examine a message.
    pub(super) fn json(&self) -> Option<&Value> {
        let json = self.json.get_or_init(|| serde_json::from_str(&self.text).ok());
        json.as_ref()
    }
}

impl HeapBytes for Message {
    fn heap_bytes(&self) -> usize {
        self.text.len()
    }
}

/// What waits. While it is full, the socket is not read.
#[derive(Debug)]
pub(super) struct Mailbox {
    messages: Inbox<Message>,
    /// How many messages at the front a step has examined and left.
    n_seen: usize,
}

impl Default for Mailbox {
    fn default() -> Self {
        Self {
            messages: Inbox::new(Capacity {
                n_messages: MOST_MESSAGES,
                n_bytes: MOST_BYTES,
                overflow: Overflow::StopReading,
            }),
            n_seen: 0,
        }
    }
}

impl Mailbox {
    /// Adds the latest message.
    pub(super) fn push(&mut self, message: Message) {
        self.messages.push(message);
    }

    /// Whether the mailbox is full.
    pub(super) fn is_full(&self) -> bool {
        self.messages.is_full()
    }

    /// Takes the first message at or behind position `from` for which `matches` is true. Those before it count as seen.
    pub(super) fn take(&mut self, from: usize, matches: impl Fn(&Message) -> bool) -> Option<Message> {
        let position = self.messages.iter().skip(from).position(matches);
        let position = position.map(|position| from + position);
        self.n_seen = match position {
            Some(position) if position < self.n_seen => self.n_seen - 1,
            _ => position.unwrap_or(self.messages.len()),
        };
        self.messages.remove(position?)
    }

    /// Takes the first message for which `is_answer` is true of those that arrived after the first `n_before`. No message
    /// counts as seen.
    pub(super) fn take_answer(
        &mut self,
        n_before: usize,
        is_answer: impl Fn(&Message) -> bool,
    ) -> Option<Message> {
        self.messages.take_first(n_before, is_answer)
    }

    /// Takes the first message that no step has examined.
    pub(super) fn take_unseen(&mut self) -> Option<Message> {
        self.messages.remove(self.n_seen)
    }

    /// How many wait.
    pub(super) fn len(&self) -> usize {
        self.messages.len()
    }

    /// The first of them.
    pub(super) fn first(&self) -> Option<&Message> {
        self.messages.front()
    }

    /// All of them.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Message> {
        self.messages.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(text: &str) -> Message {
        Message::new(Instant::now(), text.to_owned())
    }

    #[test]
    fn what_is_not_taken_stays_in_order() {
        let mut mailbox = Mailbox::default();
        for text in ["a1", "b1", "a2", "b2"] {
            mailbox.push(message(text));
        }
        let mut take = |first: &str| {
            let taken = mailbox.take(0, |message| message.text.starts_with(first));
            (taken.map(|message| message.text), mailbox.n_seen)
        };
        let text = |text: &str| Some(text.to_owned());
        assert_eq!(take("b"), (text("b1"), 1));
        assert_eq!(take("a"), (text("a1"), 0));
        assert_eq!(take("b"), (text("b2"), 1));
        assert_eq!(take("b"), (None, 1));
        let left: Vec<_> = mailbox.iter().map(|message| message.text.as_str()).collect();
        assert_eq!(left, ["a2"]);
        assert_eq!(mailbox.len(), 1);
    }

    #[test]
    fn what_was_seen_and_left_is_told_apart() {
        let mut mailbox = Mailbox::default();
        for text in ["a", "b", "c"] {
            mailbox.push(message(text));
        }
        assert_eq!(mailbox.take(0, |message| message.text == "b").unwrap().text, "b");
        assert_eq!(mailbox.take_unseen().unwrap().text, "c");
        assert!(mailbox.take_unseen().is_none());
        mailbox.push(message("d"));
        assert!(mailbox.take(1, |_| false).is_none());
        mailbox.push(message("e"));
        assert_eq!(mailbox.take_unseen().unwrap().text, "e");
        let left: Vec<_> = mailbox.iter().map(|message| message.text.as_str()).collect();
        assert_eq!(left, ["a", "d"]);
    }

    #[test]
    fn it_is_full_at_its_bounds() {
        let mut many = Mailbox::default();
        for _ in 0..MOST_MESSAGES {
            assert!(!many.is_full());
            many.push(message(""));
        }
        assert!(many.is_full());
        let mut long = Mailbox::default();
        long.push(message(&"x".repeat(MOST_BYTES)));
        assert!(long.is_full());
        long.take(0, |_| true).unwrap();
        assert!(!long.is_full());
    }

    #[test]
    fn texts_are_read_as_json_when_they_are_any() {
        assert_eq!(message("{\"a\":1}").json().unwrap()["a"], 1);
        assert_eq!(message("hi").json(), None);
    }
}
