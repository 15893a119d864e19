//! A data message that arrives in pieces.

use crate::decoder::DecodeError;
use crate::event::Event;
use crate::opcode::Opcode;
use crate::text::Text;

/// The message so far. It grows with the bytes that arrive, never with a length that was only announced.
#[derive(Debug)]
pub(crate) struct Message {
    /// Whether its frames go through the inflater (RFC 7692 §6.2).
    pub(crate) compressed: bool,
    body: Body,
}

#[derive(Debug)]
enum Body {
    Text(Text),
    Binary(Vec<u8>),
}

impl Message {
    /// An empty message of the kind that `opcode`, text or binary, begins.
    pub(crate) fn new(opcode: Opcode, compressed: bool) -> Self {
        let body = match opcode {
            Opcode::Text => Body::Text(Text::default()),
            _ => Body::Binary(Vec::new()),
        };
        Self { compressed, body }
    }

    /// Bytes so far.
    pub(crate) fn len(&self) -> usize {
        match &self.body {
            Body::Text(text) => text.len(),
            Body::Binary(bytes) => bytes.len(),
        }
    }

    /// Bytes of memory held for the body.
    #[cfg(test)]
    pub(crate) fn capacity(&self) -> usize {
        match &self.body {
            Body::Text(text) => text.as_str().len(),
            Body::Binary(bytes) => bytes.capacity(),
        }
    }

    /// Appends payload bytes: unmasked and inflated.
    pub(crate) fn push(&mut self, payload: &[u8]) -> Result<(), DecodeError> {
        match &mut self.body {
            Body::Text(text) => text.push(payload).map_err(|_| DecodeError::InvalidUtf8),
            Body::Binary(bytes) => {
                bytes.extend_from_slice(payload);
                Ok(())
            }
        }
    }

    /// Checks, after the last byte, that no code point is left unfinished.
    pub(crate) fn finish(&self) -> Result<(), DecodeError> {
        match &self.body {
            Body::Text(text) if !text.is_finished() => Err(DecodeError::InvalidUtf8),
            _ => Ok(()),
        }
    }

    /// The finished message.
    pub(crate) fn event(&self) -> Event<'_> {
        match &self.body {
            Body::Text(text) => Event::Text(text.as_str()),
            Body::Binary(bytes) => Event::Binary(bytes),
        }
    }
}
