//! Messages that nobody has asked for yet.

use std::collections::VecDeque;

/// Messages that are kept, and their bytes. Reason: far more than a scenario reads; a server that sends without end must
/// not fill the memory. The oldest gives way.
const MOST_MESSAGES: usize = 1_000;
const MOST_BYTES: usize = 1 << 20;

/// Messages in the order of their arrival, at most 1,000 and 1 MiB of them; beyond that the oldest is dropped.
#[derive(Debug, Default)]
pub(super) struct Inbox {
    messages: VecDeque<Box<[u8]>>,
    n_bytes: usize,
}

impl Inbox {
    /// Puts a message in, and says how many gave way.
    pub(super) fn push(&mut self, message: Box<[u8]>) -> u64 {
        self.n_bytes += message.len();
        self.messages.push_back(message);
        let mut n_dropped = 0;
        while self.messages.len() > MOST_MESSAGES || self.n_bytes > MOST_BYTES {
            self.take(0);
            n_dropped += 1;
        }
        n_dropped
    }

    /// Takes the first message at or after `from` that is wanted; otherwise says how many there are.
    pub(super) fn take_first(
        &mut self,
        from: usize,
        is_wanted: impl Fn(&[u8]) -> bool,
    ) -> Result<Box<[u8]>, usize> {
        let found = self
            .messages
            .iter()
            .skip(from)
            .position(|message| is_wanted(message));
        match found {
            Some(position) => self.take(from + position).ok_or(self.messages.len()),
            None => Err(self.messages.len()),
        }
    }

    fn take(&mut self, position: usize) -> Option<Box<[u8]>> {
        let message = self.messages.remove(position)?;
        self.n_bytes -= message.len();
        Some(message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_wanted_message_is_taken() {
        let mut inbox = Inbox::default();
        for text in ["a1", "b1", "a2"] {
            assert_eq!(inbox.push(text.as_bytes().into()), 0);
        }
        let mut take = |from, first: u8| inbox.take_first(from, |message| message[0] == first);
        assert_eq!(take(0, b'b'), Ok((*b"b1").into()));
        assert_eq!(take(1, b'a'), Ok((*b"a2").into()));
        assert_eq!(take(0, b'b'), Err(1));
        assert_eq!(take(0, b'a'), Ok((*b"a1").into()));
    }

    #[test]
    fn a_full_inbox_loses_the_oldest() {
        let mut inbox = Inbox::default();
        let n_dropped: u64 = (0..MOST_MESSAGES + 3).map(|_| inbox.push([0].into())).sum();
        assert_eq!((n_dropped, inbox.messages.len()), (3, MOST_MESSAGES));
        assert_eq!(inbox.push(vec![0; MOST_BYTES].into()), MOST_MESSAGES as u64);
        assert_eq!(inbox.push(vec![0; MOST_BYTES + 1].into()), 2);
        assert_eq!((inbox.n_bytes, inbox.messages.len()), (0, 0));
    }
}
