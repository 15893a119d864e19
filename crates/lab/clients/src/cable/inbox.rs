//! Messages that have arrived and that nobody has asked for yet.

use std::collections::VecDeque;

use super::Received;

/// A queue, first in, first out. Overflow rule: the oldest message is dropped and counted.
#[derive(Debug)]
pub(super) struct Inbox {
    messages: VecDeque<Received>,
    capacity: usize,
    n_dropped: u64,
}

impl Inbox {
    pub(super) fn new(capacity: usize) -> Self {
        Self {
            messages: VecDeque::new(),
            capacity,
            n_dropped: 0,
        }
    }

    pub(super) fn push(&mut self, message: Received) {
        if self.messages.len() >= self.capacity {
            self.n_dropped += 1;
            if self.messages.pop_front().is_none() {
                // A capacity of 0 keeps nothing.
                return;
            }
        }
        self.messages.push_back(message);
    }

    /// The oldest message that matches. Older ones that do not are consumed with it.
    pub(super) fn take_matching(&mut self, matches: &mut impl FnMut(&str) -> bool) -> Option<Received> {
        while let Some(message) = self.messages.pop_front() {
            if matches(&message.message) {
                return Some(message);
            }
        }
        None
    }

    pub(super) fn n_dropped(&self) -> u64 {
        self.n_dropped
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    #[test]
    fn the_oldest_match_wins_and_the_oldest_surplus_goes() {
        let check = |capacity, pushed: &[&str], wanted: &[&str], got: &[Option<&str>], n_dropped| {
            let mut inbox = Inbox::new(capacity);
            for message in pushed {
                inbox.push(Received {
                    message: (*message).to_owned(),
                    at: Instant::now(),
                });
            }
            let taken: Vec<_> = wanted
                .iter()
                .map(|prefix| {
                    inbox
                        .take_matching(&mut |it| it.starts_with(prefix))
                        .map(|it| it.message)
                })
                .collect();
            let taken: Vec<_> = taken.iter().map(Option::as_deref).collect();
            assert_eq!((&*taken, inbox.n_dropped()), (got, n_dropped), "{pushed:?}");
        };
        check(
            9,
            &["a1", "b1", "a2"],
            &["a", "a", "a"],
            &[Some("a1"), Some("a2"), None],
            0,
        );
        check(9, &["a1", "b1", "a2"], &["b", "a"], &[Some("b1"), Some("a2")], 0);
        check(
            2,
            &["a1", "a2", "a3"],
            &["a", "a", "a"],
            &[Some("a2"), Some("a3"), None],
            1,
        );
        check(0, &["a1", "a2"], &["a"], &[None], 2);
    }
}
