//! The events of the decoder.

use crate::close::CloseFrame;
use crate::decoder::DecodeError;
use crate::opcode::Opcode;

/// One complete message or control frame. Data is borrowed from the input or, if it came in pieces, from the decoder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event<'a> {
    /// A text message. It is valid UTF-8.
    Text(&'a str),
    /// A binary message.
    Binary(&'a [u8]),
    /// A Ping, at most 125 bytes. Answer with a Pong that carries the same bytes (RFC 6455 §5.5.2).
    Ping(&'a [u8]),
    /// A Pong, at most 125 bytes.
    Pong(&'a [u8]),
    /// A Close frame; `None` if it carried no code. Pass it to [`CloseState`](crate::CloseState) and decode no further:
    /// bytes after a Close have no meaning (RFC 6455 §1.4).
    Close(Option<CloseFrame<'a>>),
}

impl<'a> Event<'a> {
    /// The event for one unfragmented frame, from its unmasked payload.
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
    /// The number of consumed bytes. If there is no event, all of them.
    pub consumed: usize,
    /// The completed event; `None` if the input ended first.
    pub event: Option<Event<'a>>,
}
