//! Unsent frames, and the rule which frames may still follow.

use std::cell::RefCell;

use plimsoll_websocket::{
    CloseCode, CloseFrame, CloseState, Frame, Opcode,
    deflate::{Deflater, Direction},
    encode_close, encode_frame,
};

use super::SendError;

/// The most unsent bytes with which a pong is still queued. Beyond it the peer sends pings and does not read. It loses
/// nothing, because only the last ping needs an answer (RFC 6455 §5.5.3).
const MAX_UNSENT_FOR_PONG_BYTES: usize = 4096;

/// Encoded frames that the socket has not taken yet. Owns no memory while empty.
///
/// Bounded by its users: at most two messages of our own (the next one is only queued when the previous one is sent,
/// except after a cancelled send), one Close, and pongs up to [`MAX_UNSENT_FOR_PONG_BYTES`].
#[derive(Debug, Default)]
pub(super) struct Outgoing {
    unsent: Vec<u8>,
    close: CloseState,
    /// The compression of messages, if any.
    deflate: Option<Direction>,
    n_messages: u64,
    n_bytes: u64,
}

thread_local! {
    /// One deflater for all connections of a thread, because it holds 320 KB. That is possible because context takeover
    /// is never agreed on. It is replaced when a server uses another window than the previous one.
    static DEFLATER: RefCell<Option<(Direction, Deflater)>> = const { RefCell::new(None) };
}

impl Outgoing {
    /// For a connection that compresses its messages like this.
    pub(super) fn new(deflate: Option<Direction>) -> Self {
        Self {
            deflate,
            ..Self::default()
        }
    }

    pub(super) fn queue_message(&mut self, opcode: Opcode, payload: &[u8]) -> Result<(), SendError> {
        if !self.close.is_open() {
            return Err(SendError::Closing);
        }
        self.n_messages += 1;
        match self.deflate {
            None => self.queue(|unsent| encode_frame(opcode, payload, Some(mask()), unsent)),
            Some(direction) => self.queue(|unsent| encode_compressed(direction, opcode, payload, unsent)),
        }
        Ok(())
    }

    /// A Ping; `payload` has at most 125 bytes.
    pub(super) fn queue_ping(&mut self, payload: &[u8]) -> Result<(), SendError> {
        if !self.close.is_open() {
            return Err(SendError::Closing);
        }
        self.queue(|unsent| encode_frame(Opcode::Ping, payload, Some(mask()), unsent));
        Ok(())
    }

    /// Whether neither side has sent a Close.
    pub(super) fn is_open(&self) -> bool {
        self.close.is_open()
    }

    pub(super) fn answer_ping(&mut self, payload: &[u8]) {
        if self.close.is_open() && self.unsent.len() <= MAX_UNSENT_FOR_PONG_BYTES {
            self.queue(|unsent| encode_frame(Opcode::Pong, payload, Some(mask()), unsent));
        }
    }

    /// Says Close first, unless a Close has gone out or come in.
    pub(super) fn start_close(&mut self, code: CloseCode, reason: &str) {
        if self.close.start() {
            self.queue_close(Some(CloseFrame { code, reason }));
        }
    }

    /// Answers the peer's Close of this code, unless it answers ours.
    pub(super) fn answer_close(&mut self, code: Option<CloseCode>) {
        let received = code.map(|code| CloseFrame { code, reason: "" });
        if self.close.on_received(received).is_some() {
            self.queue_close(received);
        }
    }

    /// What to write next.
    pub(super) fn unsent(&self) -> &[u8] {
        &self.unsent
    }

    /// Removes bytes that the socket has taken.
    pub(super) fn forget(&mut self, n_bytes: usize) {
        if n_bytes == self.unsent.len() {
            // Gives the memory back: most connections send seldom.
            self.unsent = Vec::new();
        } else {
            self.unsent.drain(..n_bytes);
        }
    }

    /// Messages and bytes that were ever queued.
    pub(super) fn totals(&self) -> (u64, u64) {
        (self.n_messages, self.n_bytes)
    }

    fn queue_close(&mut self, frame: Option<CloseFrame<'_>>) {
        self.queue(|unsent| encode_close(frame, Some(mask()), unsent));
    }

    fn queue(&mut self, encode: impl FnOnce(&mut Vec<u8>)) {
        let n_before = self.unsent.len();
        encode(&mut self.unsent);
        self.n_bytes += (self.unsent.len() - n_before) as u64;
    }
}

fn encode_compressed(direction: Direction, opcode: Opcode, payload: &[u8], out: &mut Vec<u8>) {
    DEFLATER.with_borrow_mut(|deflater| {
        let (_, deflater) = match deflater {
            Some(held) if held.0 == direction => held,
            other => other.insert((direction, Deflater::new(direction))),
        };
        let mut compressed = Vec::new();
        deflater.compress(payload, &mut compressed);
        let frame = Frame {
            fin: true,
            compressed: true,
            opcode,
            payload: &compressed,
        };
        frame.encode(Some(mask()), out);
    });
}

/// A mask. Masks protect proxies against browsers that run hostile scripts (RFC 6455 §10.3). For a load tool they must
/// be different, not secret, so a fast generator suffices.
fn mask() -> [u8; 4] {
    fastrand::u32(..).to_ne_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_follows_a_close() {
        let mut outgoing = Outgoing::default();
        outgoing.start_close(CloseCode::NORMAL, "");
        let n_bytes = outgoing.unsent().len();
        outgoing.start_close(CloseCode::GOING_AWAY, "");
        outgoing.answer_ping(b"?");
        outgoing.answer_close(None);
        assert!(matches!(
            outgoing.queue_message(Opcode::Text, b"late"),
            Err(SendError::Closing)
        ));
        assert_eq!(
            (outgoing.unsent().len(), outgoing.totals()),
            (n_bytes, (0, n_bytes as u64))
        );
    }

    #[test]
    fn pongs_stop_when_nobody_reads_them() {
        let mut outgoing = Outgoing::default();
        for _ in 0..10_000 {
            outgoing.answer_ping(&[0; 125]);
        }
        assert!(outgoing.unsent().len() < 2 * MAX_UNSENT_FOR_PONG_BYTES);
    }

    #[test]
    fn memory_is_given_back() {
        let mut outgoing = Outgoing::default();
        outgoing.queue_message(Opcode::Text, b"hello").unwrap();
        let n_bytes = outgoing.unsent().len();
        outgoing.forget(3);
        assert_eq!(outgoing.unsent().len(), n_bytes - 3);
        outgoing.forget(n_bytes - 3);
        assert_eq!(
            (outgoing.unsent.capacity(), outgoing.totals()),
            (0, (1, n_bytes as u64))
        );
    }
}
