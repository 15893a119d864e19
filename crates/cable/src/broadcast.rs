//! What a backend sends: messages for streams, `{"stream":…,"data":…}`, one or a list, and commands for the server
//! (AnyCable's broadcast payload, spec §4.1).

use serde::Deserialize;
use serde_json::value::RawValue;

/// One message for everyone who listens to a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Publication {
    /// The stream's name.
    pub stream: String,
    /// The payload as JSON text, ready to be embedded in a cable message.
    pub message: String,
}

impl Publication {
    /// Makes a publication from a payload *string*, as backends send it.
    ///
    /// A payload that is JSON is embedded as it stands; one that is not, or that is `null`, travels as a JSON
    /// string of itself (AnyCable's rule, spec §2.2).
    pub fn from_data(stream: impl Into<String>, data: &str) -> Self {
        let message = match serde_json::from_str::<&RawValue>(data) {
            Ok(json) if json.get() != "null" => json.get().to_owned(),
            _ => serde_json::to_string(data).expect("a string always serialises"),
        };
        Self {
            stream: stream.into(),
            message,
        }
    }

    /// Makes a publication from JSON text that the caller wrote itself.
    pub fn from_json(stream: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            stream: stream.into(),
            message: message.into(),
        }
    }
}

/// Ends every session with these identifiers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemoteDisconnect {
    /// What the application named the sessions, character for character.
    pub identifiers: String,
    /// Whether the clients should come back.
    pub reconnect: bool,
}

/// One payload of a backend.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Broadcast {
    /// Messages, in their order.
    Publications(Vec<Publication>),
    /// `{"command":"disconnect",…}`.
    Disconnect(RemoteDisconnect),
}

/// Why a broadcast is refused. Nothing of a refused broadcast was published.
#[derive(Debug, thiserror::Error)]
pub enum BroadcastError {
    /// The body is no JSON of the right shape.
    #[error("{0}; expected {{\"stream\":\"name\",\"data\":\"JSON as a string\"}} or a list of those")]
    NotJson(#[from] serde_json::Error),
    /// A command that the server does not know.
    #[error("remote command {0:?} is unknown; the only one is \"disconnect\"")]
    UnknownCommand(String),
    /// A command inside of a list.
    #[error("message {index}: remote command {command:?} cannot be part of a list; send it alone")]
    CommandInList {
        /// Position in the list, from 0.
        index: usize,
        /// Its name.
        command: String,
    },
    /// A `disconnect` that does not say whom.
    #[error(
        "remote command \"disconnect\" has no identifier; expected \
         {{\"command\":\"disconnect\",\"payload\":{{\"identifier\":\"…\",\"reconnect\":true}}}}"
    )]
    NoIdentifier,
    /// A message lacks a field.
    #[error(
        "message {index}: {field:?} is missing; expected {{\"stream\":\"name\",\"data\":\"JSON as a string\"}}"
    )]
    Missing {
        /// Position in the list, from 0.
        index: usize,
        /// The absent field.
        field: &'static str,
    },
}

#[derive(Deserialize)]
struct Entry {
    stream: Option<String>,
    data: Option<String>,
    command: Option<String>,
    payload: Option<CommandPayload>,
}

#[derive(Default, Deserialize)]
struct CommandPayload {
    identifier: Option<String>,
    reconnect: Option<bool>,
}

/// Parses a payload: one message, a list, whose order is kept, or one command.
///
/// A batch is all or nothing: with one bad element nothing is published, so that a backend can repeat the
/// request. (AnyCable publishes up to the first bad element.)
///
/// # Errors
/// See [`BroadcastError`].
pub fn parse(body: &[u8]) -> Result<Broadcast, BroadcastError> {
    let is_list = body.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'[');
    if !is_list {
        return serde_json::from_slice::<Entry>(body)?.into_broadcast();
    }
    let entries: Vec<Entry> = serde_json::from_slice(body)?;
    let publications: Result<_, _> = entries
        .into_iter()
        .enumerate()
        .map(|(index, entry)| entry.into_publication(index))
        .collect();
    Ok(Broadcast::Publications(publications?))
}

impl Entry {
    fn into_broadcast(self) -> Result<Broadcast, BroadcastError> {
        match self.command.as_deref() {
            None => Ok(Broadcast::Publications(vec![self.into_publication(0)?])),
            Some("disconnect") => self.payload.unwrap_or_default().into_disconnect(),
            Some(unknown) => Err(BroadcastError::UnknownCommand(unknown.to_owned())),
        }
    }

