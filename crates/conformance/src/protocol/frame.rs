//! Frames as the tester writes them (RFC 6455 §5.2): every bit is the case's to choose, the wrong ones too.

use std::fmt;

use crate::Octets;

/// A frame that continues a message.
pub(crate) const CONTINUATION: u8 = 0;
/// A frame that is a text or begins one.
pub(crate) const TEXT: u8 = 1;
/// A frame that is a binary message or begins one.
pub(crate) const BINARY: u8 = 2;
/// The frame that ends the connection.
pub(crate) const CLOSE: u8 = 8;
/// A frame that asks for a Pong.
pub(crate) const PING: u8 = 9;
/// The answer to a Ping.
pub(crate) const PONG: u8 = 10;

/// The first of the reserved bits as this module counts them: RSV1 is 4, RSV2 is 2, RSV3 is 1.
pub(crate) const RSV1: u8 = 4;

/// One frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Frame {
    /// Whether a message ends with it.
    pub(crate) fin: bool,
    /// The three reserved bits, 0–7.
    pub(crate) rsv: u8,
    /// 0–15.
    pub(crate) opcode: u8,
    /// The payload before masking.
    pub(crate) payload: Vec<u8>,
    /// The form of the length.
    pub(crate) length: Length,
    /// Whether it is masked, and with what.
    pub(crate) masking: Masking,
}

/// The form of a payload's length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Length {
    /// The shortest form, which the RFC requires.
    Shortest,
    /// 16 bits, for any length.
    Bits16,
    /// 64 bits, for any length.
    Bits64,
    /// 64 bits, with a length that differs from the payload's.
    Announced(u64),
}

/// Whether a frame is masked, and with what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Masking {
    /// The masking of the tester's side: clients mask with a new key each time, servers never mask.
    OfSide,
    /// The other way round.
    Wrong,
    /// Masking with this key, when the tester is the client.
    Key([u8; 4]),
}

impl Frame {
    /// A whole message or a control frame, in order.
    pub(crate) fn new(opcode: u8, payload: impl Into<Vec<u8>>) -> Self {
        Self {
            fin: true,
            rsv: 0,
            opcode,
            payload: payload.into(),
            length: Length::Shortest,
            masking: Masking::OfSide,
        }
    }

    /// The frame as a fragment with more to follow.
    pub(crate) fn unfinished(self) -> Self {
        Self { fin: false, ..self }
    }

    /// The frame with these reserved bits.
    pub(crate) fn with_rsv(self, rsv: u8) -> Self {
        Self { rsv, ..self }
    }

    /// The frame with this form of length.
    pub(crate) fn with_length(self, length: Length) -> Self {
        Self { length, ..self }
    }

    /// The frame with this masking.
    pub(crate) fn with_masking(self, masking: Masking) -> Self {
        Self { masking, ..self }
    }

    /// Appends the frame; `key` is `None` for a frame that is not masked.
    pub(crate) fn encode(&self, key: Option<[u8; 4]>, out: &mut Vec<u8>) {
        out.push(u8::from(self.fin) << 7 | self.rsv << 4 | self.opcode);
        let masked = u8::from(key.is_some()) << 7;
        let n_bytes = self.payload.len() as u64;
        match (self.length, n_bytes) {
            (Length::Shortest, 0..126) => out.push(masked | n_bytes as u8),
            (Length::Bits16, 0..=0xFFFF) | (Length::Shortest, 126..=0xFFFF) => {
                out.push(masked | 126);
                out.extend((n_bytes as u16).to_be_bytes());
            }
            (Length::Announced(announced), _) => {
                out.push(masked | 127);
                out.extend(announced.to_be_bytes());
            }
            (Length::Shortest | Length::Bits16 | Length::Bits64, _) => {
                out.push(masked | 127);
                out.extend(n_bytes.to_be_bytes());
            }
        }
        out.extend(key.iter().flatten());
        let start = out.len();
        out.extend(&self.payload);
        if let Some(key) = key {
            mask(&mut out[start..], key);
        }
    }
}

