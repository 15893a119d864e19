//! A data message that arrives in pieces.

use crate::decoder::{DecodeError, MAX_EMPTY_FRAGMENTS};
use crate::event::Event;
use crate::opcode::Opcode;
use crate::text::Text;

/// The message so far. It grows with the bytes that arrive, never to a length that was only announced.
#[derive(Debug)]
pub(crate) struct Message {
    /// Whether its frames are compressed (RFC 7692 §6.2).
    pub(crate) compressed: bool,
    /// Payload bytes of its frames so far, before inflation.
    n_received: u64,
    n_empty_fragments: u16,
    body: Body,
}

#[derive(Debug)]
enum Body {
    Text(Text),
    Binary(Vec<u8>),
}

impl Message {
    /// An empty message that a frame with `opcode`, text or binary, begins.
    pub(crate) fn new(opcode: Opcode, compressed: bool) -> Self {
        let body = match opcode {
            Opcode::Text => Body::Text(Text::default()),
            _ => Body::Binary(Vec::new()),
        };
        Self {
            compressed,
            n_received: 0,
            n_empty_fragments: 0,
            body,
        }
    }

    /// Bytes so far, inflated.
    pub(crate) fn len(&self) -> usize {
        match &self.body {
            Body::Text(text) => text.len(),
            Body::Binary(bytes) => bytes.len(),
        }
    }

    /// Payload bytes of its frames so far, before inflation.
    pub(crate) fn n_received(&self) -> u64 {
        self.n_received
    }

    /// Counts received payload bytes, before they are inflated.
    pub(crate) fn receive(&mut self, n_bytes: usize) {
        self.n_received += n_bytes as u64;
    }

    /// Counts a fragment without payload.
    pub(crate) fn receive_empty_fragment(&mut self) -> Result<(), DecodeError> {
        self.n_empty_fragments += 1;
        match self.n_empty_fragments {
            0..=MAX_EMPTY_FRAGMENTS => Ok(()),
            _ => Err(DecodeError::TooManyEmptyFragments),
        }
    }

    /// Bytes of memory held for the body.
    pub(crate) fn capacity(&self) -> usize {
        match &self.body {
            Body::Text(text) => text.capacity(),
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

    /// Checks, after the last byte, that the last code point is complete.
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
