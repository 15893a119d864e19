//! Protocol buffers, from a command's JSON text and to a message's JSON text. The numbers are those of
//! docs/protocols/encodings.md, written down a second time: the suite shares nothing with what it tests.

use std::collections::BTreeMap;

use prost::Message as _;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::{super::message::quoted, Unfit, msgpack};

/// A client's command, and the server's message of the base protocol.
#[derive(Clone, PartialEq, prost::Message)]
struct Message {
    #[prost(uint64, tag = "1")]
    kind: u64,
    #[prost(uint32, tag = "2")]
    command: u32,
    #[prost(string, tag = "3")]
    identifier: String,
    #[prost(string, tag = "4")]
    data: String,
    #[prost(bytes = "vec", tag = "5")]
    message: Vec<u8>,
    #[prost(string, tag = "6")]
    reason: String,
    #[prost(bool, tag = "7")]
    reconnect: bool,
    #[prost(message, optional, tag = "8")]
    history: Option<History>,
    #[prost(bytes = "vec", tag = "101")]
    presence: Vec<u8>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct History {
    #[prost(int64, tag = "1")]
    since: i64,
    #[prost(btree_map = "string, message", tag = "2")]
    streams: BTreeMap<String, Position>,
}

#[derive(Clone, PartialEq, Deserialize, prost::Message)]
struct Position {
    #[prost(string, tag = "2")]
    epoch: String,
    #[prost(int64, tag = "3")]
    offset: i64,
}

/// The server's message of the extended protocol.
#[derive(Clone, PartialEq, prost::Message)]
struct Reply {
    #[prost(uint64, tag = "1")]
    kind: u64,
    #[prost(string, tag = "2")]
    identifier: String,
    #[prost(bytes = "vec", tag = "3")]
    message: Vec<u8>,
    #[prost(string, tag = "4")]
    reason: String,
    #[prost(bool, tag = "5")]
    reconnect: bool,
    #[prost(string, tag = "6")]
    stream_id: String,
    #[prost(string, tag = "7")]
    epoch: String,
    #[prost(int64, tag = "8")]
    offset: i64,
    #[prost(string, tag = "9")]
    sid: String,
    #[prost(bool, tag = "10")]
    restored: bool,
    #[prost(string, repeated, tag = "11")]
    restored_ids: Vec<String>,
    #[prost(bytes = "vec", tag = "101")]
    presence: Vec<u8>,
}

/// The names of the types, by their number.
const TYPES: [&str; 8] = [
    "",
    "welcome",
    "disconnect",
    "ping",
    "confirm_subscription",
    "reject_subscription",
    "confirm_history",
    "reject_history",
];

/// The type whose `reconnect` is false when it is absent.
const DISCONNECT: u64 = 2;

/// The type of the answer to a client's ping.
const PONG: u64 = 101;

const COMMANDS: [(&str, u32); 11] = [
    ("", 0),
    ("subscribe", 1),
    ("unsubscribe", 2),
    ("message", 3),
    ("history", 4),
    ("pong", 5),
    ("whisper", 6),
    ("presence", 101),
    ("join", 102),
    ("leave", 103),
    ("ping", 104),
];

/// The number of commands that do not exist.
const UNKNOWN_COMMAND: u32 = 999;

/// A command's JSON. `null` is an absent field, because protocol buffers do not tell the two apart.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Command<'a> {
    #[serde(default)]
    command: String,
    #[serde(default)]
    identifier: Option<String>,
    #[serde(borrow, default)]
    data: Option<&'a RawValue>,
    #[serde(default)]
    history: Option<Request>,
    #[serde(borrow, default)]
    presence: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Request {
    #[serde(default)]
    since: i64,
    #[serde(default)]
    streams: BTreeMap<String, Position>,
}

/// The message for a command's JSON text. `data` is a text field; other values go into the msgpack field.
///
/// # Errors
/// The text is not JSON, or has a field that protocol buffers lack.
pub(super) fn command(json: &str) -> Result<Vec<u8>, Unfit> {
    // serde would accept a list of the fields in their order.
    let is_list = json.trim_start().starts_with('[');
    let command: Command<'_> = serde_json::from_str(json).map_err(|error| {
        if error.is_data() {
            Unfit::NoForm(error.to_string())
        } else {
            Unfit::NotJson
        }
    })?;
    if is_list {
        return Err(Unfit::NoForm("it is a list".to_owned()));
    }
    let (data, message) = match command.data {
        None => (String::new(), Vec::new()),
        Some(data) => match serde_json::from_str(data.get()) {
            Ok(text) => (text, Vec::new()),
            Err(_not_text) => (String::new(), packed(data)?),
        },
    };
    let known = COMMANDS.iter().find(|(name, _)| *name == command.command);
    let message = Message {
        command: known.map_or(UNKNOWN_COMMAND, |(_, number)| *number),
        identifier: command.identifier.unwrap_or_default(),
        data,
        message,
        history: command
            .history
            .map(|Request { since, streams }| History { since, streams }),
        presence: command.presence.map(packed).transpose()?.unwrap_or_default(),
        ..Message::default()
    };
    Ok(message.encode_to_vec())
}

