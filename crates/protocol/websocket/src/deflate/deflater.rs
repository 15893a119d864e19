//! Compression of messages to send (RFC 7692 §7.2.1).

use flate2::{Compress, Compression, FlushCompress};

use super::{Direction, SYNC_FLUSH_TAIL, WindowBits};

/// The fastest level, as gorilla/websocket (AnyCable's library) uses it. Messages of a few hundred bytes gain little
/// from a longer search.
const LEVEL: u32 = 1;

/// Room for the block headers and the flush marker, so that a short message needs one call.
const OVERHEAD_BYTES: usize = 64;

/// Compresses messages, one after the other.
///
/// Without context takeover the output depends only on the payload: one deflater serves any number of connections, and
/// one compressed message may be sent to all of them whose agreed window is at least [`window`](Self::window). With
/// takeover a deflater belongs to one connection, and all its output must be sent there in order.
#[derive(Debug)]
pub struct Deflater {
    state: Compress,
    direction: Direction,
}

impl Deflater {
    /// A deflater with the agreed parameters for our direction: see [`Agreed::sent_by`](super::Agreed::sent_by).
    pub fn new(direction: Direction) -> Self {
        let level = Compression::new(LEVEL);
        Self {
            state: Compress::new_with_window_bits(level, false, direction.window.get()),
            direction,
        }
    }

    /// The largest distance of back references in the output.
    pub fn window(&self) -> WindowBits {
        self.direction.window
    }

    /// Appends the compressed form of one complete message: the payload of a [`Frame`](crate::Frame) with `compressed`
    /// set. It may be longer than the message. Sending the message uncompressed instead is always allowed, but with
    /// context takeover only if it was not passed to this method.
    pub fn compress(&mut self, message: &[u8], out: &mut Vec<u8>) {
        if message.is_empty() {
            // An empty stored block without the tail (RFC 7692 §7.2.3.6). zlib would not flush twice in a row.
            out.push(0);
            return;
        }
        let start_in = self.state.total_in();
        loop {
            let n_done = (self.state.total_in() - start_in) as usize;
            out.reserve((message.len() - n_done) / 2 + OVERHEAD_BYTES);
            self.state
                .compress_vec(&message[n_done..], out, FlushCompress::Sync)
                .expect("deflate fails only when its state was corrupted");
            if out.len() < out.capacity() {
                break;
            }
        }
        debug_assert!(out.ends_with(&SYNC_FLUSH_TAIL));
        out.truncate(out.len() - SYNC_FLUSH_TAIL.len());
        if !self.direction.context_takeover {
            self.state.reset();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes with six random bits each, so that three quarters of their length are left.
    fn noise(len: usize) -> Vec<u8> {
        let mut state = 1_u64;
        let next = |_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 58) as u8
        };
        (0..len).map(next).collect()
    }

    /// Room for half of the message is enough for most. A message that shrinks less doubles it once.
    #[test]
    fn the_output_gets_room_for_what_is_left() {
        for (message, expected) in [
            (vec![b'x'; 100], 50 + OVERHEAD_BYTES),
            (vec![b'x'; 10_000], 5_000 + OVERHEAD_BYTES),
            (noise(10_000), 2 * (5_000 + OVERHEAD_BYTES)),
        ] {
            let mut out = Vec::new();
            Deflater::new(Direction::STATELESS).compress(&message, &mut out);
            assert_eq!(
                out.capacity(),
                expected,
                "{} of {} bytes",
                out.len(),
                message.len()
            );
        }
    }
}
