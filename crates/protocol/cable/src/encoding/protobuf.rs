//! Protocol buffers, as `actioncable-v1-protobuf` has them: one message for both directions, whose payload is msgpack.
//! `actioncable-v1-ext-protobuf` has another message from the server, with positions and resumed sessions; only servers
//! use it here. Presence and answered pings are additions to AnyCable's schema: see [`messages`].

mod commands;
mod messages;
mod replies;

use std::borrow::Cow;

use prost::Message as _;

use self::messages::{CommandMessage, DISCONNECT, NO_TYPE, ServerMessage, type_name};
pub(super) use self::{commands::command_json, replies::encode_reply};
use super::{
    EncodeError,
    json_text::{push_entry, push_key},
    msgpack::{MsgpackError, value_to_json},
};
use crate::{
    command::{Command, CommandError},
    presence::MESSAGE_TYPE,
};

/// Bytes are not the message that was expected.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProtobufError {
    /// The fields cannot be read.
    #[error(transparent)]
    Fields(#[from] prost::DecodeError),
    /// The payload is not msgpack.
    #[error("the payload, which is msgpack: {0}")]
    Payload(#[from] MsgpackError),
}

/// The message for a command's JSON text.
pub(super) fn command(json: &str) -> Result<Vec<u8>, EncodeError> {
    let command = Command::parse(json.as_bytes()).map_err(|error| match error {
        CommandError::NotJson(error) | CommandError::WrongFields(error) => EncodeError::Json(error),
        CommandError::NotAnObject(_) => EncodeError::NotInProtobuf("given"),
        // A known command without a required field has no form in protobuf, either.
        CommandError::Missing { command, .. } => EncodeError::NotInProtobuf(command),
        CommandError::Unknown(_) => EncodeError::NotInProtobuf("given"),
    })?;
    let (number, identifier, data) = match command {
        Command::Subscribe {
            identifier,
            history: None,
            presence: None,
        } => (1, identifier, None),
        Command::Unsubscribe { identifier } => (2, identifier, None),
        Command::Message { identifier, data } => (3, identifier, Some(data)),
        Command::Subscribe {
            presence: Some(_), ..
        } => {
            return Err(EncodeError::NotInProtobuf("subscribe with presence"));
        }
        Command::Subscribe { .. } => return Err(EncodeError::NotInProtobuf("subscribe with history")),
        Command::Whisper { .. } => return Err(EncodeError::NotInProtobuf("whisper")),
        Command::History { .. } => return Err(EncodeError::NotInProtobuf("history")),
        Command::Presence { .. } => return Err(EncodeError::NotInProtobuf("presence")),
        Command::Join { .. } => return Err(EncodeError::NotInProtobuf("join")),
        Command::Leave { .. } => return Err(EncodeError::NotInProtobuf("leave")),
        Command::Pong => return Err(EncodeError::NotInProtobuf("pong")),
        Command::Ping => return Err(EncodeError::NotInProtobuf("ping")),
    };
    let message = CommandMessage {
        command: number,
        identifier: identifier.into_owned(),
        data: data.map(Cow::into_owned).unwrap_or_default(),
        ..CommandMessage::default()
    };
    Ok(message.encode_to_vec())
}

/// Appends the JSON of a server's message.
pub(super) fn reply(message: &[u8], json: &mut String) -> Result<(), ProtobufError> {
    let message = ServerMessage::decode(message)?;
    json.push('{');
    match (message.kind, type_name(message.kind)) {
        _ if !message.presence.is_empty() => push_entry(json, "type", MESSAGE_TYPE),
        (NO_TYPE, _) => {}
        (_, Some(kind)) => push_entry(json, "type", kind),
        // Treated like an unknown type in JSON.
        (unknown, None) => push_entry(json, "type", &format!("number {unknown}")),
    }
    // An absent field has its default: protocol buffers do not tell the two apart.
    if !message.identifier.is_empty() {
        push_entry(json, "identifier", &message.identifier);
    }
    let payload = match &*message.presence {
        [] => &message.message,
        _ => &message.presence,
    };
    if !payload.is_empty() {
        push_key(json, "message");
        value_to_json(payload, json)?;
    }
    if !message.reason.is_empty() {
        push_entry(json, "reason", &message.reason);
    }
    if message.kind == DISCONNECT {
        push_key(json, "reconnect");
        json.push_str(if message.reconnect { "true" } else { "false" });
    }
    json.push('}');
    Ok(())
}

#[cfg(test)]
mod tests;
