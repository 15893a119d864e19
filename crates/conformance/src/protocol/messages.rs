//! The messages of the target: whole messages, checked against the rules between frames.

use std::fmt;

use super::{
    deflate::Deflate,
    frame::{self, Frame, RSV1},
    reader::{FrameReader, Violation},
};
use crate::Octets;

/// A message or control frame of the target, as cases name it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Heard {
    /// A text message.
    Text(Vec<u8>),
    /// A binary message.
    Binary(Vec<u8>),
    /// A Ping.
    Ping(Vec<u8>),
    /// A Pong.
    Pong(Vec<u8>),
    /// A Close frame, with its code and reason if it has them.
    Close(Option<(u16, String)>),
}

/// Messages from the bytes that come, in bounded memory (see [`FrameReader`] and [`MOST_MESSAGE_BYTES`]).
#[derive(Debug)]
pub(crate) struct MessageReader {
    frames: FrameReader,
    assembly: Assembly,
}

/// Puts fragments together.
#[derive(Debug, Default)]
struct Assembly {
    message: Option<Message>,
}

#[derive(Debug)]
struct Message {
    is_text: bool,
    is_compressed: bool,
    payload: Vec<u8>,
}

/// The most that fragments make together. Reason: as for a single frame.
const MOST_MESSAGE_BYTES: usize = 64 << 20;

impl MessageReader {
    /// A reader for the frames of a client (`is_masked`) or a server; `early` are the bytes behind the handshake.
    pub(crate) fn new(is_masked: bool, early: Vec<u8>) -> Self {
        Self {
            frames: FrameReader::new(is_masked, early),
            assembly: Assembly::default(),
        }
    }

    /// Adds received bytes.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.frames.push(bytes);
    }

    /// The number of unread bytes.
    pub(crate) fn n_unread(&self) -> usize {
        self.frames.n_unread()
    }

    /// Whether a message has begun and not ended.
    #[cfg(feature = "fuzzing")]
    pub(crate) fn is_unfinished(&self) -> bool {
        self.assembly.message.is_some()
    }

    /// What has come next, if it is whole; `deflate` is for compressed messages, where they were agreed on.
    ///
    /// # Errors
    /// A rule is broken; nothing that follows has a meaning.
    pub(crate) fn next(&mut self, mut deflate: Option<&mut Deflate>) -> Result<Option<Heard>, Violation> {
        while let Some(frame) = self.frames.next()? {
            if let Some(heard) = self.assembly.take(frame, deflate.as_deref_mut())? {
                return Ok(Some(heard));
            }
        }
        Ok(None)
    }
}

impl Assembly {
    /// Takes a frame. What it completes comes out.
    ///
    /// # Errors
    /// The frame breaks a rule.
    fn take(&mut self, frame: Frame, deflate: Option<&mut Deflate>) -> Result<Option<Heard>, Violation> {
        check_reserved_bits(&frame, deflate.is_some())?;
        let Frame {
            fin,
            rsv,
            opcode,
            payload,
            ..
        } = frame;
        match opcode {
            frame::PING => return Ok(Some(Heard::Ping(payload))),
            frame::PONG => return Ok(Some(Heard::Pong(payload))),
            frame::CLOSE => return read_close(&payload).map(|close| Some(Heard::Close(close))),
            _ => {}
        }
        let message = match (self.message.take(), opcode) {
            (Some(mut message), frame::CONTINUATION) => {
                message.payload.extend(payload);
                message
            }
            (None, frame::CONTINUATION) => {
                let text = "a continuation frame without a message to continue (RFC 6455 §5.4)";
                return Err(Violation::must("RFC 6455 §5.4", text));
            }
            (Some(_), _) => {
                let text = "a new message before the fragmented one has ended (RFC 6455 §5.4)";
                return Err(Violation::must("RFC 6455 §5.4", text));
            }
            (None, _) => Message {
                is_text: opcode == frame::TEXT,
                is_compressed: rsv & RSV1 != 0,
                payload,
            },
        };
        if message.payload.len() > MOST_MESSAGE_BYTES {
            let text = "a message larger than any case asks for";
            return Err(Violation::must("RFC 6455 §6.2", text));
        }
        if !fin {
            self.message = Some(message);
            return Ok(None);
        }
        message.finish(deflate).map(Some)
    }
}

impl Message {
    fn finish(self, deflate: Option<&mut Deflate>) -> Result<Heard, Violation> {
        let payload = match deflate.filter(|_| self.is_compressed) {
            Some(deflate) => deflate.inflate(&self.payload)?,
            None => self.payload,
        };
        if self.is_text && str::from_utf8(&payload).is_err() {
            let text = "a text that is not UTF-8 (RFC 6455 §5.6)";
            return Err(Violation::must("RFC 6455 §5.6", text));
        }
        Ok(if self.is_text {
            Heard::Text(payload)
        } else {
            Heard::Binary(payload)
        })
    }
}

