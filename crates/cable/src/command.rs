//! What a client says: subscribe, unsubscribe, message.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// One decoded client command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command<'a> {
    /// Asks for a subscription to the channel that `identifier` names.
    Subscribe {
        /// The channel and its parameters: a JSON object *as a string*, chosen by the client, kept verbatim.
        identifier: Cow<'a, str>,
    },
    /// Ends a subscription. There is no answer.
    Unsubscribe {
        /// The identifier that was subscribed.
        identifier: Cow<'a, str>,
    },
    /// Performs an action of a subscribed channel.
    Message {
        /// The identifier that was subscribed.
        identifier: Cow<'a, str>,
        /// The action and its arguments: JSON in a string, not looked into here.
        data: Cow<'a, str>,
    },
    /// An answer to a ping; it only shows that the client lives.
    Pong,
    /// The client asks for a `pong`.
    Ping,
}

/// Why a frame is not a command.
#[derive(Debug, thiserror::Error)]
pub enum CommandError {
    /// The frame is not a JSON object of the right shape. The connection cannot go on: the two sides do not
    /// speak the same language.
    #[error("decode command as JSON: {0}")]
    NotJson(#[from] serde_json::Error),
    /// A command that this server does not know. It is counted and ignored; the connection goes on.
    #[error("unknown command {0:?}")]
    Unknown(String),
    /// A known command lacks a field. It is counted and ignored; the connection goes on.
    #[error("command {command:?} needs {field:?} to be a string")]
    Missing {
        /// The command's name.
        command: &'static str,
        /// The field that is absent or of another type.
        field: &'static str,
    },
}

impl CommandError {
    /// Whether the connection must be closed.
    pub fn is_fatal(&self) -> bool {
        matches!(self, Self::NotJson(_))
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
}

#[derive(Serialize)]
struct Encoded<'a> {
    command: &'a str,
    identifier: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<&'a str>,
}

impl<'a> Command<'a> {
    /// Decodes one frame.
    ///
    /// Unknown fields are ignored, as extensions of the protocol add some. Whether a field has the right type
    /// is judged by the command that needs it, so that a foreign extension cannot end the connection.
    ///
    /// # Errors
    /// See [`CommandError`]; [`CommandError::is_fatal`] tells whether the connection can go on.
    pub fn parse(frame: &'a [u8]) -> Result<Self, CommandError> {
        let envelope: Envelope<'a> = serde_json::from_slice(frame)?;
        match envelope.command.as_deref().unwrap_or_default() {
            "subscribe" => Ok(Self::Subscribe {
                identifier: envelope.identifier("subscribe")?,
            }),
            "unsubscribe" => Ok(Self::Unsubscribe {
                identifier: envelope.identifier("unsubscribe")?,
            }),
            "message" => Ok(Self::Message {
                identifier: envelope.identifier("message")?,
                data: text_field(envelope.data, "message", "data")?,
            }),
            "pong" => Ok(Self::Pong),
            "ping" => Ok(Self::Ping),
            other => Err(CommandError::Unknown(other.chars().take(64).collect())),
        }
    }
}

impl<'a> Envelope<'a> {
    fn identifier(&self, command: &'static str) -> Result<Cow<'a, str>, CommandError> {
        text_field(self.identifier, command, "identifier")
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
        .ok_or(CommandError::Missing { command, field: name })
}

/// Encodes `subscribe`, as a client sends it.
pub fn encode_subscribe(identifier: &str) -> String {
    encode("subscribe", identifier, None)
}

/// Encodes `unsubscribe`, as a client sends it.
pub fn encode_unsubscribe(identifier: &str) -> String {
    encode("unsubscribe", identifier, None)
}

/// Encodes `message`; `data` is the JSON text of the action, which travels as a string.
pub fn encode_message(identifier: &str, data: &str) -> String {
    encode("message", identifier, Some(data))
}

fn encode(command: &str, identifier: &str, data: Option<&str>) -> String {
    serde_json::to_string(&Encoded {
        command,
        identifier,
        data,
    })
    .expect("a struct of strings always serialises")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(frame: &str, expected: Result<Command<'_>, &str>) {
        let got = Command::parse(frame.as_bytes()).map_err(|e| e.to_string());
        match (got, expected) {
            (Ok(command), Ok(wanted)) => assert_eq!(command, wanted, "frame {frame}"),
            (Err(error), Err(wanted)) => assert!(error.contains(wanted), "frame {frame}: {error}"),
            (got, wanted) => panic!("frame {frame}: got {got:?}, expected {wanted:?}"),
        }
    }

    #[test]
    fn decodes_commands() {
        let identifier = Cow::Borrowed(r#"{"channel":"ChatChannel","id":1}"#);
        check(
            r#"{"command":"subscribe","identifier":"{\"channel\":\"ChatChannel\",\"id\":1}"}"#,
            Ok(Command::Subscribe {
                identifier: identifier.clone(),
            }),
        );
        check(
            r#"{"identifier":"{\"channel\":\"ChatChannel\",\"id\":1}","command":"unsubscribe","x":[1]}"#,
            Ok(Command::Unsubscribe {
                identifier: identifier.clone(),
            }),
        );
        check(
            r#"{"command":"message","identifier":"{\"channel\":\"ChatChannel\",\"id\":1}","data":"{\"a\":1}"}"#,
            Ok(Command::Message {
                identifier,
                data: r#"{"a":1}"#.into(),
            }),
        );
        check(r#"{"command":"pong"}"#, Ok(Command::Pong));
        check(r#" {"command":"ping"} "#, Ok(Command::Ping));
    }

    #[test]
    fn names_what_is_wrong() {
        check("", Err("decode command"));
        check("[]", Err("decode command"));
        check(r#"{"command":"subscribe""#, Err("decode command"));
        check("{}", Err(r#"unknown command """#));
        check(
            r#"{"command":"dance","identifier":"x"}"#,
            Err(r#"unknown command "dance""#),
        );
        check(r#"{"command":"subscribe"}"#, Err(r#"needs "identifier""#));
        check(
            r#"{"command":"subscribe","identifier":{"channel":"A"}}"#,
            Err(r#"needs "identifier""#),
        );
        check(
            r#"{"command":"message","identifier":"i","data":{"a":1}}"#,
            Err(r#"needs "data""#),
        );
    }

    #[test]
    fn only_a_frame_that_is_not_json_ends_the_connection() {
        for (frame, fatal) in [("{", true), ("{}", false), (r#"{"command":"message"}"#, false)] {
            let error = Command::parse(frame.as_bytes()).expect_err(frame);
            assert_eq!(error.is_fatal(), fatal, "{frame}");
        }
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
        assert_eq!(
            encode_subscribe("i"),
            r#"{"command":"subscribe","identifier":"i"}"#
        );
        assert_eq!(
            encode_unsubscribe("i"),
            r#"{"command":"unsubscribe","identifier":"i"}"#
        );
    }
}
