//! Commands of clients.

use prost::Message as _;
use serde::de::IgnoredAny;

use super::{
    super::{
        EncodeError,
        json_text::{push_entry, push_key},
        msgpack::{self, value_to_json},
    },
    ProtobufError,
    messages::{CommandMessage, History, StreamPosition, command_name, command_number},
};
use crate::command::{self, Command, CommandError, HistoryRequest, Member};

/// The message for a command's JSON text.
pub(in super::super) fn encode_command(json: &str) -> Result<Vec<u8>, EncodeError> {
    let command = Command::parse(json.as_bytes()).map_err(|error| match error {
        CommandError::NotJson(error) | CommandError::WrongFields(error) => EncodeError::Json(error),
        error => EncodeError::NotInProtobuf(error.to_string().into()),
    })?;
    Ok(CommandMessage::try_from(command)?.encode_to_vec())
}

impl TryFrom<Command<'_>> for CommandMessage {
    type Error = EncodeError;

    fn try_from(command: Command<'_>) -> Result<Self, EncodeError> {
        let mut it = Self::default();
        let (name, identifier) = match command {
            Command::Subscribe {
                identifier,
                history,
                presence,
            } => {
                it.history = history.map(History::from);
                it.presence = presence.map_or(Ok(Vec::new()), |member| packed(&member))?;
                ("subscribe", identifier)
            }
            Command::Unsubscribe { identifier } => ("unsubscribe", identifier),
            Command::Message { identifier, data } => {
                it.data = data.into_owned();
                ("message", identifier)
            }
            Command::Whisper { identifier, data } => {
                it.data = data.to_owned();
                ("whisper", identifier)
            }
            Command::History { identifier, history } => {
                it.history = history.map(History::from);
                ("history", identifier)
            }
            Command::Presence {
                identifier,
                wants_records,
            } => {
                if !wants_records {
                    it.message = msgpack::from_json(r#"{"return_records":false}"#)?;
                }
                ("presence", identifier)
            }
            Command::Join { identifier, member } => {
                it.presence = packed(&member)?;
                ("join", identifier)
            }
            Command::Leave { identifier } => ("leave", identifier),
            Command::Pong => ("pong", "".into()),
            Command::Ping => ("ping", "".into()),
        };
        it.command = command_number(name);
        it.identifier = identifier.into_owned();
        Ok(it)
    }
}

impl From<HistoryRequest> for History {
    fn from(request: HistoryRequest) -> Self {
        let position = |(name, position): (Box<str>, command::StreamPosition)| {
            let epoch = position.epoch.into();
            let offset = i64::try_from(position.offset).unwrap_or(i64::MAX);
            (name.into(), StreamPosition { epoch, offset })
        };
        Self {
            since: request.since.unwrap_or_default(),
            streams: request.streams.into_iter().map(position).collect(),
        }
    }
}

/// The msgpack of the object that JSON has under the key `presence`.
fn packed(member: &Member) -> Result<Vec<u8>, EncodeError> {
    let mut json = "{".to_owned();
    push_entry(&mut json, "id", &member.id);
    if let Some(info) = &member.info {
        push_key(&mut json, "info");
        json.push_str(info);
    }
    json.push('}');
    Ok(msgpack::from_json(&json)?)
}
/// Appends the JSON of a command. A command with an unknown number has an unknown name.
pub(in super::super) fn command_json(message: &[u8], json: &mut String) -> Result<(), ProtobufError> {
    let CommandMessage {
        command,
        identifier,
        data,
        message,
        history,
        presence,
    } = CommandMessage::decode(message)?;
    let name = command_name(command);
    json.push('{');
    match name {
        Some(name) => push_entry(json, "command", name),
        None => push_entry(json, "command", &format!("number {command}")),
    }
    push_entry(json, "identifier", &identifier);
    if !message.is_empty() {
        push_key(json, "data");
        value_to_json(&message, json)?;
    } else if name == Some("whisper") {
        push_whispered(json, &data);
    } else {
        push_entry(json, "data", &data);
    }
    if let Some(history) = history {
        push_history(json, &history);
    }
    if !presence.is_empty() {
        push_key(json, "presence");
        value_to_json(&presence, json)?;
    }
    json.push('}');
    Ok(())
}

/// A whisper is any JSON, but its field is a text: JSON, or a text that stands for itself.
fn push_whispered(json: &mut String, data: &str) {
    let is_json = serde_json::from_str::<IgnoredAny>(data).is_ok();
    if is_json {
        push_key(json, "data");
        json.push_str(data);
    } else if !data.is_empty() {
        push_entry(json, "data", data);
    }
}

