//! Commands and messages in the encodings of the sub-protocols (docs/protocols/encodings.md).
//!
//! Scenarios write and read JSON text alone. This is the one place where it becomes another encoding and comes back, so each
//! case runs over every sub-protocol. The readers and writers are the suite's own: those of a server under test may have the
//! same origin as `cable`'s.

mod msgpack;
mod protobuf;

use super::dialect::{Dialect, Encoding};

/// A command that an encoding cannot carry.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Unfit {
    /// It is not JSON: a scenario sends something that no server can read.
    NotJson,
    /// Protocol buffers have no form for it; the reason.
    NoForm(String),
}

/// The content of a WebSocket message for a command.
///
/// # Errors
/// The encoding cannot carry it. JSON carries any text.
pub(super) fn encode(dialect: Dialect, command: &str) -> Result<Vec<u8>, Unfit> {
    match dialect.encoding {
        Encoding::Json => Ok(command.into()),
        Encoding::Msgpack => msgpack::from_json(command).map_err(|_error| Unfit::NotJson),
        Encoding::Protobuf => protobuf::command(command),
    }
}

/// The JSON text of a server's message.
///
/// # Errors
/// The bytes are not a message in this encoding; the text says why.
pub(super) fn decode(dialect: Dialect, message: &[u8]) -> Result<String, String> {
    match dialect.encoding {
        Encoding::Json => String::from_utf8(message.to_vec()).map_err(|error| error.to_string()),
        Encoding::Msgpack => msgpack::to_json(message),
        Encoding::Protobuf => protobuf::message(message, dialect.is_extended),
    }
}