fn packed(json: &RawValue) -> Result<Vec<u8>, Unfit> {
    msgpack::from_json(json.get()).map_err(|_error| Unfit::NotJson)
}

/// The JSON text of a server's message.
///
/// # Errors
/// The bytes are not such a message; the text says why.
pub(super) fn message(bytes: &[u8], is_extended: bool) -> Result<String, String> {
    let decoded = if is_extended {
        Reply::decode(bytes)
    } else {
        Message::decode(bytes).map(|message| Reply {
            kind: message.kind,
            identifier: message.identifier,
            message: message.message,
            reason: message.reason,
            reconnect: message.reconnect,
            presence: message.presence,
            ..Reply::default()
        })
    };
    decoded.map_err(|error| error.to_string())?.json()
}

impl Reply {
    /// A field that has its default is absent, as in protocol buffers.
    fn json(&self) -> Result<String, String> {
        let mut fields = Fields(Vec::new());
        let payload = if self.presence.is_empty() {
            fields.text("type", &kind(self.kind));
            &self.message
        } else {
            // The type is for clients that do not know the field.
            fields.text("type", "presence");
            &self.presence
        };
        fields.text("identifier", &self.identifier);
        if !payload.is_empty() {
            let payload = msgpack::to_json(payload).map_err(|error| format!("the payload: {error}"))?;
            fields.add("message", &payload);
        }
        fields.text("reason", &self.reason);
        if self.kind == DISCONNECT {
            fields.add("reconnect", &self.reconnect.to_string());
        }
        fields.text("stream_id", &self.stream_id);
        fields.text("epoch", &self.epoch);
        if self.offset != 0 {
            fields.add("offset", &self.offset.to_string());
        }
        fields.text("sid", &self.sid);
        if self.restored {
            fields.add("restored", "true");
        }
        if !self.restored_ids.is_empty() {
            let ids: Vec<_> = self.restored_ids.iter().map(|id| quoted(id)).collect();
            fields.add("restored_ids", &format!("[{}]", ids.join(",")));
        }
        Ok(format!("{{{}}}", fields.0.join(",")))
    }
}

fn kind(number: u64) -> String {
    let known = usize::try_from(number).ok().and_then(|number| TYPES.get(number));
    match (known, number) {
        (Some(name), _) => (*name).to_owned(),
        (None, PONG) => "pong".to_owned(),
        (None, unknown) => format!("number {unknown}"),
    }
}

/// The fields of an object, as JSON.
struct Fields(Vec<String>);

impl Fields {
    fn add(&mut self, name: &str, json: &str) {
        self.0.push(format!("\"{name}\":{json}"));
    }

