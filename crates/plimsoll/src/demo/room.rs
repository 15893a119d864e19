//! The books of a chat room: which messages were spoken, and what each listener heard of them.
//!
//! Exact although people come and go: messages are numbered across the whole run. A listener owes an account
//! of every number that was given out between its confirmed subscription and the moment it decides to leave;
//! it waits for stragglers before it really goes. What is missing then was lost.

use std::{
    collections::{BTreeSet, HashMap},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

/// The common data of all users of a room.
#[derive(Debug)]
pub(super) struct Room {
    opened: Instant,
    next_number: AtomicU64,
    /// The numbers of messages that could not be sent, so no user can receive them. Almost always empty.
    unsent: Mutex<BTreeSet<u64>>,
}

/// The mark in a message's text by which every listener accounts for the message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Mark {
    /// The number of the message in the whole run.
    pub(super) number: u64,
    /// The time before the send, since the room was opened.
    sent: Duration,
}

/// The account of one listener, from its subscription to its leave.
#[derive(Debug)]
pub(super) struct Listener {
    first_number: u64,
    /// Bit `n` stands for message `first_number + n`.
    heard: Vec<u64>,
    last_of_author: HashMap<String, u64>,
    n_duplicated: u64,
    n_out_of_order: u64,
}

/// The result of a listener's account.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Account {
    /// Messages that it should have heard.
    pub(super) n_expected: u64,
    /// The number of these messages that the listener received.
    pub(super) n_received: u64,
    /// Messages that came again.
    pub(super) n_duplicated: u64,
    /// Messages of an author that came after a later one of the same author.
    pub(super) n_out_of_order: u64,
}

impl Room {
    pub(super) fn open() -> Self {
        Self {
            opened: Instant::now(),
            next_number: AtomicU64::new(0),
            unsent: Mutex::default(),
        }
    }

    /// Numbers a message that is about to be sent.
    pub(super) fn mark(&self) -> Mark {
        Mark {
            number: self.next_number.fetch_add(1, Ordering::SeqCst),
            sent: self.opened.elapsed(),
        }
    }

    /// Takes back a number whose message was not sent.
    pub(super) fn was_not_sent(&self, mark: Mark) {
        self.unsent
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(mark.number);
    }

    /// Begins an account; call it when the subscription is confirmed.
    pub(super) fn join(&self) -> Listener {
        Listener {
            first_number: self.now(),
            heard: Vec::new(),
            last_of_author: HashMap::new(),
            n_duplicated: 0,
            n_out_of_order: 0,
        }
    }

    /// The first number that is not given out yet: where the account of a leaving listener ends.
    pub(super) fn now(&self) -> u64 {
        self.next_number.load(Ordering::SeqCst)
    }

    /// The delay of a message.
    pub(super) fn age(&self, mark: Mark, arrived: Instant) -> Duration {
        arrived.saturating_duration_since(self.opened + mark.sent)
    }

    /// Closes an account that ends before number `end`.
    pub(super) fn account(&self, listener: &Listener, end: u64) -> Account {
        let unsent = self.unsent.lock().unwrap_or_else(PoisonError::into_inner);
        let range = listener.first_number..end.max(listener.first_number);
        let n_expected = (range.end - range.start) - unsent.range(range.clone()).count() as u64;
        Account {
            n_expected,
            n_received: range.filter(|number| listener.has_heard(*number)).count() as u64,
            n_duplicated: listener.n_duplicated,
            n_out_of_order: listener.n_out_of_order,
        }
    }
}

impl Mark {
    /// Writes the mark behind a message's words.
    pub(super) fn append_to(self, words: &str) -> String {
        format!("{words} #{}@{}", self.number, self.sent.as_nanos())
    }

    /// Reads the mark of a message that [`Mark::append_to`] made.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (_, mark) = text.rsplit_once(" #")?;
        let (number, sent) = mark.split_once('@')?;
        Some(Self {
            number: number.parse().ok()?,
            sent: Duration::from_nanos(sent.parse().ok()?),
        })
    }
}

