//! Events for observers, in the order of their arrival, for all channels.

use std::rc::Rc;

use super::{Channel, MAX_WAITING_BYTES, Message, Shared, state::ChannelState};
use crate::inbox::{Capacity, HeapBytes, Inbox, Overflow};

/// An event for an observer.
#[derive(Debug, Clone)]
pub enum Event {
    /// A message of an observed channel. It is not in the channel's inbox; the observer puts it there with
    /// [`Channel::keep`].
    Message(Channel, Message),
    /// A client joined or left: `{"type":"join","id":…,"info":…}` or `{"type":"leave","id":…}`.
    Presence(Channel, Message),
}

/// An [`Event`] without its session.
#[derive(Debug)]
pub(super) struct Pending {
    pub(super) channel: Rc<ChannelState>,
    pub(super) kind: Kind,
    pub(super) message: Message,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Message,
    Presence,
}

/// The events that wait for their observers. Capacity 1,024, as in k6's cable extension; when it is full, the socket
/// is not read.
#[derive(Debug)]
pub(super) struct Events {
    waiting: Inbox<Pending>,
}

impl Pending {
    pub(super) fn with_channel(self, shared: &Rc<Shared>) -> Event {
        let channel = Channel::new(Rc::clone(shared), self.channel);
        match self.kind {
            Kind::Message => Event::Message(channel, self.message),
            Kind::Presence => Event::Presence(channel, self.message),
        }
    }

    fn has_a_place_to_go(&self) -> bool {
        self.kind == Kind::Presence || !self.channel.is_full()
    }
}

impl Events {
    const CAPACITY: usize = 1024;

    pub(super) fn is_full(&self) -> bool {
        self.waiting.is_full()
    }

    pub(super) fn push(&mut self, event: Pending) {
        self.waiting.push(event);
    }

    pub(super) fn is_ready(&self) -> bool {
        self.waiting.front().is_some_and(Pending::has_a_place_to_go)
    }

    pub(super) fn next(&mut self) -> Option<Pending> {
        if self.is_ready() { self.waiting.pop() } else { None }
    }
}

impl Default for Events {
    fn default() -> Self {
        Self {
            waiting: Inbox::new(Capacity {
                n_messages: Self::CAPACITY,
                n_bytes: MAX_WAITING_BYTES,
                overflow: Overflow::StopReading,
            }),
        }
    }
}

impl HeapBytes for Pending {
    fn heap_bytes(&self) -> usize {
        self.message.heap_bytes()
    }
}
