//! What the server says: welcome, ping, confirmations, messages, disconnect.
//!
//! The encoders write exactly the bytes that AnyCable writes (field order `type, identifier, message, reason,
//! reconnect, sid`), except that the application's JSON inside `message` keeps its own bytes.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::disconnect::DisconnectReason;

/// The first message of an accepted connection.
pub fn encode_welcome(sid: &str) -> String {
    format!(r#"{{"type":"welcome","sid":{}}}"#, json_string(sid))
}

/// The heartbeat; `timestamp` is Unix time, in seconds unless the client wants another unit.
pub fn encode_ping(timestamp: u64) -> String {
    format!(r#"{{"type":"ping","message":{timestamp}}}"#)
}

/// The answer to a client's `ping` command.
pub fn encode_pong() -> String {
    r#"{"type":"pong"}"#.to_owned()
}

/// The subscription to `identifier` is live.
pub fn encode_confirm(identifier: &str) -> String {
    format!(
        r#"{{"type":"confirm_subscription","identifier":{}}}"#,
        json_string(identifier)
    )
}

/// The application refused the subscription to `identifier`.
pub fn encode_reject(identifier: &str) -> String {
    format!(
        r#"{{"type":"reject_subscription","identifier":{}}}"#,
        json_string(identifier)
    )
}

/// A broadcast or a transmission; `message` is JSON text and is embedded as it is.
pub fn encode_message(identifier: &str, message: &str) -> String {
    format!(
        r#"{{"identifier":{},"message":{message}}}"#,
        json_string(identifier)
    )
}

/// As [`encode_message`], with a `type`; clients of the base protocol treat it as an ordinary message.
pub fn encode_typed_message(kind: &str, identifier: &str, message: &str) -> String {
    format!(
        r#"{{"type":{},"identifier":{},"message":{message}}}"#,
        json_string(kind),
        json_string(identifier)
    )
}

/// What was published before on the streams of `identifier` cannot be sent.
pub fn encode_reject_history(identifier: &str) -> String {
    format!(
        r#"{{"type":"reject_history","identifier":{}}}"#,
        json_string(identifier)
    )
}

/// Nobody knows who is present.
pub fn encode_presence_error(identifier: &str) -> String {
    encode_typed_message("presence", identifier, r#"{"type":"error"}"#)
}

/// The server closes the connection right after this.
pub fn encode_disconnect(reason: DisconnectReason, reconnect: bool) -> String {
    format!(r#"{{"type":"disconnect","reason":"{reason}","reconnect":{reconnect}}}"#)
}

fn json_string(text: &str) -> String {
    serde_json::to_string(text).expect("a string always serialises")
}

/// One decoded server message, for clients.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply<'a> {
    /// The connection was accepted.
    Welcome {
        /// The session's id; plain Action Cable sends none.
        sid: Option<Cow<'a, str>>,
    },
    /// The heartbeat.
    Ping,
    /// The answer to the `ping` command.
    Pong,
    /// A subscription is live.
    Confirm {
        /// The subscription's identifier.
        identifier: Cow<'a, str>,
    },
    /// A subscription was refused.
    Reject {
        /// The subscription's identifier.
        identifier: Cow<'a, str>,
    },
    /// The server is about to close the connection.
    Disconnect {
        /// Why, in the server's words.
        reason: Cow<'a, str>,
        /// Whether the client should come back.
        reconnect: bool,
    },
    /// A broadcast or a transmission.
    Message {
        /// The subscription that it belongs to.
        identifier: Cow<'a, str>,
        /// The JSON text of the payload, as the server sent it.
        message: &'a str,
    },
}

/// Why a frame is not a server message.
#[derive(Debug, thiserror::Error)]
pub enum ReplyError {
    /// Not a JSON object of the right shape.
    #[error("decode server message as JSON: {0}")]
    NotJson(#[from] serde_json::Error),
    /// A type that clients of the base protocol do not know.
    #[error("unknown message type {0:?}")]
    Unknown(String),
    /// A field that the type needs is absent.
    #[error("server message of type {kind:?} has no {field:?}")]
    Missing {
        /// The message's type, or `message`.
        kind: String,
        /// The absent field.
        field: &'static str,
    },
}

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(rename = "type", borrow)]
    kind: Option<Cow<'a, str>>,
    #[serde(borrow)]
    identifier: Option<Cow<'a, str>>,
    #[serde(borrow)]
    message: Option<&'a RawValue>,
    #[serde(borrow)]
    reason: Option<Cow<'a, str>>,
    reconnect: Option<bool>,
    #[serde(borrow)]
    sid: Option<Cow<'a, str>>,
}

impl<'a> Reply<'a> {
    /// Decodes one server message.
    ///
    /// # Errors
    /// See [`ReplyError`].
    pub fn parse(frame: &'a str) -> Result<Self, ReplyError> {
        let Envelope {
            kind,
            identifier,
            message,
            reason,
            reconnect,
            sid,
        } = serde_json::from_str(frame)?;
        let kind = kind.as_deref().unwrap_or("message");
        let missing = |field| ReplyError::Missing {
            kind: kind.to_owned(),
            field,
        };
        Ok(match kind {
            "welcome" => Self::Welcome { sid },
            "ping" => Self::Ping,
            "pong" => Self::Pong,
            "confirm_subscription" => Self::Confirm {
                identifier: identifier.ok_or_else(|| missing("identifier"))?,
            },
            "reject_subscription" => Self::Reject {
                identifier: identifier.ok_or_else(|| missing("identifier"))?,
            },
            "disconnect" => Self::Disconnect {
                reason: reason.unwrap_or_default(),
                reconnect: reconnect.unwrap_or(true),
            },
            "message" => Self::Message {
                identifier: identifier.ok_or_else(|| missing("identifier"))?,
                message: message.ok_or_else(|| missing("message"))?.get(),
            },
            other => return Err(ReplyError::Unknown(other.to_owned())),
        })
    }
}

#[cfg(test)]
mod tests;