/// Masks, or takes a mask off (RFC 6455 §5.3).
pub(crate) fn mask(payload: &mut [u8], key: [u8; 4]) {
    // Whole words, because some cases have 16 MiB.
    let mut words = payload.chunks_exact_mut(4);
    let key_word = u32::from_ne_bytes(key);
    for word in &mut words {
        let bytes = <[u8; 4]>::try_from(&*word).expect("a chunk of four");
        word.copy_from_slice(&(u32::from_ne_bytes(bytes) ^ key_word).to_ne_bytes());
    }
    for (byte, key) in words.into_remainder().iter_mut().zip(key) {
        *byte ^= key;
    }
}

/// The name of an opcode.
pub(crate) fn name(opcode: u8) -> &'static str {
    match opcode {
        CONTINUATION => "continuation",
        TEXT => "text",
        BINARY => "binary",
        CLOSE => "close",
        PING => "ping",
        PONG => "pong",
        _ => "reserved opcode",
    }
}

impl fmt::Display for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(name(self.opcode))?;
        if name(self.opcode) == "reserved opcode" {
            write!(f, " {}", self.opcode)?;
        }
        if !self.fin {
            f.write_str(", more to follow")?;
        }
        if self.rsv != 0 {
            write!(f, ", reserved bits {:03b}", self.rsv)?;
        }
        match self.length {
            Length::Shortest => {}
            Length::Bits16 => f.write_str(", length in 16 bits")?,
            Length::Bits64 => f.write_str(", length in 64 bits")?,
            Length::Announced(announced) => write!(f, ", length given as {announced}")?,
        }
        if self.masking == Masking::Wrong {
            f.write_str(", masking the wrong way round")?;
        }
        write!(f, ", {}", Octets(&self.payload))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(frame: &Frame, key: Option<[u8; 4]>, expected: &[u8]) {
        let mut bytes = Vec::new();
        frame.encode(key, &mut bytes);
        assert_eq!(bytes[..expected.len().min(bytes.len())], *expected, "{frame}");
    }

    #[test]
    fn the_examples_of_rfc_6455_5_7() {
        check(&Frame::new(TEXT, "Hello"), None, b"\x81\x05Hello");
        let key = Some([0x37, 0xfa, 0x21, 0x3d]);
        check(
            &Frame::new(TEXT, "Hello"),
            key,
            b"\x81\x85\x37\xfa\x21\x3d\x7f\x9f\x4d\x51\x58",
        );
        check(&Frame::new(TEXT, "Hel").unfinished(), None, b"\x01\x03Hel");
        check(&Frame::new(CONTINUATION, "lo"), None, b"\x80\x02lo");
        check(&Frame::new(BINARY, [0; 256]), None, b"\x82\x7e\x01\x00\0");
        check(
            &Frame::new(BINARY, [0; 65_536]),
            None,
            b"\x82\x7f\0\0\0\0\0\x01\0\0\0",
        );
    }

    #[test]
    fn what_is_wrong_is_written_too() {
        check(&Frame::new(PING, "a").with_rsv(RSV1), None, b"\xc9\x01a");
        check(
            &Frame::new(TEXT, "a").with_length(Length::Bits16),
            None,
            b"\x81\x7e\0\x01a",
        );
        check(
            &Frame::new(TEXT, "a").with_length(Length::Bits64),
            None,
            b"\x81\x7f\0\0\0\0\0\0\0\x01a",
        );
        let lie = Length::Announced(1 << 63);
        check(
            &Frame::new(TEXT, "a").with_length(lie),
            None,
            b"\x81\x7f\x80\0\0\0\0\0\0\0a",
        );
    }

    #[test]
    fn a_mask_comes_off_again() {
        for n_bytes in 0..20 {
            let payload: Vec<u8> = (0..n_bytes).collect();
            let mut masked = payload.clone();
            mask(&mut masked, [1, 2, 3, 0]);
            assert!(
                masked
                    .iter()
                    .zip(&payload)
                    .take(3)
                    .all(|(masked, byte)| masked != byte)
            );
            mask(&mut masked, [1, 2, 3, 0]);
            assert_eq!(masked, payload);
        }
    }
}
