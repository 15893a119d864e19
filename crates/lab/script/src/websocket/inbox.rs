//! What has arrived on a WebSocket and waits for the script.
//!
//! Not an [`Inbox`](plimsoll_clients::inbox::Inbox) of owned messages: here the payloads of all waiting messages share one
//! buffer that is used again, so that a message costs no allocation between the socket and the engine's own copy.

use std::{collections::VecDeque, time::Instant};

use plimsoll_clients::websocket::Recipient;
use plimsoll_websocket::Event;

/// A socket whose inbox holds more is not read until the script has taken something: a server that floods a sleeping
/// script fills its own connection.
const MAX_WAITING_BYTES: usize = 1 << 20;

/// The most waiting messages, which limits small ones.
const MAX_WAITING: usize = 1000;

/// Memory that an empty inbox keeps for the next messages; what one large message took is given back.
const KEPT_BYTES: usize = 4096;

/// Something that has happened on a socket, for the script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Happening<'a> {
    /// A text message.
    Text(&'a str),
    /// A binary message.
    Binary(&'a [u8]),
    /// The server has sent a Ping, which was answered.
    Ping,
    /// The server has answered a Ping, or sent an unsolicited Pong.
    Pong,
}

/// Waiting happenings, in one buffer that is used again and again.
///
/// Bounded by [`MAX_WAITING_BYTES`] and [`MAX_WAITING`], and what one read of the socket brings beyond them.
#[derive(Debug, Default)]
pub(super) struct Inbox {
    /// The payloads, one behind the other, with those that were taken.
    bytes: Vec<u8>,
    n_taken_bytes: usize,
    waiting: VecDeque<Waiting>,
}

#[derive(Clone, Copy, Debug)]
struct Waiting {
    kind: Kind,
    n_bytes: usize,
    at: Instant,
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    Text,
    Binary,
    Ping,
    Pong,
}

impl Recipient for Inbox {
    /// Puts an event in that was read at `at`. A Close frame is no happening: the connection ends with it.
    fn put(&mut self, at: Instant, event: Event<'_>) {
        let (kind, payload): (_, &[u8]) = match event {
            Event::Text(text) => (Kind::Text, text.as_bytes()),
            Event::Binary(bytes) => (Kind::Binary, bytes),
            Event::Ping(_) => (Kind::Ping, &[]),
            Event::Pong(_) => (Kind::Pong, &[]),
            Event::Close(_) => return,
        };
        self.bytes.extend_from_slice(payload);
        self.waiting.push_back(Waiting {
            kind,
            n_bytes: payload.len(),
            at,
        });
    }

    fn is_full(&self) -> bool {
        self.waiting.len() >= MAX_WAITING || self.bytes.len() >= MAX_WAITING_BYTES
    }
}

impl Inbox {
    /// Takes the oldest one; `read` gets it and when it was read from the socket.
    pub(super) fn take<R>(&mut self, read: impl FnOnce(Happening<'_>, Instant) -> R) -> Option<R> {
        let Waiting { kind, n_bytes, at } = self.waiting.pop_front()?;
        let payload = &self.bytes[self.n_taken_bytes..self.n_taken_bytes + n_bytes];
        let happening = match kind {
            // The decoder has proved that it is UTF-8.
            Kind::Text => Happening::Text(str::from_utf8(payload).unwrap_or_default()),
            Kind::Binary => Happening::Binary(payload),
            Kind::Ping => Happening::Ping,
            Kind::Pong => Happening::Pong,
        };
        let result = read(happening, at);
        self.n_taken_bytes += n_bytes;
        if self.waiting.is_empty() {
            self.clear();
        }
        Some(result)
    }

    /// Forgets everything.
    pub(super) fn clear(&mut self) {
        self.waiting.clear();
        self.n_taken_bytes = 0;
        self.bytes.clear();
        self.bytes.shrink_to(KEPT_BYTES);
        self.waiting.shrink_to(MAX_WAITING.isqrt());
    }

    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(inbox: &mut Inbox) -> Option<String> {
        inbox.take(|happening, _| format!("{happening:?}"))
    }

    #[test]
    fn things_come_out_in_their_order() {
        let mut inbox = Inbox::default();
        let now = Instant::now();
        inbox.put(now, Event::Text("größer"));
        inbox.put(now, Event::Ping(b"1"));
        assert_eq!(taken(&mut inbox).as_deref(), Some("Text(\"größer\")"));
        inbox.put(now, Event::Binary(&[0, 255]));
        inbox.put(now, Event::Close(None));
        inbox.put(now, Event::Pong(b"2"));
        inbox.put(now, Event::Text(""));
        for expected in ["Ping", "Binary([0, 255])", "Pong", "Text(\"\")"] {
            assert_eq!(taken(&mut inbox).as_deref(), Some(expected));
        }
        assert_eq!(taken(&mut inbox), None);
    }

    #[test]
    fn it_says_when_it_is_full_and_gives_memory_back() {
        let mut inbox = Inbox::default();
        inbox.put(Instant::now(), Event::Binary(&vec![0; MAX_WAITING_BYTES]));
        assert!(inbox.is_full());
        taken(&mut inbox);
        assert!(inbox.is_empty() && !inbox.is_full() && inbox.bytes.capacity() <= KEPT_BYTES);
        (0..MAX_WAITING).for_each(|_| inbox.put(Instant::now(), Event::Pong(b"")));
        assert!(inbox.is_full());
    }
}