/// RSV1 begins a compressed message, where that was agreed (RFC 7692 §6); nothing else has a meaning.
fn check_reserved_bits(frame: &Frame, can_be_compressed: bool) -> Result<(), Violation> {
    let begins_message = matches!(frame.opcode, frame::TEXT | frame::BINARY);
    let allowed = if can_be_compressed && begins_message {
        RSV1
    } else {
        0
    };
    if frame.rsv & !allowed == 0 {
        return Ok(());
    }
    let text = format!(
        "a {} frame with the reserved bits {:03b}, which nothing gives a meaning (RFC 6455 §5.2)",
        frame::name(frame.opcode),
        frame.rsv
    );
    Err(Violation::must("RFC 6455 §5.2", text))
}

fn read_close(payload: &[u8]) -> Result<Option<(u16, String)>, Violation> {
    let Some((code, reason)) = payload.split_first_chunk::<2>() else {
        return match payload {
            [] => Ok(None),
            _ => Err(Violation::must(
                "RFC 6455 §5.5.1",
                "a Close with half a code (RFC 6455 §5.5.1)",
            )),
        };
    };
    let code = u16::from_be_bytes(*code);
    let Ok(reason) = str::from_utf8(reason) else {
        let text = "a Close with a reason that is not UTF-8 (RFC 6455 §5.5.1)";
        return Err(Violation::must("RFC 6455 §5.5.1", text));
    };
    if !matches!(code, 1000..=1003 | 1007..=1014 | 3000..=4999) {
        let text = format!("a Close with the code {code}, which must not be sent (RFC 6455 §7.4)");
        return Err(Violation::must("RFC 6455 §5.5.1, §7.4", text));
    }
    Ok(Some((code, reason.to_owned())))
}

impl fmt::Display for Heard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (what, payload) = match self {
            Self::Text(payload) => ("text", payload),
            Self::Binary(payload) => ("binary", payload),
            Self::Ping(payload) => ("ping", payload),
            Self::Pong(payload) => ("pong", payload),
            Self::Close(None) => return f.write_str("close without a code"),
            Self::Close(Some((code, reason))) if reason.is_empty() => {
                return write!(f, "close with code {code}");
            }
            Self::Close(Some((code, reason))) => return write!(f, "close with code {code} {reason:?}"),
        };
        write!(f, "{what} of {}", Octets(payload))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::deflate::Direction;

    #[track_caller]
    fn check(frames: &[Frame], is_deflated: bool, expected: &[&str]) {
        let mut assembly = Assembly::default();
        let mut deflate = Deflate::new(Direction::UNLIMITED, Direction::UNLIMITED);
        let mut found = Vec::new();
        for frame in frames {
            match assembly.take(frame.clone(), is_deflated.then_some(&mut deflate)) {
                Ok(heard) => found.extend(heard.map(|heard| heard.to_string())),
                Err(Violation { what: text, .. }) => found.push(format!("! {text}")),
            }
        }
        assert_eq!(found, expected);
    }

    fn frame(opcode: u8, payload: &[u8]) -> Frame {
        Frame::new(opcode, payload)
    }

    #[test]
    fn fragments_become_messages() {
        let (text, more, end) = (
            frame(frame::TEXT, b"a").unfinished(),
            frame(0, b"b").unfinished(),
            frame(0, b"c"),
        );
        check(
            &[text.clone(), more, frame(frame::PING, b"p"), end.clone()],
            false,
            &["ping of 1 byte \"p\"", "text of 3 bytes \"abc\""],
        );
        check(
            &[end],
            false,
            &["! a continuation frame without a message to continue (RFC 6455 §5.4)"],
        );
        check(
            &[text, frame(frame::BINARY, b"")],
            false,
            &["! a new message before the fragmented one has ended (RFC 6455 §5.4)"],
        );
    }

    #[test]
    fn compressed_messages_are_inflated_where_that_was_agreed() {
        let hello = frame(frame::TEXT, b"\xf2\x48\xcd\xc9\xc9\x07\x00").with_rsv(RSV1);
        check(
            &[hello.clone(), frame(frame::TEXT, b"plain")],
            true,
            &["text of 5 bytes \"Hello\"", "text of 5 bytes \"plain\""],
        );
        let no_meaning = "which nothing gives a meaning (RFC 6455 §5.2)";
        check(
            &[hello],
            false,
            &[&format!(
                "! a text frame with the reserved bits 100, {no_meaning}"
            )],
        );
        check(
            &[frame(frame::PONG, b"").with_rsv(RSV1)],
            true,
            &[&format!(
                "! a pong frame with the reserved bits 100, {no_meaning}"
            )],
        );
    }

    #[test]
    fn payloads_are_held_against_their_kind() {
        check(
            &[frame(frame::TEXT, b"\xff")],
            false,
            &["! a text that is not UTF-8 (RFC 6455 §5.6)"],
        );
        check(
            &[
                frame(frame::CLOSE, b"\x03\xe8bye"),
                frame(frame::CLOSE, b""),
                frame(frame::CLOSE, b"\x03"),
            ],
            false,
            &[
                "close with code 1000 \"bye\"",
                "close without a code",
                "! a Close with half a code (RFC 6455 §5.5.1)",
            ],
        );
        check(
            &[frame(frame::CLOSE, b"\x03\xed")],
            false,
            &["! a Close with the code 1005, which must not be sent (RFC 6455 §7.4)"],
        );
    }
}
