//! What a client reads of a server message: the envelope decoded, the application's JSON left as it is.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

/// One decoded server message, for clients.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply<'a> {
    /// The connection was accepted.
    Welcome {
        /// The session's id; plain Action Cable sends none.
        sid: Option<Cow<'a, str>>,
        /// The identifiers whose subscriptions live again, when an earlier session was resumed.
        restored: Option<Vec<Cow<'a, str>>>,
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
    /// What was published before has been sent.
    ConfirmHistory {
        /// The subscription's identifier.
        identifier: Cow<'a, str>,
    },
    /// What was published before cannot be sent.
    RejectHistory {
        /// The subscription's identifier.
        identifier: Cow<'a, str>,
    },
    /// Somebody came or left, or the answer to the question who is there.
    Presence {
        /// The subscription that it belongs to.
        identifier: Cow<'a, str>,
        /// The JSON text of the event, as the server sent it.
        message: &'a str,
    },
    /// The server is about to close the connection.
    Disconnect {
        /// Why, in the server's words.
        reason: Cow<'a, str>,
        /// Whether the client should come back.
        reconnect: bool,
    },
    /// A broadcast or a transmission, also one with a type of the application's own.
    Message {
        /// The subscription that it belongs to.
        identifier: Cow<'a, str>,
        /// The JSON text of the payload, as the server sent it.
        message: &'a str,
        /// Its place in its stream's history, when the server keeps one.
        position: Option<Position<'a>>,
    },
}

/// A message's place in the history of a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Position<'a> {
    /// The stream that it was published to.
    pub stream: Cow<'a, str>,
    /// Which life of the stream the offset counts in.
    pub epoch: Cow<'a, str>,
    /// Its number, from 1.
    pub offset: u64,
}

/// Why a frame is not a server message.
#[derive(Debug, thiserror::Error)]
pub enum ReplyError {
    /// Not a JSON object of the right shape.
    #[error("decode server message as JSON: {0}")]
    NotJson(#[from] serde_json::Error),
    /// A type that clients do not know, without an identifier and a message to deliver.
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

/// Inside an `Option`, serde borrows a string without escapes only through a type of its own.
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
            // The application may give its broadcasts a type; it changes nothing about their delivery.
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
