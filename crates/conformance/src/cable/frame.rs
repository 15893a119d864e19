//! WebSocket frames as this client needs them (RFC 6455 §5.2): masked text out, whatever a server may send in.
//!
//! Not the codec of the server: a defect of a shared codec would agree with itself.

use bytes::{Buf, BufMut, BytesMut};

/// The longest payload that is read. Reason: the largest message of a scenario has a million bytes; what claims more is
/// not worth the memory.
pub(super) const MOST_PAYLOAD_BYTES: u64 = 16 << 20;

/// A frame of a server.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Frame {
    pub(super) is_final: bool,
    pub(super) opcode: Opcode,
    pub(super) payload: BytesMut,
}

/// RFC 6455 §11.8.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Opcode {
    Continuation,
    Text,
    Binary,
    Close,
    Ping,
    Pong,
}

/// Why bytes are no frame of a server.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub(super) enum FrameError {
    #[error("a frame has reserved bits set ({0:#04x}), though no extension was agreed on (RFC 6455 §5.2)")]
    ReservedBits(u8),
    #[error("a frame has the reserved opcode {0} (RFC 6455 §5.2)")]
    Opcode(u8),
    #[error("a frame of the server is masked (RFC 6455 §5.1)")]
    Masked,
    #[error("a frame announces {0} bytes; this client reads at most {MOST_PAYLOAD_BYTES}")]
    TooLong(u64),
}

impl Opcode {
    fn of(bits: u8) -> Option<Self> {
        Some(match bits {
            0 => Self::Continuation,
            1 => Self::Text,
            2 => Self::Binary,
            8 => Self::Close,
            9 => Self::Ping,
            10 => Self::Pong,
            _ => return None,
        })
    }

    fn bits(self) -> u8 {
        match self {
            Self::Continuation => 0,
            Self::Text => 1,
            Self::Binary => 2,
            Self::Close => 8,
            Self::Ping => 9,
            Self::Pong => 10,
        }
    }
}

/// Takes a frame from the front of `received`; `None` when it is not whole yet.
///
/// # Errors
/// See [`FrameError`]; the connection is of no use then.
pub(super) fn take(received: &mut BytesMut) -> Result<Option<Frame>, FrameError> {
    let (&[first, second], rest) = match received.split_first_chunk::<2>() {
        Some(head) => head,
        None => return Ok(None),
    };
    if first & 0x70 != 0 {
        return Err(FrameError::ReservedBits(first & 0x70));
    }
    let opcode = Opcode::of(first & 0x0f).ok_or(FrameError::Opcode(first & 0x0f))?;
    if second & 0x80 != 0 {
        return Err(FrameError::Masked);
    }
    let (head_bytes, payload_bytes) = match (second, rest.first_chunk::<2>(), rest.first_chunk::<8>()) {
        (126, Some(length), _) => (4, u64::from(u16::from_be_bytes(*length))),
        (127, _, Some(length)) => (10, u64::from_be_bytes(*length)),
        (126 | 127, ..) => return Ok(None),
        (short, ..) => (2, u64::from(short)),
    };
    if payload_bytes > MOST_PAYLOAD_BYTES {
        return Err(FrameError::TooLong(payload_bytes));
    }
    let payload_bytes = usize::try_from(payload_bytes).expect("16 MiB fit into memory");
    if received.len() < head_bytes + payload_bytes {
        received.reserve(head_bytes + payload_bytes - received.len());
        return Ok(None);
    }
    received.advance(head_bytes);
    Ok(Some(Frame {
        is_final: first & 0x80 != 0,
        opcode,
        payload: received.split_to(payload_bytes),
    }))
}

/// A whole message of a client in one frame, masked with a key of its own (RFC 6455 §5.3).
pub(super) fn encode(opcode: Opcode, payload: &[u8]) -> BytesMut {
    let mut frame = BytesMut::with_capacity(payload.len() + 14);
    frame.put_u8(0x80 | opcode.bits());
    match payload.len() {
        short @ 0..=125 => frame.put_u8(0x80 | u8::try_from(short).expect("at most 125")),
        length => match u16::try_from(length) {
            Ok(length) => {
                frame.put_u8(0x80 | 126);
                frame.put_u16(length);
            }
            Err(_) => {
                frame.put_u8(0x80 | 127);
                frame.put_u64(length as u64);
            }
        },
    }
    let key = fastrand::u32(..).to_be_bytes();
    frame.put_slice(&key);
    frame.extend(
        payload
            .iter()
            .zip(key.iter().cycle())
            .map(|(byte, key)| byte ^ key),
    );
    frame
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(bytes: &[u8], expected: &Result<Option<Frame>, FrameError>) {
        let mut received = BytesMut::from(bytes);
        assert_eq!(&take(&mut received), expected, "{bytes:02x?}");
    }

    fn frame(is_final: bool, opcode: Opcode, payload: &[u8]) -> Result<Option<Frame>, FrameError> {
        Ok(Some(Frame {
            is_final,
            opcode,
            payload: payload.into(),
        }))
    }

    #[test]
    fn frames_of_a_server() {
        // RFC 6455 §5.7: its examples.
        check(b"\x81\x05Hello", &frame(true, Opcode::Text, b"Hello"));
        check(b"\x01\x03Hel", &frame(false, Opcode::Text, b"Hel"));
        check(b"\x80\x02lo", &frame(true, Opcode::Continuation, b"lo"));
        check(b"\x89\x05Hello", &frame(true, Opcode::Ping, b"Hello"));
        check(b"\x88\x00", &frame(true, Opcode::Close, b""));
        let long = [&[0x82, 126, 1, 0][..], &[7; 256]].concat();
        check(&long, &frame(true, Opcode::Binary, &[7; 256]));
        let longer = [&[0x82, 127, 0, 0, 0, 0, 0, 1, 0, 0][..], &[7; 65_536]].concat();
        check(&longer, &frame(true, Opcode::Binary, &[7; 65_536]));
    }

    #[test]
    fn frames_that_are_not_whole_and_those_that_are_wrong() {
        for bytes in [
            &b""[..],
            b"\x81",
            b"\x81\x05Hell",
            b"\x81\x7e\x01",
            b"\x81\x7f\0\0\0\0\0\0\0",
        ] {
            check(bytes, &Ok(None));
        }
        check(b"\xc1\x00", &Err(FrameError::ReservedBits(0x40)));
        check(b"\x83\x00", &Err(FrameError::Opcode(3)));
        check(b"\x81\x85abcdHello", &Err(FrameError::Masked));
        check(
            b"\x82\x7f\0\0\0\0\x01\0\0\x01",
            &Err(FrameError::TooLong((16 << 20) + 1)),
        );
    }

    #[test]
    fn frames_of_a_client_are_masked_and_say_their_length() {
        for n_bytes in [0, 1, 125, 126, 65_535, 65_536] {
            let payload = vec![b'x'; n_bytes];
            let mut masked = encode(Opcode::Text, &payload);
            assert_eq!(masked[1] & 0x80, 0x80, "{n_bytes} bytes are masked");
            let n_head_bytes = masked.len() - n_bytes;
            let key: [u8; 4] = masked[n_head_bytes - 4..n_head_bytes].try_into().unwrap();
            let unmasked = masked[n_head_bytes..].iter().zip(key.iter().cycle());
            assert!(unmasked.map(|(byte, key)| byte ^ key).eq(payload.iter().copied()));
            // Without the mask a server's frame is the same.
            masked[1] &= 0x7f;
            let unmasked = [&masked[..n_head_bytes - 4], &payload].concat();
            check(&unmasked, &frame(true, Opcode::Text, &payload));
        }
    }
}
