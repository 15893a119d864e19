//! Decompression of received messages (RFC 7692 §7.2.2), bounded by the message limit.

use std::fmt;

use flate2::{Decompress, FlushDecompress, Status};

use super::{SYNC_FLUSH_TAIL, WindowBits};
use crate::decoder::DecodeError;
use crate::message::Message;

/// How many bytes are inflated before the limit is checked again: the most that a hostile message costs beyond the
/// limit.
const STEP_BYTES: usize = 4096;

/// The inflating state of one connection, up to 48 KB.
pub(crate) struct Inflater(Decompress);

impl Inflater {
    /// The most memory of an inflater: RSS measured with zlib-rs 0.6.8 and the full window.
    pub(crate) const BYTES: usize = 48 * 1024;

    pub(crate) fn new(window: WindowBits) -> Self {
        Self(Decompress::new_with_window_bits(false, window.get()))
    }

    /// Inflates the next compressed bytes into `message`, which never gets longer than `max_bytes`.
    pub(crate) fn inflate(
        &mut self,
        mut compressed: &[u8],
        message: &mut Message,
        max_bytes: usize,
    ) -> Result<(), DecodeError> {
        let mut output = [0; STEP_BYTES];
        loop {
            let (start_in, start_out) = (self.0.total_in(), self.0.total_out());
            let status = self.0.decompress(compressed, &mut output, FlushDecompress::Sync);
            let n_in = (self.0.total_in() - start_in) as usize;
            let n_out = (self.0.total_out() - start_out) as usize;

            // Output before an error counts too: which error is found first must not depend on how the input was split.
            let room = max_bytes.saturating_sub(message.len());
            message.push(&output[..n_out.min(room)])?;
            if n_out > room {
                return Err(DecodeError::MessageTooBig { max_bytes });
            }
            let status = status.map_err(|_| DecodeError::CorruptDeflate)?;
            compressed = &compressed[n_in..];
            if status == Status::StreamEnd {
                // A block with BFINAL ends the stream, but not the message (RFC 7692 §7.2.3.5).
                self.0.reset(false);
            } else if n_in == 0 && n_out == 0 && !compressed.is_empty() {
                return Err(DecodeError::CorruptDeflate);
            }
            if compressed.is_empty() && n_out < output.len() {
                return Ok(());
            }
        }
    }

    /// Inflates the end of a message: the tail that the sender removed.
    pub(crate) fn finish(&mut self, message: &mut Message, max_bytes: usize) -> Result<(), DecodeError> {
        self.inflate(&SYNC_FLUSH_TAIL, message, max_bytes)
    }
}

impl fmt::Debug for Inflater {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Inflater")
    }
}
