//! What the decoder hands out.

use crate::close::CloseFrame;
use crate::decoder::DecodeError;
use crate::opcode::Opcode;

/// One whole message or control frame. Data is borrowed from the input or, when it came in pieces, from the decoder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event<'a> {
    /// A text message; its UTF-8 is proved.
    Text(&'a str),
    /// A binary message.
    Binary(&'a [u8]),
    /// A Ping, at most 125 bytes. Answer with a Pong that carries the same bytes (RFC 6455 §5.5.2).
    Ping(&'a [u8]),
    /// A Pong, at most 125 bytes.
    Pong(&'a [u8]),
    /// A Close frame; `None` when it carried no code. Feed it to [`CloseState`](crate::CloseState) and decode no
    /// further: bytes after a Close have no meaning (RFC 6455 §1.4).
    Close(Option<CloseFrame<'a>>),
}

impl<'a> Event<'a> {
    /// The event that one unfragmented frame is, from its unmasked payload.
    pub(crate) fn from_payload(opcode: Opcode, payload: &'a [u8]) -> Result<Self, DecodeError> {
        Ok(match opcode {
            Opcode::Text => Self::Text(std::str::from_utf8(payload).map_err(|_| DecodeError::InvalidUtf8)?),
            Opcode::Binary => Self::Binary(payload),
            Opcode::Close => Self::Close(CloseFrame::parse(payload)?),
            Opcode::Ping => Self::Ping(payload),
            Opcode::Pong => Self::Pong(payload),
            Opcode::Continuation => return Err(DecodeError::UnexpectedContinuation),
        })
    }
}

/// The outcome of one [`decode`](crate::Decoder::decode) call.
#[derive(Debug, PartialEq, Eq)]
pub struct Decoded<'a> {
    /// How many bytes of the input are used up. All of them when there is no event.
    pub consumed: usize,
    /// The event that these bytes completed; `None` when the input ended first.
    pub event: Option<Event<'a>>,
}
