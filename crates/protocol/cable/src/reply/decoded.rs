//! Parses server messages for clients: the envelope is decoded, the application's JSON stays unchanged.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

/// One decoded server message, for clients.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply<'a> {
    /// The connection was accepted.
    Welcome {
        /// The session's id. Plain Action Cable sends none.
        sid: Option<Cow<'a, str>>,
        /// The identifiers of the restored subscriptions, if an earlier session was resumed.
        restored: Option<Vec<Cow<'a, str>>>,
    },
    /// The heartbeat.
    Ping,
    /// The answer to the `ping` command.
    Pong,
    /// A subscription is confirmed.
    Confirm {
        /// The subscription's identifier.
        identifier: Cow<'a, str>,
    },
    /// A subscription was refused.
    Reject {
        /// The subscription's identifier.
        identifier: Cow<'a, str>,
    },
    /// The earlier messages have been sent.
    ConfirmHistory {
        /// The subscription's identifier.
        identifier: Cow<'a, str>,
    },
    /// The earlier messages cannot be sent.
    RejectHistory {
        /// The subscription's identifier.
        identifier: Cow<'a, str>,
    },
    /// A client joined or left, or the answer to `presence`.
    Presence {
        /// The identifier of its subscription.
        identifier: Cow<'a, str>,
        /// The JSON text of the event, exactly as sent.
        message: &'a str,
    },
    /// The server is about to close the connection.
    Disconnect {
        /// The server's reason.
        reason: Cow<'a, str>,
        /// Whether the client should reconnect.
        reconnect: bool,
    },
    /// A broadcast or a transmission, also one with a type of the application's own.
    Message {
        /// The identifier of its subscription.
        identifier: Cow<'a, str>,
        /// The JSON text of the payload, exactly as sent.
        message: &'a str,
        /// Its position in the stream's history, if the server keeps one.
        position: Option<Position<'a>>,
    },
}

/// A message's position in the history of a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Position<'a> {
    /// The stream.
    pub stream: Cow<'a, str>,
    /// The epoch in which the offset counts.
    pub epoch: Cow<'a, str>,
    /// The message's number, from 1.
    pub offset: u64,
}

/// Why a frame is not a server message.
#[derive(Debug, thiserror::Error)]
pub enum ReplyError {
    /// Not a JSON object of the right shape.
    #[error("decode server message as JSON: {0}")]
    NotJson(#[from] serde_json::Error),
    /// An unknown type, without an identifier and a message to deliver.
    #[error("unknown message type {0:?}")]
    Unknown(String),
    /// A required field is missing.
    #[error("server message of type {kind:?} has no {field:?}")]
    Missing {
        /// The message's type, or `message`.
        kind: String,
        /// The missing field.
        field: &'static str,
    },
}

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(rename = "type", borrow)]
    kind: Option<Text<'a>>,
    #[serde(borrow)]
    identifier: Option<Text<'a>>,
    #[serde(borrow, default, deserialize_with = "present")]
    message: Option<&'a RawValue>,
    #[serde(borrow)]
    reason: Option<Text<'a>>,
    reconnect: Option<bool>,
    #[serde(borrow)]
    stream_id: Option<Text<'a>>,
    #[serde(borrow)]
    epoch: Option<Text<'a>>,
    offset: Option<u64>,
    #[serde(borrow)]
    sid: Option<Text<'a>>,
    #[serde(default)]
    restored: bool,
    #[serde(borrow, default)]
    restored_ids: Vec<Text<'a>>,
}

/// Inside an `Option`, serde borrows a string without escapes only through a separate type.
#[derive(Deserialize)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

/// A `null` payload is a payload.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

impl<'a> Reply<'a> {
    /// Decodes one server message.
    ///
    /// # Errors
    /// See [`ReplyError`].
    pub fn parse(frame: &'a str) -> Result<Self, ReplyError> {
        let mut envelope: Envelope<'a> = serde_json::from_str(frame)?;
        let kind = envelope.kind.take();
        let kind = kind.as_ref().map_or("message", |kind| &kind.0);
        Ok(match kind {
            "welcome" => envelope.welcome(),
            "ping" => Self::Ping,
            "pong" => Self::Pong,
            "confirm_subscription" => Self::Confirm {
                identifier: envelope.identifier(kind)?,
            },
            "reject_subscription" => Self::Reject {
                identifier: envelope.identifier(kind)?,
            },
            "confirm_history" => Self::ConfirmHistory {
                identifier: envelope.identifier(kind)?,
            },
            "reject_history" => Self::RejectHistory {
                identifier: envelope.identifier(kind)?,
            },
            "presence" => Self::Presence {
                identifier: envelope.identifier(kind)?,
                message: envelope.message(kind)?,
            },
            "disconnect" => Self::Disconnect {
                reason: envelope.reason.map(|reason| reason.0).unwrap_or_default(),
                reconnect: envelope.reconnect.unwrap_or(true),
            },
            "message" => envelope.into_message(kind)?,
            // The application may give its broadcasts a type, which does not change their delivery.
            other if envelope.identifier.is_some() && envelope.message.is_some() => {
                envelope.into_message(other)?
            }
            other => return Err(ReplyError::Unknown(other.chars().take(64).collect())),
        })
    }
}

impl<'a> Envelope<'a> {
    fn welcome(self) -> Reply<'a> {
        let restored = self.restored_ids.into_iter().map(|identifier| identifier.0);
        Reply::Welcome {
            sid: self.sid.map(|sid| sid.0),
            restored: self.restored.then(|| restored.collect()),
        }
    }

    fn identifier(&mut self, kind: &str) -> Result<Cow<'a, str>, ReplyError> {
        let identifier = self.identifier.take().map(|identifier| identifier.0);
        identifier.ok_or_else(|| missing(kind, "identifier"))
    }

    fn message(&self, kind: &str) -> Result<&'a str, ReplyError> {
        self.message
            .map(RawValue::get)
            .ok_or_else(|| missing(kind, "message"))
    }

    fn into_message(mut self, kind: &str) -> Result<Reply<'a>, ReplyError> {
        Ok(Reply::Message {
            identifier: self.identifier(kind)?,
            message: self.message(kind)?,
            position: self.position(),
        })
    }

    fn position(self) -> Option<Position<'a>> {
        Some(Position {
            stream: self.stream_id?.0,
            epoch: self.epoch?.0,
            offset: self.offset?,
        })
    }
}

fn missing(kind: &str, field: &'static str) -> ReplyError {
    ReplyError::Missing {
        kind: kind.to_owned(),
        field,
    }
}
