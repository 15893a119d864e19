//! Protocol buffers, as `actioncable-v1-protobuf` has them: one message for both directions, whose payload is msgpack.
//!
//! | field | number | |
//! |---|---|---|
//! | type | 1 | 1 welcome, 2 disconnect, 3 ping, 4 confirm_subscription, 5 reject_subscription; 0 for messages and commands |
//! | command | 2 | 1 subscribe, 2 unsubscribe, 3 message |
//! | identifier | 3 | text |
//! | data | 4 | text: the JSON of an action |
//! | message | 5 | bytes: msgpack |
//! | reason | 6 | text |
//! | reconnect | 7 | true or false |
//!
//! Fields that are not in the table are passed over, as protocol buffers want it.

use super::{
    EncodeError,
    json_text::push_text,
    msgpack::{MsgpackError, value_to_json},
};
use crate::command::{Command, CommandError};

const TYPE: u64 = 1;
const COMMAND: u64 = 2;
const IDENTIFIER: u64 = 3;
const DATA: u64 = 4;
const MESSAGE: u64 = 5;
const REASON: u64 = 6;
const RECONNECT: u64 = 7;

/// The wire types: how long a field is.
const VARINT: u64 = 0;
const EIGHT_BYTES: u64 = 1;
const COUNTED: u64 = 2;
const FOUR_BYTES: u64 = 5;

/// The types of server messages, by their number; 0 is a message of a subscription.
const TYPES: [Option<&str>; 6] = [
    None,
    Some("welcome"),
    Some("disconnect"),
    Some("ping"),
    Some("confirm_subscription"),
    Some("reject_subscription"),
];

/// The type whose `reconnect` is false when it is not there; in JSON it is true then.
const DISCONNECT: u64 = 2;

/// Bytes are not the message that was expected. Positions count from 0.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProtobufError {
    /// A field goes on behind the end.
    #[error("the field at byte {at} needs {needed} B more, but {left} B follow")]
    Truncated {
        /// Where the part that is too long begins.
        at: usize,
        /// How many bytes it needs.
        needed: u64,
        /// How many there are.
        left: usize,
    },
    /// A number goes on behind 64 bits.
    #[error("the number at byte {at} has more than 64 bits")]
    TooLarge {
        /// Where it begins.
        at: usize,
    },
    /// A field of a type that is none.
    #[error("expected a field of wire type 0, 1, 2 or 5 at byte {at}, got {wire_type} of field {field}")]
    WireType {
        /// Where the field begins.
        at: usize,
        /// Its number.
        field: u64,
        /// Its type.
        wire_type: u64,
    },
    /// A field that we know, with the content of another type.
    #[error("expected {expected} in field {field} at byte {at}")]
    Field {
        /// Where the field begins.
        at: usize,
        /// Its number.
        field: u64,
        /// What it has to be.
        expected: &'static str,
    },
    /// The payload is not msgpack.
    #[error("the payload, which is msgpack: {0}")]
    Payload(#[from] MsgpackError),
}

/// The message for a command's JSON.
pub(super) fn command(json: &str) -> Result<Vec<u8>, EncodeError> {
    let command = Command::parse(json.as_bytes()).map_err(|error| match error {
        CommandError::NotJson(error) | CommandError::WrongFields(error) => EncodeError::Json(error),
        CommandError::NotAnObject(_) => EncodeError::NotInProtobuf("given"),
        // A known command without a field that it needs has no place in protobuf either.
        CommandError::Missing { command, .. } => EncodeError::NotInProtobuf(command),
        CommandError::Unknown(_) => EncodeError::NotInProtobuf("given"),
    })?;
    let (number, identifier, data) = match &command {
        Command::Subscribe {
            identifier,
            asks_for_history: false,
        } => (1, identifier, None),
        Command::Unsubscribe { identifier } => (2, identifier, None),
        Command::Message { identifier, data } => (3, identifier, Some(data)),
        Command::Subscribe { .. } => return Err(EncodeError::NotInProtobuf("subscribe with history")),
        Command::Whisper { .. } => return Err(EncodeError::NotInProtobuf("whisper")),
        Command::History { .. } => return Err(EncodeError::NotInProtobuf("history")),
        Command::Presence { .. } => return Err(EncodeError::NotInProtobuf("presence")),
        Command::Join => return Err(EncodeError::NotInProtobuf("join")),
        Command::Leave => return Err(EncodeError::NotInProtobuf("leave")),
        Command::Pong => return Err(EncodeError::NotInProtobuf("pong")),
        Command::Ping => return Err(EncodeError::NotInProtobuf("ping")),
    };
    let mut out = Vec::with_capacity(json.len());
    push_varint(&mut out, COMMAND << 3 | VARINT);
    push_varint(&mut out, number);
    push_counted(&mut out, IDENTIFIER, identifier);
    if let Some(data) = data {
        push_counted(&mut out, DATA, data);
    }
    Ok(out)
}