    /// Adds a text, unless it is empty.
    fn text(&mut self, name: &str, text: &str) {
        if !text.is_empty() {
            self.add(name, &quoted(text));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_have_the_documented_fields() {
        for (json, expected) in [
            (
                r#"{"command":"subscribe","identifier":"i"}"#,
                &b"\x10\x01\x1a\x01i"[..],
            ),
            (
                r#"{"command":"message","identifier":"i","data":"{}"}"#,
                b"\x10\x03\x1a\x01i\x22\x02{}",
            ),
            (
                r#"{"command":"whisper","identifier":"i","data":{"a":1}}"#,
                b"\x10\x06\x1a\x01i\x2a\x04\x81\xa1a\x01",
            ),
            (
                r#"{"command":"history","identifier":"i","history":{"since":5,"streams":{"s":{"offset":7,"epoch":"e"}}}}"#,
                b"\x10\x04\x1a\x01i\x42\x0e\x08\x05\x12\x0a\x0a\x01s\x12\x05\x12\x01e\x18\x07",
            ),
            (
                r#"{"command":"join","identifier":"i","presence":{"id":"7"}}"#,
                b"\x10\x66\x1a\x01i\xaa\x06\x06\x81\xa2id\xa17",
            ),
            ("{}", b""),
            (r#"{"command":"pong"}"#, b"\x10\x05"),
            (r#"{"command":"dance","identifier":null}"#, b"\x10\xe7\x07"),
        ] {
            assert_eq!(command(json).as_deref(), Ok(expected), "{json}");
        }
    }

    #[test]
    fn commands_without_a_form_are_told_apart_from_text_that_is_not_json() {
        for json in ["hello", "{", ""] {
            assert_eq!(command(json), Err(Unfit::NotJson), "{json}");
        }
        for json in [r#"{"identifier":7}"#, r#"{"command":"pong","more":1}"#, "[]", "7"] {
            assert!(matches!(command(json), Err(Unfit::NoForm(_))), "{json}");
        }
    }

    #[track_caller]
    fn check(bytes: &[u8], is_extended: bool, expected: &str) {
        assert_eq!(
            message(bytes, is_extended).as_deref(),
            Ok(expected),
            "{bytes:02x?}"
        );
    }

    #[test]
    fn messages_of_the_base_protocol_become_json() {
        check(b"\x08\x01", false, r#"{"type":"welcome"}"#);
        check(
            b"\x08\x02\x32\x06remote",
            false,
            r#"{"type":"disconnect","reason":"remote","reconnect":false}"#,
        );
        check(
            b"\x1a\x01i\x2a\x04\x81\xa1a\x01",
            false,
            r#"{"identifier":"i","message":{"a":1}}"#,
        );
        check(
            b"\x08\x03\x1a\x01i\xaa\x06\x05\x81\xa1t\xa1x",
            false,
            r#"{"type":"presence","identifier":"i","message":{"t":"x"}}"#,
        );
        check(b"\x08\x65", false, r#"{"type":"pong"}"#);
        check(b"\x08\x09", false, r#"{"type":"number 9"}"#);
        check(b"", false, "{}");
    }

    #[test]
    fn messages_of_the_extended_protocol_become_json() {
        check(
            b"\x08\x01\x4a\x01s\x50\x01\x5a\x01a\x5a\x01b",
            true,
            r#"{"type":"welcome","sid":"s","restored":true,"restored_ids":["a","b"]}"#,
        );
        check(
            b"\x12\x01i\x1a\x01\xc0\x32\x01s\x3a\x01e\x40\x07",
            true,
            r#"{"identifier":"i","message":null,"stream_id":"s","epoch":"e","offset":7}"#,
        );
    }

    #[test]
    fn bytes_that_are_no_message_are_an_error() {
        for bytes in [&b"\x08"[..], b"\x0f", b"\x1a\x05i", b"\x2a\x01\xc1"] {
            assert!(message(bytes, false).is_err(), "{bytes:02x?}");
        }
    }
}
