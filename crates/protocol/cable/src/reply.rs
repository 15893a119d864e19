//! Server messages: welcome, ping, confirmations, messages, disconnect.
//!
//! The encoders write exactly the bytes that AnyCable writes (field order `type, identifier, message, reason,
//! reconnect, sid`), except that the application's JSON inside `message` keeps its own bytes.

mod decoded;

pub use self::decoded::{Position, Reply, ReplyError};

use crate::{disconnect::DisconnectReason, presence};

/// Encodes the first message of an accepted connection.
pub fn encode_welcome(sid: &str) -> String {
    format!(r#"{{"type":"welcome","sid":{}}}"#, json_string(sid))
}

/// Encodes the first message of a resumed session, which has these subscriptions again.
pub fn encode_restored<'a>(sid: &str, identifiers: impl IntoIterator<Item = &'a str>) -> String {
    let identifiers: Vec<_> = identifiers.into_iter().map(json_string).collect();
    let ids = if identifiers.is_empty() {
        String::new()
    } else {
        format!(r#","restored_ids":[{}]"#, identifiers.join(","))
    };
    format!(
        r#"{{"type":"welcome","sid":{},"restored":true{ids}}}"#,
        json_string(sid)
    )
}

/// Encodes the heartbeat. `timestamp` is Unix time, in seconds unless the client asks for another unit.
pub fn encode_ping(timestamp: u64) -> String {
    format!(r#"{{"type":"ping","message":{timestamp}}}"#)
}

/// Encodes the answer to a client's `ping` command.
pub fn encode_pong() -> String {
    r#"{"type":"pong"}"#.to_owned()
}

/// Encodes the confirmation of the subscription to `identifier`.
pub fn encode_confirm(identifier: &str) -> String {
    format!(
        r#"{{"type":"confirm_subscription","identifier":{}}}"#,
        json_string(identifier)
    )
}

/// Encodes the rejection of the subscription to `identifier`.
pub fn encode_reject(identifier: &str) -> String {
    format!(
        r#"{{"type":"reject_subscription","identifier":{}}}"#,
        json_string(identifier)
    )
}

/// Encodes a broadcast or a transmission. `message` is JSON text and is embedded unchanged.
pub fn encode_message(identifier: &str, message: &str) -> String {
    format!(
        r#"{{"identifier":{},"message":{message}}}"#,
        json_string(identifier)
    )
}

/// Like [`encode_message`], with a `type`. Clients of the base protocol treat it as an ordinary message.
pub fn encode_typed_message(kind: &str, identifier: &str, message: &str) -> String {
    format!(
        r#"{{"type":{},"identifier":{},"message":{message}}}"#,
        json_string(kind),
        json_string(identifier)
    )
}

/// Encodes a broadcast that is kept: with its position, and with a `type` unless `kind` is `None`.
pub fn encode_kept_message(
    kind: Option<&str>,
    identifier: &str,
    message: &str,
    position: &Position<'_>,
) -> String {
    let kind = kind.map_or_else(String::new, |kind| format!(r#""type":{},"#, json_string(kind)));
    let Position {
        stream,
        epoch,
        offset,
    } = position;
    let (identifier, stream, epoch) = (json_string(identifier), json_string(stream), json_string(epoch));
    format!(
        r#"{{{kind}"identifier":{identifier},"message":{message},"stream_id":{stream},"epoch":{epoch},"offset":{offset}}}"#
    )
}

/// Encodes the answer that all earlier messages that were asked for have been sent.
pub fn encode_confirm_history(identifier: &str) -> String {
    format!(
        r#"{{"type":"confirm_history","identifier":{}}}"#,
        json_string(identifier)
    )
}

/// Encodes the answer that earlier messages of the streams of `identifier` are not available.
pub fn encode_reject_history(identifier: &str) -> String {
    format!(
        r#"{{"type":"reject_history","identifier":{}}}"#,
        json_string(identifier)
    )
}

/// Encodes an event of presence, or an answer about it, for one client; `content` is one of
/// [`presence`](crate::presence)'s.
pub fn encode_presence(identifier: &str, content: &str) -> String {
    encode_typed_message(presence::MESSAGE_TYPE, identifier, content)
}

/// Encodes the disconnect message. The server closes the connection right after it.
pub fn encode_disconnect(reason: DisconnectReason, reconnect: bool) -> String {
    format!(r#"{{"type":"disconnect","reason":"{reason}","reconnect":{reconnect}}}"#)
}

fn json_string(text: &str) -> String {
    serde_json::to_string(text).expect("a string always serialises")
}

#[cfg(test)]
mod tests;
