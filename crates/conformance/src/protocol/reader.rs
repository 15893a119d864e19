//! Frames as they come from the target, each held against every rule of RFC 6455 §5 that needs no other frame.

use super::frame::{self, Frame};
use crate::Clause;

/// The longest frame that is read. Reason: the largest message of a case has 16 MiB; no target may make the tester keep
/// more than a few times that.
const MOST_PAYLOAD_BYTES: u64 = 64 << 20;

/// The target's violation of an RFC, as the sender of a head or a frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Violation {
    /// What the target sent, and what is wrong with it.
    pub(crate) what: String,
    /// The clause that forbids it.
    pub(crate) clause: Clause,
}

impl Violation {
    /// A violation of a MUST or MUST NOT.
    pub(crate) fn must(place: &'static str, what: impl Into<String>) -> Self {
        Self {
            what: what.into(),
            clause: Clause::must(place),
        }
    }
}

/// Bytes that came and were not taken yet.
///
/// Holds what one read brings on top of an unfinished frame of at most [`MOST_PAYLOAD_BYTES`]; who reads ahead asks
/// [`n_unread`](Self::n_unread).
#[derive(Debug)]
pub(crate) struct FrameReader {
    bytes: Vec<u8>,
    n_taken: usize,
    /// Whether the target is a client, which has to mask.
    is_masked: bool,
}

impl FrameReader {
    /// A reader of frames that a client (`is_masked`) or a server sends; `early` came behind the handshake.
    pub(crate) fn new(is_masked: bool, early: Vec<u8>) -> Self {
        Self {
            bytes: early,
            n_taken: 0,
            is_masked,
        }
    }

    /// Adds received bytes.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        if self.n_taken > 0 && self.n_taken >= self.bytes.len() / 2 {
            self.bytes.drain(..self.n_taken);
            self.n_taken = 0;
        }
        self.bytes.extend_from_slice(bytes);
    }

    /// The number of unread bytes.
    pub(crate) fn n_unread(&self) -> usize {
        self.bytes.len() - self.n_taken
    }

    /// The next whole frame, its mask taken off.
    ///
    /// # Errors
    /// The frame breaks a rule; nothing that follows has a meaning.
    pub(crate) fn next(&mut self) -> Result<Option<Frame>, Violation> {
        let unread = &self.bytes[self.n_taken..];
        let [first, second, rest @ ..] = unread else {
            return Ok(None);
        };
        let (fin, rsv, opcode) = (first & 0x80 != 0, first >> 4 & 7, first & 0xF);
        let is_masked = second & 0x80 != 0;
        check_head(fin, opcode, second & 0x7F)?;
        if is_masked != self.is_masked {
            let what = if is_masked {
                "a masked frame, which a server must not send (RFC 6455 §5.1)"
            } else {
                "a frame without a mask, which a client must not send (RFC 6455 §5.1)"
            };
            return Err(Violation::must("RFC 6455 §5.1", what));
        }
        let Some((n_payload, rest)) = read_length(second & 0x7F, rest)? else {
            return Ok(None);
        };
        let n_key = if is_masked { 4 } else { 0 };
        let n_payload = usize::try_from(n_payload).expect("checked against the most");
        let Some(body) = rest.get(..n_key + n_payload) else {
            return Ok(None);
        };
        let (key, payload) = body.split_at(n_key);
        let mut payload = payload.to_vec();
        if let Ok(key) = key.try_into() {
            frame::mask(&mut payload, key);
        }
        self.n_taken += unread.len() - rest.len() + n_key + n_payload;
        Ok(Some(Frame {
            fin,
            ..Frame::new(opcode, payload).with_rsv(rsv)
        }))
    }
}