impl Listener {
    /// Records an arrival. Returns whether it counts as a new message of this account; messages from before the
    /// subscription do not.
    pub(super) fn hear(&mut self, author: &str, mark: Mark) -> bool {
        let Some(bit) = mark.number.checked_sub(self.first_number) else {
            return false;
        };
        if self.has_heard(mark.number) {
            self.n_duplicated += 1;
            return false;
        }
        let (word, mask) = position(bit);
        if self.heard.len() <= word {
            self.heard.resize(word + 1, 0);
        }
        self.heard[word] |= mask;
        self.note_order(author, mark.number);
        true
    }

    fn has_heard(&self, number: u64) -> bool {
        let (word, mask) = position(number - self.first_number);
        self.heard.get(word).is_some_and(|bits| bits & mask != 0)
    }

    fn note_order(&mut self, author: &str, number: u64) {
        match self.last_of_author.get_mut(author) {
            Some(last) if *last > number => self.n_out_of_order += 1,
            Some(last) => *last = number,
            None => {
                self.last_of_author.insert(author.to_owned(), number);
            }
        }
    }
}

impl Account {
    /// Messages that never came.
    pub(super) fn n_lost(&self) -> u64 {
        self.n_expected.saturating_sub(self.n_received)
    }
}

fn position(bit: u64) -> (usize, u64) {
    let word = usize::try_from(bit / 64).expect("a run has fewer messages than bits of memory");
    (word, 1 << (bit % 64))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sends one message per letter of `spoken` (its author) while a listener is present, delivers the messages with
    /// the numbers `heard` to the listener, and compares the account.
    #[track_caller]
    fn check(spoken: &str, unsent: &[u64], heard: &[u64], expected: Account) {
        let room = Room::open();
        let before = room.mark();
        let mut listener = room.join();
        let authors: Vec<String> = spoken.chars().map(String::from).collect();
        let marks: Vec<Mark> = authors.iter().map(|_| room.mark()).collect();
        for number in unsent {
            room.was_not_sent(marks[*number as usize]);
        }
        assert!(
            !listener.hear("x", before),
            "what was spoken before does not count"
        );
        for number in heard {
            listener.hear(&authors[*number as usize], marks[*number as usize]);
        }
        let end = room.now();
        room.mark();
        assert_eq!(room.account(&listener, end), expected, "{spoken} {heard:?}");
    }

    #[test]
    fn losses_duplicates_and_order_are_exact() {
        let account = |n_expected, n_received, n_duplicated, n_out_of_order| Account {
            n_expected,
            n_received,
            n_duplicated,
            n_out_of_order,
        };
        check("", &[], &[], account(0, 0, 0, 0));
        check("aba", &[], &[0, 1, 2], account(3, 3, 0, 0));
        check("aba", &[], &[1, 0, 2], account(3, 3, 0, 0));
        check("aba", &[], &[2, 1, 0], account(3, 3, 0, 1));
        check("aba", &[], &[0, 2], account(3, 2, 0, 0));
        check("aba", &[1], &[0, 2], account(2, 2, 0, 0));
        check("aba", &[], &[0, 0, 1, 2, 2], account(3, 3, 2, 0));
        let many = "a".repeat(1000);
        let all: Vec<u64> = (0..1000).collect();
        check(&many, &[], &all, account(1000, 1000, 0, 0));
        check(&many, &[], &all[..999], account(1000, 999, 0, 0));
    }

    #[test]
    fn a_mark_survives_the_trip() {
        let room = Room::open();
        let mark = room.mark();
        let text = mark.append_to("hello from Kay #1@home");
        assert_eq!(Mark::parse(&text), Some(mark));
        for text in ["", "hello", "hello #1", "hello #x@1", "hello #1@"] {
            assert_eq!(Mark::parse(text), None, "{text}");
        }
        let arrived = room.opened + mark.sent + Duration::from_millis(5);
        assert_eq!(room.age(mark, arrived), Duration::from_millis(5));
    }
}
