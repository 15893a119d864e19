//! The messages. prost shows the names of their fields in errors.
//!
//! A client's command, and the server's message of the base protocol, are one message on the wire:
//!
//! | field | number | |
//! |---|---|---|
//! | type | 1 | the index in [`TYPES`]; 0 for messages and commands |
//! | command | 2 | the index in [`COMMANDS`] |
//! | identifier | 3 | text |
//! | data | 4 | text: the JSON of an action |
//! | message | 5 | bytes: msgpack |
//! | reason | 6 | text |
//! | reconnect | 7 | true or false |
//! | history | 8 | [`History`] |
//! | presence | 101 | bytes: msgpack |
//!
//! Numbers from 100 on are additions of this project: AnyCable's schema has no presence, and numbers its own additions from
//! 1 on. A presence message has the type of pings, which a client that does not know the field takes for a sign of life
//! (docs/protocols/encodings.md, protobuf).
//!
//! Fields that are not in the table are skipped, as protocol buffers require.

use std::collections::BTreeMap;

/// The fields of a command.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct CommandMessage {
    #[prost(uint32, tag = "2")]
    pub(super) command: u32,
    #[prost(string, tag = "3")]
    pub(super) identifier: String,
    #[prost(string, tag = "4")]
    pub(super) data: String,
    #[prost(bytes = "vec", tag = "5")]
    pub(super) message: Vec<u8>,
    #[prost(message, optional, tag = "8")]
    pub(super) history: Option<History>,
    /// The value that JSON has under the key `presence`. Empty: there is none.
    #[prost(bytes = "vec", tag = "101")]
    pub(super) presence: Vec<u8>,
}

/// The starting points of a request for history.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct History {
    #[prost(int64, tag = "1")]
    pub(super) since: i64,
    #[prost(btree_map = "string, message", tag = "2")]
    pub(super) streams: BTreeMap<String, StreamPosition>,
}

/// A position in one stream.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct StreamPosition {
    #[prost(string, tag = "2")]
    pub(super) epoch: String,
    #[prost(int64, tag = "3")]
    pub(super) offset: i64,
}

/// The fields of a server's message.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct ServerMessage {
    /// `type`. An enum in the protocol; a plain number here, so that errors can show an unknown one.
    #[prost(uint64, tag = "1")]
    pub(super) kind: u64,
    #[prost(string, tag = "3")]
    pub(super) identifier: String,
    #[prost(bytes = "vec", tag = "5")]
    pub(super) message: Vec<u8>,
    #[prost(string, tag = "6")]
    pub(super) reason: String,
    #[prost(bool, tag = "7")]
    pub(super) reconnect: bool,
    /// The content of a presence message, which JSON has under the key `message`. Empty: it is another message.
    #[prost(bytes = "vec", tag = "101")]
    pub(super) presence: Vec<u8>,
}

/// The fields of a server's message of the extended protocol.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct ExtendedMessage {
    /// `type`, as in [`ServerMessage`].
    #[prost(uint64, tag = "1")]
    pub(super) kind: u64,
    #[prost(string, tag = "2")]
    pub(super) identifier: String,
    #[prost(bytes = "vec", tag = "3")]
    pub(super) message: Vec<u8>,
    #[prost(string, tag = "4")]
    pub(super) reason: String,
    #[prost(bool, tag = "5")]
    pub(super) reconnect: bool,
    #[prost(string, tag = "6")]
    pub(super) stream_id: String,
    #[prost(string, tag = "7")]
    pub(super) epoch: String,
    #[prost(int64, tag = "8")]
    pub(super) offset: i64,
    #[prost(string, tag = "9")]
    pub(super) sid: String,
    #[prost(bool, tag = "10")]
    pub(super) restored: bool,
    #[prost(string, repeated, tag = "11")]
    pub(super) restored_ids: Vec<String>,
    /// As in [`ServerMessage`].
    #[prost(bytes = "vec", tag = "101")]
    pub(super) presence: Vec<u8>,
}

/// A message of the base protocol has no position and no session.
impl From<ServerMessage> for ExtendedMessage {
    fn from(message: ServerMessage) -> Self {
        Self {
            kind: message.kind,
            identifier: message.identifier,
            message: message.message,
            reason: message.reason,
            reconnect: message.reconnect,
            presence: message.presence,
            ..Self::default()
        }
    }
}

/// The type of messages of a subscription.
pub(super) const NO_TYPE: u64 = 0;

/// The type whose `reconnect` is false when it is absent; in JSON an absent one is true.
pub(super) const DISCONNECT: u64 = 2;

/// The type of pings and presence messages.
pub(super) const PING: u64 = 3;

/// The types of server messages, with their numbers.
const TYPES: [(u64, &str); 8] = [
    (1, "welcome"),
    (DISCONNECT, "disconnect"),
    (PING, "ping"),
    (4, "confirm_subscription"),
    (5, "reject_subscription"),
    (6, "confirm_history"),
    (7, "reject_history"),
    (101, "pong"),
];

/// The commands, with their numbers.
const COMMANDS: [(u32, &str); 11] = [
    (0, ""),
    (1, "subscribe"),
    (2, "unsubscribe"),
    (3, "message"),
    (4, "history"),
    (5, "pong"),
    (6, "whisper"),
    (101, "presence"),
    (102, "join"),
    (103, "leave"),
    (104, "ping"),
];

/// The name of a type. `None`: the number is unknown.
pub(super) fn type_name(number: u64) -> Option<&'static str> {
    TYPES
        .iter()
        .find_map(|(known, name)| (*known == number).then_some(*name))
}

/// The number of a type. `None`: protocol buffers do not have it.
pub(super) fn type_number(name: &str) -> Option<u64> {
    TYPES
        .iter()
        .find_map(|(number, known)| (*known == name).then_some(*number))
}

/// The number of a command; 0, which is none, for an unknown one.
pub(super) fn command_number(name: &str) -> u32 {
    let number = COMMANDS
        .iter()
        .find_map(|(number, known)| (*known == name).then_some(*number));
    number.unwrap_or_default()
}

/// The name of a command. `None`: the number is unknown.
pub(super) fn command_name(number: u32) -> Option<&'static str> {
    COMMANDS
        .iter()
        .find_map(|(known, name)| (*known == number).then_some(*name))
}
