//! The frame header (RFC 6455 §5.2): two bytes, the extended length, the mask key.

use crate::decoder::DecodeError;
use crate::opcode::Opcode;
use crate::role::Role;

/// The longest header: 2 bytes, a 64-bit length and the mask key.
pub(crate) const MAX_BYTES: usize = 14;

/// The longest payload of a control frame (RFC 6455 §5.5).
pub(crate) const MAX_CONTROL_PAYLOAD: usize = 125;

const FIN: u8 = 0x80;
const RSV1: u8 = 0x40;
const RSV2_AND_3: u8 = 0x30;
const OPCODE: u8 = 0x0F;
const MASKED: u8 = 0x80;
const LENGTH: u8 = 0x7F;
const LENGTH_16: u8 = 126;
const LENGTH_64: u8 = 127;

/// A parsed header that obeys every rule that does not depend on earlier frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) fin: bool,
    /// RSV1, which permessage-deflate gives this meaning (RFC 7692 §6). Only on the first frame of a message.
    pub(crate) compressed: bool,
    pub(crate) opcode: Opcode,
    pub(crate) payload_len: u64,
    pub(crate) mask: Option<[u8; 4]>,
}

impl Header {
    /// Parses the header of a frame that was sent to `role`. Returns it with its own length in bytes, or `None` if
    /// `bytes` end inside it. Broken rules are reported from the second byte on, before the rest has arrived.
    pub(crate) fn parse(
        bytes: &[u8],
        role: Role,
        deflate: bool,
    ) -> Result<Option<(Self, usize)>, DecodeError> {
        let [first, second, rest @ ..] = bytes else {
            return Ok(None);
        };
        let (opcode, compressed) = parse_first(*first, deflate)?;
        let fin = first & FIN != 0;
        check_second(*second, role, opcode, fin)?;

        let Some((payload_len, rest)) = parse_length(second & LENGTH, rest)? else {
            return Ok(None);
        };
        let (mask, rest) = match (role, rest.split_first_chunk::<4>()) {
            (Role::Client, _) => (None, rest),
            (Role::Server, Some((key, rest))) => (Some(*key), rest),
            (Role::Server, None) => return Ok(None),
        };
        let header = Self {
            fin,
            compressed,
            opcode,
            payload_len,
            mask,
        };
        Ok(Some((header, bytes.len() - rest.len())))
    }

    /// Appends the header, with the shortest form of the length.
    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        let mut bytes = [0; MAX_BYTES];
        bytes[0] =
            self.opcode as u8 | if self.fin { FIN } else { 0 } | if self.compressed { RSV1 } else { 0 };
        let (short, extended) = match self.payload_len {
            len @ 0..126 => (len as u8, 0),
            126..=0xFFFF => (LENGTH_16, 2),
            _ => (LENGTH_64, 8),
        };
        bytes[1] = short | if self.mask.is_some() { MASKED } else { 0 };
        // The extended length is the tail of the 64-bit length. Without one, nothing is copied.
        bytes[2..2 + extended].copy_from_slice(&self.payload_len.to_be_bytes()[8 - extended..]);
        let mut len = 2 + extended;
        if let Some(key) = self.mask {
            bytes[len..len + 4].copy_from_slice(&key);
            len += 4;
        }
        out.extend_from_slice(&bytes[..len]);
    }
}

/// The opcode and whether RSV1 is set.
fn parse_first(first: u8, deflate: bool) -> Result<(Opcode, bool), DecodeError> {
    let bits = first & OPCODE;
    let opcode = Opcode::from_bits(bits).ok_or(DecodeError::ReservedOpcode(bits))?;
    let compressed = first & RSV1 != 0;
    let starts_message = matches!(opcode, Opcode::Text | Opcode::Binary);
    if first & RSV2_AND_3 != 0 || compressed && !(deflate && starts_message) {
        return Err(DecodeError::ReservedBits);
    }
    Ok((opcode, compressed))
}

/// Checks masking and the limits of control frames.
fn check_second(second: u8, role: Role, opcode: Opcode, fin: bool) -> Result<(), DecodeError> {
    match (role, second & MASKED != 0) {
        (Role::Server, false) => return Err(DecodeError::Unmasked),
        (Role::Client, true) => return Err(DecodeError::Masked),
        _ => {}
    }
    if opcode.is_control() {
        if !fin {
            return Err(DecodeError::FragmentedControl);
        }
        if usize::from(second & LENGTH) > MAX_CONTROL_PAYLOAD {
            return Err(DecodeError::ControlTooLong);
        }
    }
    Ok(())
}

/// The payload length and the bytes after it; `None` if `rest` ends inside it.
fn parse_length(short: u8, rest: &[u8]) -> Result<Option<(u64, &[u8])>, DecodeError> {
    let (len, rest, min) = match short {
        LENGTH_16 => match rest.split_first_chunk() {
            Some((len, rest)) => (u64::from(u16::from_be_bytes(*len)), rest, 126),
            None => return Ok(None),
        },
        LENGTH_64 => match rest.split_first_chunk() {
            Some((len, rest)) => (u64::from_be_bytes(*len), rest, 0x1_0000),
            None => return Ok(None),
        },
        len => (u64::from(len), rest, 0),
    };
    if len < min {
        return Err(DecodeError::NonMinimalLength(len));
    }
    if len > i64::MAX as u64 {
        return Err(DecodeError::LengthTopBit);
    }
    Ok(Some((len, rest)))
}