/// Rules that the first two bytes can break. Reserved bits are the business of extensions.
fn check_head(fin: bool, opcode: u8, length: u8) -> Result<(), Violation> {
    let is_control = opcode >= 8;
    if frame::name(opcode) == "reserved opcode" {
        let text = format!("the reserved opcode {opcode} (RFC 6455 §5.2)");
        return Err(Violation::must("RFC 6455 §5.2", text));
    }
    if is_control && !fin {
        let text = format!("a fragmented {} (RFC 6455 §5.5)", frame::name(opcode));
        return Err(Violation::must("RFC 6455 §5.5", text));
    }
    if is_control && length > 125 {
        let text = format!("a {} of more than 125 bytes (RFC 6455 §5.5)", frame::name(opcode));
        return Err(Violation::must("RFC 6455 §5.5", text));
    }
    Ok(())
}

/// The length of the payload, and the bytes after it.
fn read_length(short: u8, rest: &[u8]) -> Result<Option<(u64, &[u8])>, Violation> {
    let (length, rest, least) = match short {
        126 => match rest.split_first_chunk() {
            Some((length, rest)) => (u64::from(u16::from_be_bytes(*length)), rest, 126),
            None => return Ok(None),
        },
        127 => match rest.split_first_chunk() {
            Some((length, rest)) => (u64::from_be_bytes(*length), rest, 0x1_0000),
            None => return Ok(None),
        },
        short => (u64::from(short), rest, 0),
    };
    if length < least {
        let text = format!("the length {length} in more bytes than it needs (RFC 6455 §5.2)");
        return Err(Violation::must("RFC 6455 §5.2", text));
    }
    if length > MOST_PAYLOAD_BYTES {
        let text = format!("a frame of {length} bytes, more than any case asks for");
        return Err(Violation::must("RFC 6455 §6.2", text));
    }
    Ok(Some((length, rest)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads bytes at once and one by one.
    #[track_caller]
    fn check(is_masked: bool, bytes: &[u8], expected: &[&str]) {
        for n_at_once in [bytes.len(), 1] {
            let mut reader = FrameReader::new(is_masked, Vec::new());
            let mut found = Vec::new();
            'pieces: for piece in bytes.chunks(n_at_once) {
                reader.push(piece);
                loop {
                    match reader.next() {
                        Ok(None) => break,
                        Ok(Some(frame)) => found.push(frame.to_string()),
                        Err(Violation { what: text, .. }) => {
                            found.push(format!("! {text}"));
                            break 'pieces;
                        }
                    }
                }
            }
            assert_eq!(found, expected, "{n_at_once} at once");
        }
    }

    #[test]
    fn whole_frames_come_out() {
        check(
            false,
            b"\x01\x03Hel\x80\x02lo\x89\0",
            &[
                "text, more to follow, 3 bytes \"Hel\"",
                "continuation, 2 bytes \"lo\"",
                "ping, 0 bytes",
            ],
        );
        check(
            true,
            b"\x81\x85\x37\xfa\x21\x3d\x7f\x9f\x4d\x51\x58",
            &["text, 5 bytes \"Hello\""],
        );
        check(false, b"\xd1\x01a", &["text, reserved bits 101, 1 byte \"a\""]);
    }

    #[test]
    fn broken_rules_are_told() {
        check(
            true,
            b"\x81\x00",
            &["! a frame without a mask, which a client must not send (RFC 6455 §5.1)"],
        );
        check(
            false,
            b"\x81\x80",
            &["! a masked frame, which a server must not send (RFC 6455 §5.1)"],
        );
        check(false, b"\x83\x00", &["! the reserved opcode 3 (RFC 6455 §5.2)"]);
        check(false, b"\x09\x00", &["! a fragmented ping (RFC 6455 §5.5)"]);
        check(
            false,
            b"\x8a\x7e",
            &["! a pong of more than 125 bytes (RFC 6455 §5.5)"],
        );
        check(
            false,
            b"\x82\x7e\0\x7d",
            &["! the length 125 in more bytes than it needs (RFC 6455 §5.2)"],
        );
        check(
            false,
            b"\x82\x7f\0\0\0\0\0\0\xff\xff",
            &["! the length 65535 in more bytes than it needs (RFC 6455 §5.2)"],
        );
        check(
            false,
            b"\x82\x7f\x80\0\0\0\0\0\0\0",
            &["! a frame of 9223372036854775808 bytes, more than any case asks for"],
        );
    }
}
