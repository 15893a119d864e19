//! The messages of a run as they travel: what a client sends and how it recognises what comes back.
//!
//! Every message has an id that is unique in the run. In JSON it is the payload's first field,
//! `"id":"<run>.<number>"`, where `<run>` tells this run's messages from those of another load on the same
//! channel. In the binary format, which has no place for it, the send-time field carries the start of the run
//! in Unix nanoseconds plus the number: servers echo that field and look into nothing.

mod binary;
mod payload;
mod reader;
mod shape;

use std::time::{SystemTime, UNIX_EPOCH};

use plimsoll_cable::subprotocol::Dialect;
use plimsoll_websocket::Opcode;
use serde::{Deserialize, Serialize};

use self::payload::Payload;
pub(crate) use self::reader::{Inbound, Reader};
use crate::server_type::ServerType;

/// The request of a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Command {
    /// Send it back to me.
    Echo,
    /// Send it to everyone, then tell me.
    Broadcast,
}

/// The kind of a message from the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The answer to [`Command::Echo`].
    Echo,
    /// A [`Command::Broadcast`] of anyone.
    Broadcast,
    /// The acknowledgement of one's own [`Command::Broadcast`].
    BroadcastResult,
}

/// The encoding of the messages of one run.
#[derive(Debug)]
pub(crate) struct Wire {
    server_type: ServerType,
    dialect: Dialect,
    channel: String,
    run: Run,
    padding: String,
}

/// The marks by which a run recognises its own messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Run {
    /// The mark in the id of JSON messages.
    pub(crate) token: u32,
    /// Added to the number of binary messages: Unix nanoseconds.
    pub(crate) start_ns: i64,
}

impl Run {
    /// A token and a start that no other run on the same channel has.
    pub(crate) fn unique(now: SystemTime) -> Self {
        let start = now.duration_since(UNIX_EPOCH).unwrap_or_default();
        Self {
            token: fastrand::u32(..),
            start_ns: i64::try_from(start.as_nanos()).unwrap_or_default(),
        }
    }
}

/// The padding of messages: so many bytes, one for each character.
pub(crate) fn padding(n_bytes: usize) -> String {
    "1234567890".chars().cycle().take(n_bytes).collect()
}

impl Wire {
    /// `dialect` and `channel`, the identifier, are Action Cable's; other server types do not use them.
    pub(crate) fn new(
        server_type: ServerType,
        dialect: Dialect,
        channel: &str,
        n_padding_bytes: usize,
        run: Run,
    ) -> Self {
        let padding = padding(n_padding_bytes);
        Self {
            server_type,
            dialect,
            channel: channel.to_owned(),
            run,
            padding,
        }
    }

    pub(crate) fn server_type(&self) -> ServerType {
        self.server_type
    }

    /// The dialect of Action Cable messages.
    pub(crate) fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// The Action Cable identifier.
    pub(crate) fn channel(&self) -> &str {
        &self.channel
    }

    /// The message that asks for `command` under the number `id`; `now` goes into `sendTime`.
    pub(crate) fn encode(&self, command: Command, id: u64, now: SystemTime) -> (Opcode, Vec<u8>) {
        let payload = || Payload {
            run: self.run,
            id,
            now,
            padding: &self.padding,
        };
        let name = command.name();
        let text = match self.server_type {
            ServerType::Binary => {
                return (
                    Opcode::Binary,
                    binary::encode(command, id, self.run, &self.padding),
                );
            }
            ServerType::Json => format!(r#"{{"type":"{name}","payload":{}}}"#, payload()),
            ServerType::ActionCable | ServerType::ActionCableConnect => {
                let data = format!(r#"{{"action":"{name}","payload":{}}}"#, payload());
                let command = plimsoll_cable::command::encode_message(&self.channel, &data);
                let encoding = self.dialect.encoding;
                if encoding.is_binary() {
                    let content = encoding.encode_command(&command);
                    let content = content.expect("a message can be written in every encoding");
                    return (Opcode::Binary, content.into_owned());
                }
                command
            }
            ServerType::Echo => payload().to_string(),
        };
        (Opcode::Text, text.into_bytes())
    }
}

impl Command {
    fn name(self) -> &'static str {
        match self {
            Self::Echo => "echo",
            Self::Broadcast => "broadcast",
        }
    }
}

impl Kind {
    fn from_name(name: &str) -> Option<Self> {
        match name {
            "echo" => Some(Self::Echo),
            "broadcast" => Some(Self::Broadcast),
            "broadcastResult" => Some(Self::BroadcastResult),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests;
