//! Kinds of frames (RFC 6455 §5.2, §11.8).

/// The kind of a frame. The reserved values 3–7 and 11–15 have no variant: the decoder refuses them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Opcode {
    /// Continues the fragmented message before it.
    Continuation = 0x0,
    /// A message of UTF-8 text, or its first fragment.
    Text = 0x1,
    /// A message of arbitrary bytes, or its first fragment.
    Binary = 0x2,
    /// Starts or answers the closing handshake.
    Close = 0x8,
    /// Asks for a Pong with the same payload.
    Ping = 0x9,
    /// Answers a Ping, or is a one-way heartbeat.
    Pong = 0xA,
}

impl Opcode {
    /// Whether this is a control frame: never fragmented, at most 125 bytes (RFC 6455 §5.5).
    pub fn is_control(self) -> bool {
        self as u8 & 0x8 != 0
    }

    pub(crate) fn from_bits(bits: u8) -> Option<Self> {
        Some(match bits {
            0x0 => Self::Continuation,
            0x1 => Self::Text,
            0x2 => Self::Binary,
            0x8 => Self::Close,
            0x9 => Self::Ping,
            0xA => Self::Pong,
            _ => return None,
        })
    }
}
