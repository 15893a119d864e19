//! Commands of clients: subscribe, unsubscribe, message (docs/protocols/cable.md, Commands), and AnyCable's extensions
//! (docs/protocols/extended.md).

use std::{borrow::Cow, collections::BTreeMap, fmt};

use serde::{Deserialize, de::IgnoredAny};
use serde_json::{error::Category, value::RawValue};

mod encode;
mod member;

pub use self::{
    encode::{
        HistoryRequest, StreamPosition, encode_history, encode_join, encode_leave, encode_message,
        encode_pong, encode_presence, encode_subscribe, encode_subscribe_with_history, encode_unsubscribe,
        encode_whisper,
    },
    member::Member,
};

/// One decoded client command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command<'a> {
    /// Asks for a subscription to the channel that `identifier` names.
    Subscribe {
        /// The channel and its parameters: a JSON object *as a string*, chosen by the client, kept verbatim.
        identifier: Cow<'a, str>,
        /// The earlier messages that the client asks for. `None`: it asks for none.
        history: Option<HistoryRequest>,
        /// The member that the client wants to be present as. `None`: it does not ask to be present.
        presence: Option<Member>,
    },
    /// Ends a subscription. There is no answer.
    Unsubscribe {
        /// The identifier of the subscription.
        identifier: Cow<'a, str>,
    },
    /// Performs an action of a subscribed channel.
    Message {
        /// The identifier of the subscription.
        identifier: Cow<'a, str>,
        /// The action and its arguments: JSON in a string, not parsed here.
        data: Cow<'a, str>,
    },
    /// Sends a message to the other listeners of a subscribed channel, without the application.
    Whisper {
        /// The identifier of the subscription.
        identifier: Cow<'a, str>,
        /// The message: any JSON, not parsed here. `null` and missing data become the string `"null"`, as from
        /// AnyCable, because clients ignore a message that is `null`.
        data: &'a str,
    },
    /// Asks for earlier messages of a subscribed channel.
    History {
        /// The identifier of the subscription.
        identifier: Cow<'a, str>,
        /// The starting points. `None`: the request has none.
        history: Option<HistoryRequest>,
    },
    /// Asks which members are present on a subscribed channel.
    Presence {
        /// The identifier of the subscription.
        identifier: Cow<'a, str>,
        /// Whether the answer lists the members. If not, it only has their number.
        wants_records: bool,
    },
    /// The client wants to be present on a subscribed channel.
    Join {
        /// The identifier of the subscription.
        identifier: Cow<'a, str>,
        /// The id and the info under which the client wants to be present.
        member: Member,
    },
    /// The client no longer wants to be present on a subscribed channel.
    Leave {
        /// The identifier of the subscription.
        identifier: Cow<'a, str>,
    },
    /// An answer to a ping. It only shows that the client is alive.
    Pong,
    /// The client asks for a `pong`.
    Ping,
}

/// Why a frame is not a command.
#[derive(Debug, thiserror::Error)]
pub enum CommandError {
    /// The frame is not JSON. The connection cannot go on: the two sides do not speak the same language.
    #[error("the command is not JSON: {0}")]
    NotJson(serde_json::Error),
    /// The frame is JSON, but not an object. The connection cannot go on.
    #[error("the command is {0}, not a JSON object")]
    NotAnObject(JsonKind),
    /// The envelope has a duplicate field, or `command` is not a string. The connection cannot go on.
    #[error("the command has a duplicate field or a field of a wrong type: {0}")]
    WrongFields(serde_json::Error),
    /// An unknown command. It is counted and ignored; the connection goes on.
    #[error("unknown command {0:?}")]
    Unknown(String),
    /// A known command lacks a field. It is counted and ignored; the connection goes on.
    #[error("command {command:?} needs {field:?} to be {expected}")]
    Missing {
        /// The command's name.
        command: &'static str,
        /// The field that is missing or has a wrong type.
        field: &'static str,
        /// The expected value.
        expected: &'static str,
    },
}

impl CommandError {
    /// Whether the connection must be closed.
    pub fn is_fatal(&self) -> bool {
        matches!(
            self,
            Self::NotJson(_) | Self::NotAnObject(_) | Self::WrongFields(_)
        )
    }
}

/// The type of a JSON text that is not an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JsonKind {
    /// `[…]`
    List,
    /// `"…"`
    String,
    /// `-1.5`
    Number,
    /// `true` or `false`
    Boolean,
    /// `null`
    Null,
}

impl JsonKind {
    /// The type of a valid JSON text; `None` for an object.
    fn of(json: &[u8]) -> Option<Self> {
        match json.trim_ascii_start().first()? {
            b'{' => None,
            b'[' => Some(Self::List),
            b'"' => Some(Self::String),
            b't' | b'f' => Some(Self::Boolean),
            b'n' => Some(Self::Null),
            _ => Some(Self::Number),
        }
    }
}

impl fmt::Display for JsonKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::List => "a list",
            Self::String => "a string",
            Self::Number => "a number",
            Self::Boolean => "a boolean",
            Self::Null => "null",
        })
    }
}

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow)]
    command: Option<Cow<'a, str>>,
    #[serde(borrow)]
    identifier: Option<&'a RawValue>,
    #[serde(borrow)]
    data: Option<&'a RawValue>,
    #[serde(borrow)]
    history: Option<&'a RawValue>,
    #[serde(borrow)]
    presence: Option<&'a RawValue>,
}

/// The options of a request for the members that are present.
#[derive(Deserialize)]
struct PresenceOptions {
    #[serde(default = "yes")]
    return_records: bool,
}

fn yes() -> bool {
    true
}

