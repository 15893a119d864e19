//! Encoding of frames (RFC 6455 §5).

use crate::close::CloseFrame;
use crate::header::{Header, MAX_BYTES, MAX_CONTROL_PAYLOAD};
use crate::mask;
use crate::opcode::Opcode;

/// A frame to send, with everything that [`encode_frame`] leaves at its usual value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Frame<'a> {
    /// Whether this is the last frame of its message.
    pub fin: bool,
    /// Whether `payload` comes from a [`Deflater`](crate::deflate::Deflater). Set it on the first frame of a message
    /// only (RFC 7692 §6), and only when the handshake agreed on permessage-deflate.
    pub compressed: bool,
    /// The kind of frame; [`Opcode::Continuation`] for every fragment except the first.
    pub opcode: Opcode,
    /// The payload before masking.
    pub payload: &'a [u8],
}

impl Frame<'_> {
    /// Appends the frame. A client passes a fresh random `mask` key per frame (RFC 6455 §5.3), a server `None`.
    ///
    /// The caller obeys the rules that need context: fragments in order, and at most 125 bytes in a control frame
    /// (checked in debug builds only; a peer answers a longer one with close code 1002).
    pub fn encode(&self, mask: Option<[u8; 4]>, out: &mut Vec<u8>) {
        debug_assert!(!self.opcode.is_control() || self.payload.len() <= MAX_CONTROL_PAYLOAD);
        let Self {
            fin,
            compressed,
            opcode,
            payload,
        } = *self;
        out.reserve(MAX_BYTES + payload.len());
        Header {
            fin,
            compressed,
            opcode,
            payload_len: payload.len() as u64,
            mask,
        }
        .encode(out);
        let start = out.len();
        out.extend_from_slice(payload);
        if let Some(key) = mask {
            mask::apply(&mut out[start..], key, 0);
        }
    }
}

/// Appends one complete, uncompressed frame: [`Frame::encode`] for the usual case.
pub fn encode_frame(opcode: Opcode, payload: &[u8], mask: Option<[u8; 4]>, out: &mut Vec<u8>) {
    Frame {
        fin: true,
        compressed: false,
        opcode,
        payload,
    }
    .encode(mask, out);
}

/// Appends a Close frame. A reason longer than 123 bytes is cut at a character boundary, because a control frame has
/// room for no more.
pub fn encode_close(frame: Option<CloseFrame<'_>>, mask: Option<[u8; 4]>, out: &mut Vec<u8>) {
    let mut payload = [0; MAX_CONTROL_PAYLOAD];
    let mut len = 0;
    if let Some(CloseFrame { code, reason }) = frame {
        let reason = &reason[..reason.floor_char_boundary(MAX_CONTROL_PAYLOAD - 2)];
        len = 2 + reason.len();
        payload[..2].copy_from_slice(&code.get().to_be_bytes());
        payload[2..len].copy_from_slice(reason.as_bytes());
    }
    encode_frame(Opcode::Close, &payload[..len], mask, out);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::close::CloseCode;

    #[test]
    fn a_frame_takes_one_allocation_of_its_size() {
        for len in [0, 10, 1_000, 100_000] {
            let mut out = Vec::new();
            encode_frame(Opcode::Binary, &vec![7; len], None, &mut out);
            assert_eq!(out.capacity(), MAX_BYTES + len, "{} bytes", out.len());
        }
    }

    #[test]
    fn a_long_reason_is_cut_between_characters() {
        let cut = "x".repeat(122);
        for (reason, expected) in [
            ("x".repeat(123), "x".repeat(123)),
            ("x".repeat(124), "x".repeat(123)),
            ("x".repeat(1_000), "x".repeat(123)),
            // The second byte of the character would be the 124th.
            (format!("{cut}é"), cut),
        ] {
            let mut out = Vec::new();
            let code = CloseCode::NORMAL;
            let frame = CloseFrame {
                code,
                reason: &reason,
            };
            encode_close(Some(frame), None, &mut out);
            let head = [0x88, expected.len() as u8 + 2, 0x03, 0xE8];
            assert_eq!(out, [&head[..], expected.as_bytes()].concat(), "{reason}");
        }
    }
}
