//! Protocol buffers, as `actioncable-v1-protobuf` has them: one message for both directions, whose payload is msgpack.
//! `actioncable-v1-ext-protobuf` has another message from the server, with positions and resumed sessions. Presence and
//! answered pings are additions to AnyCable's schema: see [`messages`].

mod commands;
mod messages;
mod replies;

use prost::Message as _;

use self::messages::{DISCONNECT, ExtendedMessage, NO_TYPE, ServerMessage, type_name};
pub(super) use self::{
    commands::{command_json, encode_command},
    replies::encode_reply,
};
use super::{
    json_text::{push_entry, push_key, push_text},
    msgpack::{MsgpackError, value_to_json},
};
use crate::presence::MESSAGE_TYPE;

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

/// Appends the JSON of a server's message. `is_extended`: it is one of the extended protocol.
pub(super) fn reply(message: &[u8], is_extended: bool, json: &mut String) -> Result<(), ProtobufError> {
    let message = if is_extended {
        ExtendedMessage::decode(message)?
    } else {
        ServerMessage::decode(message)?.into()
    };
    json.push('{');
    match (message.kind, type_name(message.kind)) {
        _ if !message.presence.is_empty() => push_entry(json, "type", MESSAGE_TYPE),
        (NO_TYPE, _) => {}
        (_, Some(kind)) => push_entry(json, "type", kind),
        // Treated like an unknown type in JSON.
        (unknown, None) => push_entry(json, "type", &format!("number {unknown}")),
    }
    push_session(json, &message);
    push_text_unless_empty(json, "identifier", &message.identifier);
    let payload = match &*message.presence {
        [] => &message.message,
        _ => &message.presence,
    };
    if !payload.is_empty() {
        push_key(json, "message");
        value_to_json(payload, json)?;
    }
    push_text_unless_empty(json, "reason", &message.reason);
    if message.kind == DISCONNECT {
        push_key(json, "reconnect");
        json.push_str(if message.reconnect { "true" } else { "false" });
    }
    push_position(json, &message);
    json.push('}');
    Ok(())
}

/// An absent field has its default: protocol buffers do not tell the two apart.
fn push_text_unless_empty(json: &mut String, key: &str, text: &str) {
    if !text.is_empty() {
        push_entry(json, key, text);
    }
}

fn push_session(json: &mut String, message: &ExtendedMessage) {
    push_text_unless_empty(json, "sid", &message.sid);
    if message.restored {
        push_key(json, "restored");
        json.push_str("true");
        push_key(json, "restored_ids");
        json.push('[');
        for (n, id) in message.restored_ids.iter().enumerate() {
            json.push_str(if n == 0 { "" } else { "," });
            push_text(json, id);
        }
        json.push(']');
    }
}

fn push_position(json: &mut String, message: &ExtendedMessage) {
    if message.stream_id.is_empty() {
        return;
    }
    push_entry(json, "stream_id", &message.stream_id);
    push_entry(json, "epoch", &message.epoch);
    push_key(json, "offset");
    json.push_str(&message.offset.to_string());
}

#[cfg(test)]
mod tests;