fn push_history(json: &mut String, history: &History) {
    push_key(json, "history");
    json.push('{');
    // 0 is how protocol buffers say that there is no time.
    if history.since != 0 {
        push_key(json, "since");
        json.push_str(&history.since.to_string());
    }
    if !history.streams.is_empty() {
        push_key(json, "streams");
        json.push('{');
        for (name, position) in &history.streams {
            push_key(json, name);
            json.push_str(&format!(r#"{{"offset":{}"#, position.offset));
            push_entry(json, "epoch", &position.epoch);
            json.push('}');
        }
        json.push('}');
    }
    json.push('}');
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::{super::messages::StreamPosition, *};

    #[track_caller]
    fn check(message: &CommandMessage, expected: &str) {
        let mut json = String::new();
        command_json(&message.encode_to_vec(), &mut json).expect("it is a command");
        assert_eq!(json, expected);
    }

    fn command(number: u32, data: &str) -> CommandMessage {
        CommandMessage {
            command: number,
            identifier: "i".to_owned(),
            data: data.to_owned(),
            ..CommandMessage::default()
        }
    }

    #[test]
    fn commands_become_the_json_that_they_stand_for() {
        check(
            &command(1, ""),
            r#"{"command":"subscribe","identifier":"i","data":""}"#,
        );
        check(
            &command(3, r#"{"action":"speak"}"#),
            r#"{"command":"message","identifier":"i","data":"{\"action\":\"speak\"}"}"#,
        );
        check(
            &command(5, ""),
            r#"{"command":"pong","identifier":"i","data":""}"#,
        );
        check(
            &command(9, ""),
            r#"{"command":"number 9","identifier":"i","data":""}"#,
        );
    }

    #[test]
    fn a_whisper_is_json_or_a_text_or_msgpack() {
        for (data, expected) in [
            (r#"{"b":1, "a":2}"#, r#","data":{"b":1, "a":2}"#),
            ("hello", r#","data":"hello""#),
            ("", ""),
        ] {
            let expected = format!(r#"{{"command":"whisper","identifier":"i"{expected}}}"#);
            check(&command(6, data), &expected);
        }
        let packed = CommandMessage {
            message: b"\x81\xa1a\x01".to_vec(),
            ..command(6, "")
        };
        check(
            &packed,
            r#"{"command":"whisper","identifier":"i","data":{"a":1}}"#,
        );
    }

    #[test]
    fn clients_are_present_and_ask_who_is() {
        let kay = b"\x82\xa2id\xa17\xa4info\x81\xa1n\x01";
        for (number, data, presence, expected) in [
            (
                1,
                &b""[..],
                &kay[..],
                r#""subscribe","identifier":"i","data":"","presence":{"id":"7","info":{"n":1}}"#,
            ),
            (101, b"", b"", r#""presence","identifier":"i","data":"""#),
            (
                101,
                b"\x81\xaereturn_records\xc2",
                b"",
                r#""presence","identifier":"i","data":{"return_records":false}"#,
            ),
            (
                102,
                b"",
                &kay[..],
                r#""join","identifier":"i","data":"","presence":{"id":"7","info":{"n":1}}"#,
            ),
            (103, b"", b"", r#""leave","identifier":"i","data":"""#),
            (104, b"", b"", r#""ping","identifier":"i","data":"""#),
        ] {
            let message = CommandMessage {
                message: data.to_vec(),
                presence: presence.to_vec(),
                ..command(number, "")
            };
            check(&message, &format!(r#"{{"command":{expected}}}"#));
        }
    }

    #[test]
    fn history_is_asked_for_from_a_time_and_from_positions() {
        let position = StreamPosition {
            epoch: "e".to_owned(),
            offset: 7,
        };
        let positions = BTreeMap::from([("s\"".to_owned(), position)]);
        for (since, streams, expected) in [
            (0, BTreeMap::new(), "{}"),
            (5, BTreeMap::new(), r#"{"since":5}"#),
            (
                0,
                positions.clone(),
                r#"{"streams":{"s\"":{"offset":7,"epoch":"e"}}}"#,
            ),
            (
                5,
                positions,
                r#"{"since":5,"streams":{"s\"":{"offset":7,"epoch":"e"}}}"#,
            ),
        ] {
            let message = CommandMessage {
                history: Some(History { since, streams }),
                ..command(4, "")
            };
            let expected =
                format!(r#"{{"command":"history","identifier":"i","data":"","history":{expected}}}"#);
            check(&message, &expected);
        }
    }

    /// What a client writes, a server reads as the same command.
    #[test]
    fn servers_read_what_clients_write() {
        let history = r#""history":{"since":5,"streams":{"s":{"offset":7,"epoch":"e"}}}"#;
        let kay = r#""presence":{"id":"7","info":{"n":1}}"#;
        for rest in [
            r#""subscribe","identifier":"i""#,
            &format!(r#""subscribe","identifier":"i",{history},{kay}"#),
            r#""unsubscribe","identifier":"i""#,
            r#""message","identifier":"i","data":"{\"action\":\"speak\"}""#,
            r#""whisper","identifier":"i","data":{"b":1, "a":[2.5,"ü"]}"#,
            r#""whisper","identifier":"i","data":"hello""#,
            r#""whisper","identifier":"i","data":null"#,
            &format!(r#""history","identifier":"i",{history}"#),
            r#""history","identifier":"i","history":{"streams":{"s":{"offset":0,"epoch":""}}}"#,
            r#""presence","identifier":"i""#,
            r#""presence","identifier":"i","data":{"return_records":false}"#,
            &format!(r#""join","identifier":"i",{kay}"#),
            r#""join","identifier":"i","presence":{"id":"7"}"#,
            r#""leave","identifier":"i""#,
            r#""pong""#,
            r#""ping""#,
        ] {
            let written = format!(r#"{{"command":{rest}}}"#);
            let mut read = String::new();
            command_json(&encode_command(&written).unwrap(), &mut read).unwrap();
            let [written_command, read_command] =
                [&written, &read].map(|json| Command::parse(json.as_bytes()).unwrap());
            assert_eq!(written_command, read_command, "{written} became {read}");
        }
    }
}
