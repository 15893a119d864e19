//! Parses a payload.

use serde::{Deserialize, de::DeserializeOwned};
use serde_json::value::RawValue;

use super::{Broadcast, DeliveryOptions, Publication, RemoteDisconnect};

/// Why a broadcast is refused. No part of a refused broadcast was published.
#[derive(Debug, thiserror::Error)]
pub enum BroadcastError {
    /// The body is not JSON.
    #[error("{0}; expected {{\"stream\":\"name\",\"data\":\"JSON as a string\"}} or a list of those")]
    NotJson(#[from] serde_json::Error),
    /// The command is unknown.
    #[error("remote command {0:?} is unknown; expected \"disconnect\"")]
    UnknownCommand(String),
    /// A command inside a list.
    #[error("message {index}: remote command {command:?} cannot be part of a list; send it alone")]
    CommandInList {
        /// Position in the list, from 0.
        index: usize,
        /// The command's name.
        command: String,
    },
    /// A `disconnect` without identifiers.
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
        /// The missing field.
        field: &'static str,
    },
    /// A message, or a known field, has a wrong type.
    #[error("message {index}: {field} must be {expected}, but is {found}")]
    WrongType {
        /// Position in the list, from 0.
        index: usize,
        /// The field, or `it`.
        field: &'static str,
        /// The right type, with an example.
        expected: &'static str,
        /// The beginning of the wrong value.
        found: String,
    },
}

const OBJECT: &str = "an object such as {\"stream\":\"name\",\"data\":\"JSON as a string\"}";
const STRING: &str = "a string such as \"name\"";
const JSON_STRING: &str = "JSON as a string, such as \"{\\\"id\\\":1}\"";
const BOOLEAN: &str = "true or false";
const META: &str = "an object such as {\"exclude_socket\":\"session id\"}";
const COMMAND_PAYLOAD: &str = "an object such as {\"identifier\":\"…\",\"reconnect\":true}";

/// How much of a wrong value an error shows, in characters.
const MAX_SHOWN: usize = 40;

/// Parses a payload: one message, a list, whose order is kept, or one command. Unknown fields are ignored, because
/// AnyCable's clients may send more fields than this server knows.
///
/// A batch is all or nothing: with one bad element nothing is published, so that a backend can repeat the request.
/// (AnyCable publishes up to the first bad element.)
///
/// # Errors
/// See [`BroadcastError`].
pub fn parse(body: &[u8]) -> Result<Broadcast, BroadcastError> {
    let is_list = body.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'[');
    if !is_list {
        return Entry::read(serde_json::from_slice(body)?, 0)?.into_broadcast();
    }
    let entries: Vec<&RawValue> = serde_json::from_slice(body)?;
    let publications: Result<_, _> = entries
        .into_iter()
        .enumerate()
        .map(|(index, entry)| Entry::read(entry, index)?.into_publication())
        .collect();
    Ok(Broadcast::Publications(publications?))
}

/// One message or command whose fields were not checked yet.
struct Entry<'a> {
    index: usize,
    fields: Fields<'a>,
}

#[derive(Deserialize)]
struct Fields<'a> {
    #[serde(borrow)]
    stream: Option<&'a RawValue>,
    #[serde(borrow)]
    data: Option<&'a RawValue>,
    #[serde(borrow)]
    meta: Option<&'a RawValue>,
    #[serde(borrow)]
    command: Option<&'a RawValue>,
    #[serde(borrow)]
    payload: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
struct Meta<'a> {
    #[serde(borrow)]
    exclude_socket: Option<&'a RawValue>,
    #[serde(borrow)]
    broadcast_type: Option<&'a RawValue>,
    #[serde(borrow)]
    transient: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
struct CommandPayload<'a> {
    #[serde(borrow)]
    identifier: Option<&'a RawValue>,
    #[serde(borrow)]
    reconnect: Option<&'a RawValue>,
}

impl<'a> Entry<'a> {
    fn read(json: &'a RawValue, index: usize) -> Result<Self, BroadcastError> {
        let fields = object(json, index, "it", OBJECT)?;
        Ok(Self { index, fields })
    }