/// Appends the JSON of a server's message.
pub(super) fn reply(message: &[u8], json: &mut String) -> Result<(), ProtobufError> {
    let fields = Fields::read(message)?;
    json.push('{');
    match usize::try_from(fields.kind).ok().and_then(|kind| TYPES.get(kind)) {
        Some(None) => {}
        Some(Some(kind)) => push_entry(json, "type", kind),
        // Nobody knows it, and it is treated like an unknown type in JSON.
        None => push_entry(json, "type", &format!("number {}", fields.kind)),
    }
    // What is not there has its default: protocol buffers do not tell the two apart.
    if !fields.identifier.is_empty() {
        push_entry(json, "identifier", fields.identifier);
    }
    if !fields.message.is_empty() {
        push_key(json, "message");
        value_to_json(fields.message, json)?;
    }
    if !fields.reason.is_empty() {
        push_entry(json, "reason", fields.reason);
    }
    if fields.kind == DISCONNECT {
        push_key(json, "reconnect");
        json.push_str(if fields.reconnect { "true" } else { "false" });
    }
    json.push('}');
    Ok(())
}

fn push_entry(json: &mut String, key: &str, text: &str) {
    push_key(json, key);
    push_text(json, text);
}

fn push_key(json: &mut String, key: &str) {
    if !json.ends_with('{') {
        json.push(',');
    }
    push_text(json, key);
    json.push(':');
}

/// What is read of a message. Of a field that is there twice, the last one counts.
#[derive(Default)]
struct Fields<'a> {
    kind: u64,
    identifier: &'a str,
    message: &'a [u8],
    reason: &'a str,
    reconnect: bool,
}

/// What is in a field.
enum Value<'a> {
    Number(u64),
    Bytes(&'a [u8]),
    Fixed,
}

impl<'a> Fields<'a> {
    fn read(message: &'a [u8]) -> Result<Self, ProtobufError> {
        let mut fields = Self::default();
        let mut reader = Reader { message, at: 0 };
        while reader.at < message.len() {
            let at = reader.at;
            let key = reader.varint()?;
            let field = key >> 3;
            let value = reader.value(at, key)?;
            fields
                .set(field, &value)
                .map_err(|expected| ProtobufError::Field { at, field, expected })?;
        }
        Ok(fields)
    }

    /// Sets one; the error says what was expected.
    fn set(&mut self, field: u64, value: &Value<'a>) -> Result<(), &'static str> {
        match field {
            TYPE => self.kind = value.number()?,
            IDENTIFIER => self.identifier = value.text()?,
            MESSAGE => self.message = value.bytes()?,
            REASON => self.reason = value.text()?,
            RECONNECT => self.reconnect = value.number()? != 0,
            _ => {}
        }
        Ok(())
    }
}

impl<'a> Value<'a> {
    fn number(&self) -> Result<u64, &'static str> {
        match self {
            Self::Number(number) => Ok(*number),
            _ => Err("a number"),
        }
    }

    fn bytes(&self) -> Result<&'a [u8], &'static str> {
        match self {
            Self::Bytes(bytes) => Ok(bytes),
            _ => Err("bytes"),
        }
    }

    fn text(&self) -> Result<&'a str, &'static str> {
        let bytes = self.bytes().map_err(|_| "text")?;
        str::from_utf8(bytes).map_err(|_| "text in UTF-8")
    }
}

struct Reader<'a> {
    message: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    /// What is in the field that begins at `at` with `key`.
    fn value(&mut self, at: usize, key: u64) -> Result<Value<'a>, ProtobufError> {
        Ok(match key & 7 {
            VARINT => Value::Number(self.varint()?),
            EIGHT_BYTES => {
                self.take(8)?;
                Value::Fixed
            }
            COUNTED => {
                let n_bytes = self.varint()?;
                Value::Bytes(self.take(n_bytes)?)
            }
            FOUR_BYTES => {
                self.take(4)?;
                Value::Fixed
            }
            wire_type => {
                return Err(ProtobufError::WireType {
                    at,
                    field: key >> 3,
                    wire_type,
                });
            }
        })
    }

    fn take(&mut self, n_bytes: u64) -> Result<&'a [u8], ProtobufError> {
        let rest = &self.message[self.at..];
        match usize::try_from(n_bytes)
            .ok()
            .and_then(|n_bytes| rest.get(..n_bytes))
        {
            Some(taken) => {
                self.at += taken.len();
                Ok(taken)
            }
            None => Err(ProtobufError::Truncated {
                at: self.at,
                needed: n_bytes,
                left: rest.len(),
            }),
        }
    }

    /// A number of 7 bits per byte, the lowest first.
    fn varint(&mut self) -> Result<u64, ProtobufError> {
        let begin = self.at;
        let mut number = 0;
        for shift in (0..u64::BITS).step_by(7) {
            let byte = self.take(1)?[0];
            let bits = u64::from(byte & 0x7f);
            // Of the tenth byte, only the lowest bit has a place.
            if bits << shift >> shift != bits {
                break;
            }
            number |= bits << shift;
            if byte & 0x80 == 0 {
                return Ok(number);
            }
        }
        Err(ProtobufError::TooLarge { at: begin })
    }
}

fn push_varint(out: &mut Vec<u8>, mut number: u64) {
    while number > 0x7f {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// A field of text; an empty one is left out, as protocol buffers have it.
fn push_counted(out: &mut Vec<u8>, field: u64, text: &str) {
    if !text.is_empty() {
        push_varint(out, field << 3 | COUNTED);
        push_varint(out, text.len() as u64);
        out.extend_from_slice(text.as_bytes());
    }
}

#[cfg(test)]
mod tests;
