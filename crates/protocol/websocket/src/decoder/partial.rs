//! What the decoder holds between two reads: the parts of a frame or message whose rest has not arrived.

use crate::decoder::DecodeError;
use crate::event::Event;
use crate::header::{self, Header};
use crate::message::Message;
use crate::opcode::Opcode;

/// Boxed, and only there while something is incomplete or was just handed out.
#[derive(Debug, Default)]
pub(super) struct Partial {
    pub(super) header: PartialHeader,
    /// The frame whose payload is arriving.
    pub(super) frame: Option<PartialFrame>,
    /// The payload so far of that frame, when it is a control frame. At most 125 bytes.
    pub(super) control: Vec<u8>,
    /// The data message that is not complete, or was handed out by the call before.
    pub(super) message: Option<Message>,
    /// What the call before handed out, to be freed by the next one.
    pub(super) delivered: Option<Delivered>,
}

/// What an event was borrowed from: `control` or `message`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Delivered {
    Control(Opcode),
    Message,
}

/// A frame whose header is complete and whose payload is not.
#[derive(Debug)]
pub(super) struct PartialFrame {
    pub(super) header: Header,
    /// Payload bytes that have arrived.
    pub(super) received: u64,
}

/// The beginning of a header that was cut by the end of the input.
#[derive(Debug, Default)]
pub(super) struct PartialHeader {
    bytes: [u8; header::MAX_BYTES],
    len: u8,
}

impl Partial {
    /// Bytes of memory, those of this struct included.
    pub(super) fn held_bytes(&self) -> usize {
        let message = self.message.as_ref().map_or(0, Message::capacity);
        size_of::<Self>() + self.control.capacity() + message
    }

    /// Frees what was handed out. Returns whether nothing is left to hold.
    pub(super) fn release(&mut self) -> bool {
        match self.delivered.take() {
            Some(Delivered::Control(_)) => self.control = Vec::new(),
            Some(Delivered::Message) => self.message = None,
            None => {}
        }
        self.is_idle()
    }

    /// The event to hand out.
    pub(super) fn event(&self) -> Option<Result<Event<'_>, DecodeError>> {
        match self.delivered? {
            Delivered::Control(opcode) => Some(Event::from_payload(opcode, &self.control)),
            Delivered::Message => self.message.as_ref().map(|message| Ok(message.event())),
        }
    }

    /// Whether everything in here, if anything, was handed out already.
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

    /// Takes from `input` what may still belong to the header. Returns all header bytes so far.
    pub(super) fn extend(&mut self, input: &[u8]) -> &[u8] {
        let start = usize::from(self.len);
        let n = input.len().min(header::MAX_BYTES - start);
        self.bytes[start..start + n].copy_from_slice(&input[..n]);
        self.len += n as u8;
        &self.bytes[..start + n]
    }
}
