//! The decoder's state between two reads: the parts of an incomplete frame or message.

use crate::decoder::DecodeError;
use crate::event::Event;
use crate::header::{self, Header};
use crate::message::Message;
use crate::opcode::Opcode;

/// Boxed, and present only while something is incomplete or was just returned.
#[derive(Debug, Default)]
pub(super) struct Partial {
    pub(super) header: PartialHeader,
    /// The frame whose payload is arriving.
    pub(super) frame: Option<PartialFrame>,
    /// The payload so far of that frame, if it is a control frame. At most 125 bytes.
    pub(super) control: Vec<u8>,
    /// The data message that is incomplete, or was returned by the previous call.
    pub(super) message: Option<Message>,
    /// The part that the previous call returned. The next call frees it.
    pub(super) delivered: Option<Delivered>,
}

/// The source of a borrowed event: `control` or `message`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Delivered {
    Control(Opcode),
    Message,
}

/// A frame with a complete header and an incomplete payload.
#[derive(Debug)]
pub(super) struct PartialFrame {
    pub(super) header: Header,
    /// Payload bytes that have arrived.
    pub(super) received: u64,
}

/// The beginning of a header that continues after the end of the input.
#[derive(Debug, Default)]
pub(super) struct PartialHeader {
    bytes: [u8; header::MAX_BYTES],
    len: u8,
}

impl Partial {
    /// Bytes of memory, including this struct.
    pub(super) fn held_bytes(&self) -> usize {
        let message = self.message.as_ref().map_or(0, Message::capacity);
        size_of::<Self>() + self.control.capacity() + message
    }

    /// Frees the part that was returned. Returns whether nothing is left.
    pub(super) fn release(&mut self) -> bool {
        match self.delivered.take() {
            Some(Delivered::Control(_)) => self.control = Vec::new(),
            Some(Delivered::Message) => self.message = None,
            None => {}
        }
        self.is_idle()
    }

    /// The event to return.
    pub(super) fn event(&self) -> Option<Result<Event<'_>, DecodeError>> {
        match self.delivered? {
            Delivered::Control(opcode) => Some(Event::from_payload(opcode, &self.control)),
            Delivered::Message => self.message.as_ref().map(|message| Ok(message.event())),
        }
    }

    /// Whether everything in here, if anything, was already returned.
    pub(super) fn is_idle(&self) -> bool {
        let has_message = self.message.is_some() && self.delivered != Some(Delivered::Message);
        !has_message && self.frame.is_none() && self.header.len() == 0
    }
}

impl PartialHeader {
    pub(super) fn len(&self) -> usize {
        usize::from(self.len)
    }

    pub(super) fn clear(&mut self) {
        self.len = 0;
    }

    /// Takes bytes from `input` that may belong to the header. Returns all header bytes so far.
    pub(super) fn extend(&mut self, input: &[u8]) -> &[u8] {
        let start = usize::from(self.len);
        let n = input.len().min(header::MAX_BYTES - start);
        self.bytes[start..start + n].copy_from_slice(&input[..n]);
        self.len += n as u8;
        &self.bytes[..start + n]
    }
}
