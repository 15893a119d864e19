//! The decoder: received bytes in, [`Event`]s out.
//!
//! One decoder belongs to one connection. Between messages it holds nothing on the heap. A frame that is complete in
//! the input is unmasked in place and returned as a borrow, without a copy. All other frames go through one boxed
//! [`Partial`], which grows with the bytes that arrived and is freed with the message.

use std::ops::Range;

use crate::config::Config;
use crate::deflate::{Agreed, Direction, Inflater};
use crate::event::{Decoded, Event};
use crate::header::Header;
use crate::mask;
use crate::message::Message;
use crate::opcode::Opcode;

mod error;
mod partial;
#[cfg(test)]
mod tests;

pub use error::DecodeError;
pub(crate) use error::MAX_EMPTY_FRAGMENTS;
use partial::{Delivered, Partial, PartialFrame};

/// The receiving state of one connection; 24 bytes when idle.
#[derive(Debug, Default)]
pub struct Decoder {
    partial: Option<Box<Partial>>,
    /// Created by the first compressed message, and kept only while the next one needs its window.
    inflater: Option<Box<Inflater>>,
    /// The peer's compression parameters, if permessage-deflate was agreed on.
    deflate: Option<Direction>,
}

impl Decoder {
    /// A decoder for a connection without extensions.
    pub fn new() -> Self {
        Self::default()
    }

    /// A decoder for a connection whose handshake agreed on permessage-deflate.
    pub fn with_deflate(config: &Config, agreed: &Agreed) -> Self {
        Self {
            deflate: Some(agreed.sent_by(config.role.peer())),
            ..Self::default()
        }
    }

    /// Consumes bytes from the front of `input`, unmasking in place, until one event is complete or the input ends.
    ///
    /// After an event, call again with `&mut input[consumed..]`, even if that is empty, until there is no event: the
    /// last call also frees the memory of a message that came in pieces. Do not pass consumed bytes again.
    ///
    /// # Errors
    /// The peer broke the protocol; see [`DecodeError`].
    pub fn decode<'a>(
        &'a mut self,
        config: &Config,
        input: &'a mut [u8],
    ) -> Result<Decoded<'a>, DecodeError> {
        if self.partial.as_mut().is_some_and(|partial| partial.release()) {
            self.partial = None;
        }
        let mut input = Input {
            bytes: input,
            consumed: 0,
        };
        let found = self.advance(config, &mut input)?;
        let Input { bytes, consumed } = input;
        let event = match found {
            Found::Nothing => None,
            Found::Whole(opcode, payload) => Some(Event::from_payload(opcode, &bytes[payload])?),
            Found::Assembled => self.partial.as_deref().and_then(Partial::event).transpose()?,
        };
        Ok(Decoded { consumed, event })
    }

    /// Whether the stream is between two messages, so that no part of a frame or message is held. At the end of the TCP
    /// stream, `false` means that the peer was cut off.
    pub fn is_idle(&self) -> bool {
        self.partial.as_ref().is_none_or(|partial| partial.is_idle())
    }

    /// Bytes of memory that the decoder holds on the heap; 0 between messages.
    pub fn held_bytes(&self) -> usize {
        let partial = self.partial.as_ref().map_or(0, |partial| partial.held_bytes());
        let inflater = self.inflater.as_ref().map_or(0, |_| Inflater::BYTES);
        partial + inflater
    }

    /// Reads frames until one completes an event.
    fn advance(&mut self, config: &Config, input: &mut Input<'_>) -> Result<Found, DecodeError> {
        loop {
            let frame = match self.partial.as_mut().and_then(|partial| partial.frame.take()) {
                Some(frame) => frame,
                None => {
                    let Some(header) = self.read_header(config, input)? else {
                        return Ok(Found::Nothing);
                    };
                    self.check_order(&header, config)?;
                    if let Some(payload) = take_whole(&header, input) {
                        return Ok(Found::Whole(header.opcode, payload));
                    }
                    PartialFrame { header, received: 0 }
                }
            };
            let header = frame.header;
            if !self.read_payload(frame, config, input)? {
                return Ok(Found::Nothing);
            }
            if self.finish_frame(&header, config)? {
                return Ok(Found::Assembled);
            }
        }
    }

    /// Reads the next header from the input, including bytes that earlier calls took.
    fn read_header(&mut self, config: &Config, input: &mut Input<'_>) -> Result<Option<Header>, DecodeError> {
        let n_held = self.partial.as_ref().map_or(0, |partial| partial.header.len());
        let bytes = match &mut self.partial {
            Some(partial) if n_held > 0 => partial.header.extend(input.rest()),
            _ => input.rest(),
        };
        let Some((header, len)) = Header::parse(bytes, config.role, self.deflate.is_some())? else {
            if n_held == 0 && !input.rest().is_empty() {
                self.partial.get_or_insert_default().header.extend(input.rest());
            }
            input.take_up_to(u64::MAX);
            return Ok(None);
        };
        if let Some(partial) = &mut self.partial {
            partial.header.clear();
        }
        input.take(len - n_held);
        Ok(Some(header))
    }

    /// Checks the rules between frames: fragments in order (RFC 6455 §5.4), and the size limit as soon as the size is
    /// announced.
    fn check_order(&self, header: &Header, config: &Config) -> Result<(), DecodeError> {
        if header.opcode.is_control() {
            return Ok(());
        }
        let message = self.partial.as_ref().and_then(|partial| partial.message.as_ref());
        let (n_received, compressed) = match (message, header.opcode) {
            (None, Opcode::Continuation) => return Err(DecodeError::UnexpectedContinuation),
            (Some(message), Opcode::Continuation) => (message.n_received(), message.compressed),
            (Some(_), _) => return Err(DecodeError::ExpectedContinuation),
            (None, _) => (0, header.compressed),
        };
        let max_bytes = config.max_message_bytes;
        let max_on_wire = if compressed {
            max_compressed_bytes(max_bytes)
        } else {
            max_bytes as u64
        };
        if header.payload_len <= max_on_wire.saturating_sub(n_received) {
            return Ok(());
        }
        Err(if compressed {
            DecodeError::CompressedTooBig {
                max_bytes: max_on_wire,
            }
        } else {
            DecodeError::MessageTooBig { max_bytes }
        })
    }

    /// Takes the available payload bytes. Returns whether the frame is complete; if not, it is kept.
    fn read_payload(
        &mut self,
        mut frame: PartialFrame,
        config: &Config,
        input: &mut Input<'_>,
    ) -> Result<bool, DecodeError> {
        let PartialFrame { header, received } = frame;
        let range = input.take_up_to(header.payload_len - received);
        let payload = input.unmask(range, header.mask, received);
        frame.received += payload.len() as u64;

        let partial = self.partial.get_or_insert_default();
        if header.opcode.is_control() {
            partial.control.extend_from_slice(payload);
        } else {
            let message = partial
                .message
                .get_or_insert_with(|| Message::new(header.opcode, header.compressed));
            message.receive(payload.len());
            if header.payload_len == 0 && !header.fin {
                message.receive_empty_fragment()?;
            }
            match self.deflate.filter(|_| message.compressed) {
                Some(Direction { window, .. }) => self
                    .inflater
                    .get_or_insert_with(|| Box::new(Inflater::new(window)))
                    .inflate(payload, message, config.max_message_bytes)?,
                None => message.push(payload)?,
            }
        }
        let is_complete = frame.received == header.payload_len;
        if !is_complete {
            partial.frame = Some(frame);
        }
        Ok(is_complete)
    }

    /// Ends a frame that was not complete in one input. Returns whether it completes an event.
    fn finish_frame(&mut self, header: &Header, config: &Config) -> Result<bool, DecodeError> {
        let Some(partial) = &mut self.partial else {
            return Ok(false);
        };
        if header.opcode.is_control() {
            partial.delivered = Some(Delivered::Control(header.opcode));
            return Ok(true);
        }
        let Some(message) = partial.message.as_mut().filter(|_| header.fin) else {
            return Ok(false);
        };
        if let Some(inflater) = self.inflater.as_mut().filter(|_| message.compressed) {
            inflater.finish(message, config.max_message_bytes)?;
            if !self.deflate.is_some_and(|direction| direction.context_takeover) {
                self.inflater = None;
            }
        }
        message.finish()?;
        partial.delivered = Some(Delivered::Message);
        Ok(true)
    }
}