    fn into_broadcast(self) -> Result<Broadcast, BroadcastError> {
        match self.command()?.as_deref() {
            None => Ok(Broadcast::Publications(vec![self.into_publication()?])),
            Some("disconnect") => self.into_disconnect(),
            Some(unknown) => Err(BroadcastError::UnknownCommand(unknown.to_owned())),
        }
    }

    fn into_publication(self) -> Result<Publication, BroadcastError> {
        let index = self.index;
        if let Some(command) = self.command()? {
            return Err(BroadcastError::CommandInList { index, command });
        }
        let stream: String =
            self.field(self.fields.stream, "\"stream\"", STRING)?
                .ok_or(BroadcastError::Missing {
                    index,
                    field: "stream",
                })?;
        let data: String = self
            .field(self.fields.data, "\"data\"", JSON_STRING)?
            .ok_or(BroadcastError::Missing { index, field: "data" })?;
        Ok(Publication {
            options: self.delivery_options()?,
            ..Publication::from_data(stream, &data)
        })
    }

    fn delivery_options(&self) -> Result<DeliveryOptions, BroadcastError> {
        let meta: Meta<'_> = match self.fields.meta {
            Some(json) => object(json, self.index, "\"meta\"", META)?,
            None => Meta::default(),
        };
        let is_transient: Option<bool> = self.field(meta.transient, "\"meta.transient\"", BOOLEAN)?;
        let exclude_socket: Option<Box<str>> =
            self.field(meta.exclude_socket, "\"meta.exclude_socket\"", STRING)?;
        let broadcast_type: Option<Box<str>> =
            self.field(meta.broadcast_type, "\"meta.broadcast_type\"", STRING)?;
        Ok(DeliveryOptions {
            // Empty means absent, as in Go.
            exclude_socket: exclude_socket.filter(|sid| !sid.is_empty()),
            broadcast_type: broadcast_type.filter(|kind| !kind.is_empty()),
            is_transient: is_transient.unwrap_or_default(),
        })
    }

    /// Converts to a disconnect. Without `reconnect` the clients reconnect, as with Rails.
    fn into_disconnect(self) -> Result<Broadcast, BroadcastError> {
        let payload: CommandPayload<'_> = match self.fields.payload {
            Some(json) => object(json, self.index, "\"payload\"", COMMAND_PAYLOAD)?,
            None => CommandPayload::default(),
        };
        let identifiers: Option<String> =
            self.field(payload.identifier, "\"payload.identifier\"", JSON_STRING)?;
        let reconnect: Option<bool> = self.field(payload.reconnect, "\"payload.reconnect\"", BOOLEAN)?;
        Ok(Broadcast::Disconnect(RemoteDisconnect {
            identifiers: identifiers
                .filter(|text| !text.is_empty())
                .ok_or(BroadcastError::NoIdentifier)?,
            reconnect: reconnect.unwrap_or(true),
        }))
    }

    fn command(&self) -> Result<Option<String>, BroadcastError> {
        self.field(self.fields.command, "\"command\"", "the string \"disconnect\"")
    }

    /// The value of a field. `null` means absent.
    fn field<T: DeserializeOwned>(
        &self,
        json: Option<&RawValue>,
        name: &'static str,
        expected: &'static str,
    ) -> Result<Option<T>, BroadcastError> {
        let Some(json) = json else { return Ok(None) };
        match serde_json::from_str(json.get()) {
            Ok(value) => Ok(Some(value)),
            Err(_) => Err(wrong_type(json, self.index, name, expected)),
        }
    }
}

/// The fields of an object. Rejects an array, which serde would accept.
fn object<'a, T: Deserialize<'a>>(
    json: &'a RawValue,
    index: usize,
    name: &'static str,
    expected: &'static str,
) -> Result<T, BroadcastError> {
    if json.get().starts_with('{') {
        return Ok(serde_json::from_str(json.get())?);
    }
    Err(wrong_type(json, index, name, expected))
}

fn wrong_type(json: &RawValue, index: usize, field: &'static str, expected: &'static str) -> BroadcastError {
    BroadcastError::WrongType {
        index,
        field,
        expected,
        found: json.get().chars().take(MAX_SHOWN).collect(),
    }
}

#[cfg(test)]
mod tests;
