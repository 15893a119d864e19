//! The tester's reader for the fuzz targets, which hold it against the codec of the product: neither knows the other. Not in
//! the product: it takes the feature `fuzzing`.

use crate::protocol::messages::{Heard, MessageReader};

/// The events that a reader finds in a stream.
#[derive(Debug, Default)]
pub struct Read {
    /// Messages, pings, pongs, and a close as the last one.
    pub heard: Vec<Said>,
    /// Why it did not go on.
    pub violation: Option<String>,
    /// Whether something is not complete yet.
    pub is_waiting: bool,
}

/// An event of a stream.
#[derive(Debug, PartialEq, Eq)]
pub enum Said {
    /// A text message.
    Text(Vec<u8>),
    /// A binary message.
    Binary(Vec<u8>),
    /// A Ping.
    Ping(Vec<u8>),
    /// A Pong.
    Pong(Vec<u8>),
    /// A Close frame: its code and reason, if it has them.
    Close(Option<(u16, String)>),
}

/// Reads frames of a client (`is_masked`) or a server, without compression, up to the Close.
pub fn read(is_masked: bool, stream: &[u8]) -> Read {
    let mut reader = MessageReader::new(is_masked, stream.to_vec());
    let mut read = Read::default();
    while !matches!(read.heard.last(), Some(Said::Close(_))) {
        match reader.next(None) {
            Ok(Some(heard)) => read.heard.push(said(heard)),
            Ok(None) => {
                read.is_waiting = reader.n_unread() > 0;
                break;
            }
            Err(violation) => {
                read.violation = Some(violation.what);
                return read;
            }
        }
    }
    read.is_waiting |= reader.is_unfinished();
    read
}

fn said(heard: Heard) -> Said {
    match heard {
        Heard::Text(text) => Said::Text(text),
        Heard::Binary(bytes) => Said::Binary(bytes),
        Heard::Ping(bytes) => Said::Ping(bytes),
        Heard::Pong(bytes) => Said::Pong(bytes),
        Heard::Close(close) => Said::Close(close),
    }
}