/// The longest compressed form of a message of `max_message_bytes`. The inflater bounds its output, but empty DEFLATE
/// blocks inflate to nothing, and without a limit there could be endless ones. A sender that flushes after every byte
/// needs 7 bytes for each (RFC 7692 §7.2.1, RFC 1951 §3.2.6).
fn max_compressed_bytes(max_message_bytes: usize) -> u64 {
    const SMALLEST: u64 = 1024;
    (max_message_bytes as u64)
        .saturating_mul(8)
        .saturating_add(SMALLEST)
}

/// The result of one step, with positions instead of borrows: these exist only in [`Decoder::decode`].
enum Found {
    /// The input ended first.
    Nothing,
    /// One frame, with its payload at this position of the input.
    Whole(Opcode, Range<usize>),
    /// The event of [`Partial::event`].
    Assembled,
}

/// The input of one call.
struct Input<'a> {
    bytes: &'a mut [u8],
    consumed: usize,
}

impl Input<'_> {
    fn rest(&self) -> &[u8] {
        &self.bytes[self.consumed..]
    }

    /// Consumes `n` bytes, which must be available.
    fn take(&mut self, n: usize) -> Range<usize> {
        let start = self.consumed;
        self.consumed += n;
        start..self.consumed
    }

    /// Consumes `n` bytes, or all if there are fewer.
    fn take_up_to(&mut self, n: u64) -> Range<usize> {
        let n_there = self.rest().len();
        self.take(usize::try_from(n).map_or(n_there, |n| n.min(n_there)))
    }

    /// Unmasks in place. `offset` is the position of the range in its frame's payload.
    fn unmask(&mut self, range: Range<usize>, key: Option<[u8; 4]>, offset: u64) -> &[u8] {
        let payload = &mut self.bytes[range];
        if let Some(key) = key {
            mask::apply(payload, key, offset);
        }
        payload
    }
}

/// The hot path: a frame that is an event on its own and complete in the input. Consumes and unmasks its payload.
fn take_whole(header: &Header, input: &mut Input<'_>) -> Option<Range<usize>> {
    let is_whole_message = header.fin && !header.compressed && header.opcode != Opcode::Continuation;
    let is_event = is_whole_message || header.opcode.is_control();
    if !is_event || header.payload_len > input.rest().len() as u64 {
        return None;
    }
    let range = input.take_up_to(header.payload_len);
    input.unmask(range.clone(), header.mask, 0);
    Some(range)
}
