//! Messages of a connection, and their counters.

use std::time::Instant;

use plimsoll_websocket::Event;

/// An owned message, from [`Connection::next_message`](super::Connection::next_message).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// Right after its last byte was read.
    pub at: Instant,
    /// Its content.
    pub payload: Payload,
}

/// The content of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Payload {
    /// Text.
    Text(String),
    /// Bytes.
    Binary(Vec<u8>),
}

/// Counters of a connection since the handshake.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counters {
    /// Text and binary messages received.
    pub n_messages_in: u64,
    /// Text and binary messages handed to the socket.
    pub n_messages_out: u64,
    /// Bytes read from the socket, frame headers included.
    pub bytes_in: u64,
    /// Bytes of frames, headers included.
    pub bytes_out: u64,
    /// Ping frames received (and answered).
    pub n_pings: u64,
}

impl Payload {
    /// A copy of the message in `event`; `None` for control frames.
    pub(super) fn of(event: Event<'_>) -> Option<Self> {
        match event {
            Event::Text(text) => Some(Self::Text(text.to_owned())),
            Event::Binary(bytes) => Some(Self::Binary(bytes.to_owned())),
            Event::Ping(_) | Event::Pong(_) | Event::Close(_) => None,
        }
    }
}
