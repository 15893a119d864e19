//! Encodes the commands of clients (docs/protocols/cable.md, Commands), including those of the extended protocol
//! (docs/protocols/extended.md).

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::value::RawValue;

/// The starting points of a request for earlier messages. A request without either field asks for nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct HistoryRequest {
    /// Seconds of Unix time: asks for messages since then, of streams without a position below.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<i64>,
    /// Positions by stream: asks for the messages after them.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub streams: BTreeMap<Box<str>, StreamPosition>,
}

/// The position up to which a client has received a stream.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StreamPosition {
    /// The number of the last message.
    pub offset: u64,
    /// The epoch in which the number counts.
    pub epoch: Box<str>,
}

impl HistoryRequest {
    /// Whether there is no starting point.
    pub fn is_empty(&self) -> bool {
        self.since.is_none() && self.streams.is_empty()
    }
}

#[derive(Default, Serialize)]
struct Encoded<'a> {
    command: &'a str,
    identifier: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<Data<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    history: Option<&'a HistoryRequest>,
    #[serde(skip_serializing_if = "Option::is_none")]
    presence: Option<Presence<'a>>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Data<'a> {
    /// JSON as a string.
    Text(&'a str),
    /// JSON as a value.
    Json(&'a RawValue),
}

#[derive(Serialize)]
struct Presence<'a> {
    id: &'a str,
    info: &'a RawValue,
}

/// Encodes `subscribe`.
pub fn encode_subscribe(identifier: &str) -> String {
    encode_bare("subscribe", identifier)
}

/// Encodes `subscribe` with a request for earlier messages.
pub fn encode_subscribe_with_history(identifier: &str, history: &HistoryRequest) -> String {
    encode(&Encoded {
        command: "subscribe",
        identifier,
        history: Some(history),
        ..Encoded::default()
    })
}

/// Encodes `unsubscribe`.
pub fn encode_unsubscribe(identifier: &str) -> String {
    encode_bare("unsubscribe", identifier)
}

/// Encodes `message`. `data` is the JSON text of the action, which is sent as a string.
pub fn encode_message(identifier: &str, data: &str) -> String {
    encode(&Encoded {
        command: "message",
        identifier,
        data: Some(Data::Text(data)),
        ..Encoded::default()
    })
}

/// Encodes `whisper`. `data` is sent as JSON, not as a string.
pub fn encode_whisper(identifier: &str, data: &RawValue) -> String {
    encode(&Encoded {
        command: "whisper",
        identifier,
        data: Some(Data::Json(data)),
        ..Encoded::default()
    })
}

/// Encodes `history`.
pub fn encode_history(identifier: &str, history: &HistoryRequest) -> String {
    encode(&Encoded {
        command: "history",
        identifier,
        history: Some(history),
        ..Encoded::default()
    })
}

/// Encodes `join`: the client is present as `id` from now on, and the others see `info`.
pub fn encode_join(identifier: &str, id: &str, info: &RawValue) -> String {
    encode(&Encoded {
        command: "join",
        identifier,
        presence: Some(Presence { id, info }),
        ..Encoded::default()
    })
}

/// Encodes `leave`.
pub fn encode_leave(identifier: &str) -> String {
    encode_bare("leave", identifier)
}

/// Encodes `presence`, which asks who is present.
pub fn encode_presence(identifier: &str) -> String {
    encode_bare("presence", identifier)
}

/// Encodes the answer to a ping, which the extended protocol requires.
pub fn encode_pong() -> String {
    r#"{"command":"pong"}"#.to_owned()
}

fn encode_bare(command: &str, identifier: &str) -> String {
    encode(&Encoded {
        command,
        identifier,
        ..Encoded::default()
    })
}

fn encode(command: &Encoded<'_>) -> String {
    serde_json::to_string(command).expect("strings, numbers and JSON always serialise")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::Command;

    fn json(text: &str) -> Box<RawValue> {
        RawValue::from_string(text.to_owned()).unwrap()
    }

    #[test]
    fn what_clients_encode_the_server_decodes() {
        let identifier = "{\"channel\":\"Ünïcode \\\" 💬\"}";
        let frame = encode_message(identifier, r#"{"action":"speak"}"#);
        assert_eq!(
            Command::parse(frame.as_bytes()).ok(),
            Some(Command::Message {
                identifier: identifier.into(),
                data: r#"{"action":"speak"}"#.into()
            })
        );
    }

    #[test]
    fn commands_have_the_fields_that_they_need() {
        let position = StreamPosition {
            offset: 7,
            epoch: "e".into(),
        };
        let history = HistoryRequest {
            since: Some(1_700_000_000),
            streams: BTreeMap::from([("s".into(), position)]),
        };
        for (got, expected) in [
            (
                encode_subscribe("i"),
                r#"{"command":"subscribe","identifier":"i"}"#,
            ),
            (
                encode_unsubscribe("i"),
                r#"{"command":"unsubscribe","identifier":"i"}"#,
            ),
            (
                encode_whisper("i", &json(r#"{"b":1,"a":2}"#)),
                r#"{"command":"whisper","identifier":"i","data":{"b":1,"a":2}}"#,
            ),
            (
                encode_history("i", &history),
                r#"{"command":"history","identifier":"i","history":{"since":1700000000,"streams":{"s":{"offset":7,"epoch":"e"}}}}"#,
            ),
            (
                encode_subscribe_with_history("i", &history),
                r#"{"command":"subscribe","identifier":"i","history":{"since":1700000000,"streams":{"s":{"offset":7,"epoch":"e"}}}}"#,
            ),
            (
                encode_join("i", "7", &json(r#"{"name":"Kay"}"#)),
                r#"{"command":"join","identifier":"i","presence":{"id":"7","info":{"name":"Kay"}}}"#,
            ),
            (encode_leave("i"), r#"{"command":"leave","identifier":"i"}"#),
            (encode_presence("i"), r#"{"command":"presence","identifier":"i"}"#),
            (encode_pong(), r#"{"command":"pong"}"#),
        ] {
            assert_eq!(got, expected);
        }
    }
}