    fn into_publication(self, index: usize) -> Result<Publication, BroadcastError> {
        if let Some(command) = self.command {
            return Err(BroadcastError::CommandInList { index, command });
        }
        let stream = self.stream.ok_or(BroadcastError::Missing {
            index,
            field: "stream",
        })?;
        let data = self
            .data
            .ok_or(BroadcastError::Missing { index, field: "data" })?;
        Ok(Publication::from_data(stream, &data))
    }
}

impl CommandPayload {
    /// Without `reconnect` the clients come back, as with Rails.
    fn into_disconnect(self) -> Result<Broadcast, BroadcastError> {
        let identifiers = self.identifier.filter(|text| !text.is_empty());
        Ok(Broadcast::Disconnect(RemoteDisconnect {
            identifiers: identifiers.ok_or(BroadcastError::NoIdentifier)?,
            reconnect: self.reconnect.unwrap_or(true),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_message(data: &str, expected: &str) {
        assert_eq!(Publication::from_data("s", data).message, expected, "data {data}");
    }

    #[test]
    fn json_is_embedded_and_anything_else_becomes_a_string() {
        check_message(
            r#"{"b":1, "a":12345678901234567890}"#,
            r#"{"b":1, "a":12345678901234567890}"#,
        );
        check_message(r#""abc""#, r#""abc""#);
        check_message(" [1] ", "[1]");
        check_message("null", r#""null""#);
        check_message("hello", r#""hello""#);
        check_message("{\"broken\":", r#""{\"broken\":""#);
        check_message("", r#""""#);
        check_message("1 2", r#""1 2""#);
    }

    #[track_caller]
    fn check(body: &str, expected: Result<&[(&str, &str)], &str>) {
        let got = parse(body.as_bytes());
        match (got, expected) {
            (Ok(Broadcast::Publications(list)), Ok(wanted)) => {
                let list: Vec<_> = list
                    .iter()
                    .map(|p| (p.stream.as_str(), p.message.as_str()))
                    .collect();
                assert_eq!(list, wanted, "body {body}");
            }
            (Err(error), Err(part)) => assert!(error.to_string().contains(part), "body {body}: {error}"),
            (got, wanted) => panic!("body {body}: got {got:?}, expected {wanted:?}"),
        }
    }

    #[test]
    fn parses_one_and_many() {
        check(r#"{"stream":"a","data":"1"}"#, Ok(&[("a", "1")]));
        check(
            r#" [{"stream":"a","data":"1"},{"data":"{}","stream":"b"}]"#,
            Ok(&[("a", "1"), ("b", "{}")]),
        );
        check("[]", Ok(&[]));
    }

    #[test]
    fn names_what_is_wrong() {
        check("", Err("expected {\"stream\""));
        check("{\"stream\":", Err("expected {\"stream\""));
        check(r#"{"stream":"a"}"#, Err(r#"message 0: "data" is missing"#));
        check(
            r#"[{"stream":"a","data":"1"},{"data":"1"}]"#,
            Err(r#"message 1: "stream" is missing"#),
        );
        check(r#"{"stream":"a","data":{"a":1}}"#, Err("expected a string"));
        check(
            r#"{"command":"disconnect","payload":{}}"#,
            Err("has no identifier"),
        );
        check(r#"{"command":"disconnect"}"#, Err("has no identifier"));
        check(
            r#"{"command":"disconnect","payload":{"identifier":""}}"#,
            Err("has no identifier"),
        );
        check(r#"{"command":"restart"}"#, Err(r#""restart" is unknown"#));
        check(
            r#"[{"stream":"a","data":"1"},{"command":"disconnect","payload":{"identifier":"i"}}]"#,
            Err("message 1: remote command \"disconnect\" cannot be part of a list"),
        );
    }

    #[test]
    fn a_disconnect_names_sessions_and_lets_them_come_back_unless_told_otherwise() {
        for (reconnect, expected) in [
            ("", true),
            (r#","reconnect":true"#, true),
            (r#","reconnect":false"#, false),
        ] {
            let body =
                format!(r#"{{"command":"disconnect","payload":{{"identifier":"{{\"id\":1}}"{reconnect}}}}}"#);
            let wanted = RemoteDisconnect {
                identifiers: r#"{"id":1}"#.to_owned(),
                reconnect: expected,
            };
            assert_eq!(
                parse(body.as_bytes()).unwrap(),
                Broadcast::Disconnect(wanted),
                "{body}"
            );
        }
    }
}
