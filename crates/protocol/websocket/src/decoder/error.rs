//! Protocol violations of a peer, and their close codes.

use crate::close::CloseCode;

/// The most fragments without payload in a message, besides its last one. RFC 6455 §5.4 allows any number, so without a
/// limit one message could go on forever; no sender needs more than a few.
pub(crate) const MAX_EMPTY_FRAGMENTS: u16 = 1024;

/// The peer broke the protocol: send a Close with [`close_code`](Self::close_code) and drop the connection (RFC 6455
/// §7.1.7). The decoder has lost its position in the stream and must not be used again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// RFC 6455 §5.2: RSV1, RSV2 or RSV3 is set without an extension that defines it.
    #[error("reserved bits are set")]
    ReservedBits,
    /// RFC 6455 §5.2: opcodes 3–7 and 11–15 have no meaning.
    #[error("opcode {0} is reserved")]
    ReservedOpcode(u8),
    /// RFC 6455 §5.1: a client must mask every frame.
    #[error("the client sent an unmasked frame")]
    Unmasked,
    /// RFC 6455 §5.1: a server must not mask.
    #[error("the server sent a masked frame")]
    Masked,
    /// RFC 6455 §5.5: control frames must not be fragmented.
    #[error("a control frame is fragmented")]
    FragmentedControl,
    /// RFC 6455 §5.5: control frames carry at most 125 bytes.
    #[error("a control frame carries more than 125 bytes")]
    ControlTooLong,
    /// RFC 6455 §5.2: the length must be written in its shortest form.
    #[error("the length {0} is not written in its shortest form")]
    NonMinimalLength(u64),
    /// RFC 6455 §5.2: the top bit of a 64-bit length must be 0.
    #[error("the top bit of a 64-bit length is set")]
    LengthTopBit,
    /// RFC 6455 §5.4: a continuation frame without a message to continue.
    #[error("a continuation frame arrived without a message to continue")]
    UnexpectedContinuation,
    /// RFC 6455 §5.4: a new data frame before the fragmented message ended.
    #[error("a new message began before the fragmented one ended")]
    ExpectedContinuation,
    /// RFC 6455 §5.5.1: a Close payload is empty or has a two-byte code.
    #[error("a close payload of one byte has no room for a code")]
    TruncatedCloseCode,
    /// RFC 6455 §7.4: this code must not appear on the wire.
    #[error("close code {0} must not be sent")]
    InvalidCloseCode(u16),
    /// RFC 6455 §8.1: text, or the reason of a Close, is not UTF-8.
    #[error("the text is not valid UTF-8")]
    InvalidUtf8,
    /// RFC 7692 §6.2: the compressed payload is not DEFLATE data.
    #[error("the compressed payload is corrupt")]
    CorruptDeflate,
    /// RFC 6455 §5.4 allows empty fragments, but this many in one message only keep the receiver busy.
    #[error("the message has more than {MAX_EMPTY_FRAGMENTS} empty fragments")]
    TooManyEmptyFragments,
    /// The compressed form is many times larger than [`Config::max_message_bytes`](crate::Config::max_message_bytes).
    #[error("the compressed message is larger than {max_bytes} bytes")]
    CompressedTooBig {
        /// The exceeded limit.
        max_bytes: u64,
    },
    /// The message is larger than [`Config::max_message_bytes`](crate::Config::max_message_bytes).
    #[error("the message is larger than {max_bytes} bytes")]
    MessageTooBig {
        /// The exceeded limit.
        max_bytes: usize,
    },
}

impl DecodeError {
    /// The code of the Close frame that answers this error (RFC 6455 §7.4.1).
    pub fn close_code(&self) -> CloseCode {
        match self {
            Self::InvalidUtf8 | Self::CorruptDeflate => CloseCode::INVALID_PAYLOAD,
            Self::MessageTooBig { .. } | Self::CompressedTooBig { .. } => CloseCode::MESSAGE_TOO_BIG,
            // The message breaks no rule of the protocol, and a smaller one would not help.
            Self::TooManyEmptyFragments => CloseCode::POLICY_VIOLATION,
            Self::ReservedBits
            | Self::ReservedOpcode(_)
            | Self::Unmasked
            | Self::Masked
            | Self::FragmentedControl
            | Self::ControlTooLong
            | Self::NonMinimalLength(_)
            | Self::LengthTopBit
            | Self::UnexpectedContinuation
            | Self::ExpectedContinuation
            | Self::TruncatedCloseCode
            | Self::InvalidCloseCode(_) => CloseCode::PROTOCOL_ERROR,
        }
    }
}