/// The starting points of a request for history.
#[derive(Deserialize)]
struct HistoryBounds<'a> {
    /// Seconds of Unix time. 0 means that it is absent.
    #[serde(default)]
    since: i64,
    /// Positions by stream.
    #[serde(borrow)]
    streams: Option<BTreeMap<Box<str>, &'a RawValue>>,
}

/// A position as clients write it. A missing field has Go's zero value, as with AnyCable.
#[derive(Default, Deserialize)]
struct BoundPosition<'a> {
    #[serde(default)]
    offset: u64,
    #[serde(borrow, default)]
    epoch: Cow<'a, str>,
}

impl HistoryBounds<'_> {
    /// The request. `None` without a starting point. An unreadable position becomes one in an epoch without a name,
    /// which no stream has, so that its stream is refused.
    fn into_request(self) -> Option<HistoryRequest> {
        let since = Some(self.since).filter(|since| *since > 0);
        if since.is_none() && self.streams.is_none() {
            return None;
        }
        let position = |raw: &RawValue| {
            let BoundPosition { offset, epoch } = serde_json::from_str(raw.get()).unwrap_or_default();
            StreamPosition {
                offset,
                epoch: epoch.into(),
            }
        };
        let streams = self.streams.unwrap_or_default();
        Some(HistoryRequest {
            since,
            streams: streams
                .into_iter()
                .map(|(name, raw)| (name, position(raw)))
                .collect(),
        })
    }
}

impl<'a> Command<'a> {
    /// Decodes one frame.
    ///
    /// Unknown fields are ignored, because extensions of the protocol add some. Only the command that needs a field
    /// checks its type, so that an unknown extension cannot end the connection.
    ///
    /// # Errors
    /// See [`CommandError`]; [`CommandError::is_fatal`] says whether the connection can go on.
    pub fn parse(frame: &'a [u8]) -> Result<Self, CommandError> {
        let envelope = Envelope::parse(frame)?;
        match envelope.command.as_deref().unwrap_or_default() {
            "subscribe" => Ok(Self::Subscribe {
                identifier: envelope.identifier("subscribe")?,
                history: envelope.history(),
                presence: envelope.member(),
            }),
            "unsubscribe" => Ok(Self::Unsubscribe {
                identifier: envelope.identifier("unsubscribe")?,
            }),
            "message" => Ok(Self::Message {
                identifier: envelope.identifier("message")?,
                data: text_field(envelope.data, "message", "data")?,
            }),
            "whisper" => Ok(Self::Whisper {
                identifier: envelope.identifier("whisper")?,
                data: envelope.data.map_or(r#""null""#, RawValue::get),
            }),
            "history" => Ok(Self::History {
                identifier: envelope.identifier("history")?,
                history: envelope.history(),
            }),
            "presence" => Ok(Self::Presence {
                identifier: envelope.identifier("presence")?,
                wants_records: envelope.wants_records(),
            }),
            "join" => Ok(Self::Join {
                identifier: envelope.identifier("join")?,
                member: envelope.member().ok_or(missing(
                    "join",
                    "presence",
                    "an object with the string \"id\"",
                ))?,
            }),
            "leave" => Ok(Self::Leave {
                identifier: envelope.identifier("leave")?,
            }),
            "pong" => Ok(Self::Pong),
            "ping" => Ok(Self::Ping),
            other => Err(CommandError::Unknown(other.chars().take(64).collect())),
        }
    }
}

impl<'a> Envelope<'a> {
    fn parse(frame: &'a [u8]) -> Result<Self, CommandError> {
        if let Some(kind) = JsonKind::of(frame) {
            // serde would accept a list of the fields in their order.
            return Err(match serde_json::from_slice::<IgnoredAny>(frame) {
                Ok(IgnoredAny) => CommandError::NotAnObject(kind),
                Err(error) => CommandError::NotJson(error),
            });
        }
        serde_json::from_slice(frame).map_err(|error| match error.classify() {
            Category::Data => CommandError::WrongFields(error),
            Category::Syntax | Category::Eof | Category::Io => CommandError::NotJson(error),
        })
    }

    fn identifier(&self, command: &'static str) -> Result<Cow<'a, str>, CommandError> {
        text_field(self.identifier, command, "identifier")
    }

    /// The request for history, if it has a starting point (docs/protocols/extended.md, History).
    fn history(&self) -> Option<HistoryRequest> {
        let bounds: HistoryBounds<'_> = serde_json::from_str(self.history?.get()).ok()?;
        bounds.into_request()
    }

    /// The member of a `join`, or of a `subscribe` that joins (docs/protocols/extended.md, Presence).
    fn member(&self) -> Option<Member> {
        Member::parse(self.presence?.get())
    }

    /// Data of an unknown form asks for everything, as no data does.
    fn wants_records(&self) -> bool {
        let options = self
            .data
            .and_then(|data| serde_json::from_str::<PresenceOptions>(data.get()).ok());
        options.is_none_or(|options| options.return_records)
    }
}

fn missing(command: &'static str, field: &'static str, expected: &'static str) -> CommandError {
    CommandError::Missing {
        command,
        field,
        expected,
    }
}

fn text_field<'a>(
    field: Option<&'a RawValue>,
    command: &'static str,
    name: &'static str,
) -> Result<Cow<'a, str>, CommandError> {
    #[derive(Deserialize)]
    struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

    field
        .and_then(|raw| serde_json::from_str::<Text<'a>>(raw.get()).ok())
        .map(|text| text.0)
        .ok_or(missing(command, name, "a string"))
}

#[cfg(test)]
mod tests;
