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
}

/// The types of server messages, by their number; 0 is a message of a subscription.
pub(super) const TYPES: [Option<&str>; 8] = [
    None,
    Some("welcome"),
    Some("disconnect"),
    Some("ping"),
    Some("confirm_subscription"),
    Some("reject_subscription"),
    Some("confirm_history"),
    Some("reject_history"),
];

/// The type whose `reconnect` is false when it is absent; in JSON an absent one is true.
pub(super) const DISCONNECT: u64 = 2;

/// The commands, by their number.
pub(super) const COMMANDS: [&str; 7] = [
    "",
    "subscribe",
    "unsubscribe",
    "message",
    "history",
    "pong",
    "whisper",
];
