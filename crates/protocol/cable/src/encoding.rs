//! Encodings of commands and server messages in WebSocket messages: JSON, or one of the binary encodings of AnyCable
//! Pro (docs/protocols/encodings.md).
//!
//! The rest of this crate, and all crates above it, know JSON alone. A server's message in another encoding is
//! converted to the equivalent JSON text, and a command is converted from its JSON text; a server does the opposite. So
//! there is one parser of replies, one of commands and one set of conditions on messages, and JSON itself costs nothing
//! more, because it is borrowed.
//!
//! Values that msgpack has and JSON has not:
//!
//! | msgpack | as JSON |
//! |---|---|
//! | whole numbers of all widths | all their digits, also over 2^53 |
//! | floats | the shortest decimal number that parses to an equal float; for a float32, to an equal double |
//! | NaN and infinities | `null`, as with `JSON.stringify` |
//! | bytes | a text in base64 (RFC 4648 §4) |
//! | timestamps of the years 0 to 9999 | a text as in RFC 3339, in UTC: `2026-01-02T03:04:05.678Z` |
//! | other extensions | `{"ext":TYPE,"data":"…"}` with their bytes in base64 |
//! | whole numbers as keys of a map | a text with their digits |
//! | other keys that are not text | an error |

use std::{borrow::Cow, fmt, str::FromStr};

mod encode_error;
mod json_text;
mod msgpack;
mod protobuf;

pub use self::{
    encode_error::{EncodeError, ReplyEncodeError},
    msgpack::MsgpackError,
    protobuf::ProtobufError,
};

/// An encoding of commands and server messages.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Encoding {
    /// JSON in text messages.
    #[default]
    Json,
    /// msgpack in binary messages: maps with the same keys as in JSON.
    Msgpack,
    /// Protocol buffers in binary messages; the payload inside is msgpack.
    Protobuf,
}

/// A WebSocket message with content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Content<'a> {
    /// A text message.
    Text(&'a str),
    /// A binary message.
    Binary(&'a [u8]),
}

/// A message that does not conform to its encoding.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// Bytes, where text is expected.
    #[error("expected JSON text, got a binary message")]
    NotText,
    /// Text, where bytes are expected.
    #[error("expected a binary message in {0}, got a text message")]
    NotBinary(Encoding),
    /// Invalid or unexpected msgpack.
    #[error("read msgpack: {0}")]
    Msgpack(#[from] MsgpackError),
    /// An invalid or unexpected message of protocol buffers.
    #[error("read protobuf: {0}")]
    Protobuf(#[from] ProtobufError),
}

/// An unknown name of an encoding.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown encoding {0:?}; expected json, msgpack or protobuf")]
pub struct UnknownEncoding(pub String);

impl Encoding {
    /// All encodings.
    pub const ALL: [Self; 3] = [Self::Json, Self::Msgpack, Self::Protobuf];

    /// The name for users.
    pub fn name(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::Msgpack => "msgpack",
            Self::Protobuf => "protobuf",
        }
    }

    /// Whether its messages are binary.
    pub fn is_binary(self) -> bool {
        self != Self::Json
    }

    /// Encodes `command`, a JSON text from one of the functions `encode_…` of [`command`](crate::command).
    ///
    /// # Errors
    /// [`EncodeError`]. JSON never fails, and neither do the commands of those functions.
    pub fn encode_command(self, command: &str) -> Result<Cow<'_, [u8]>, EncodeError> {
        Ok(match self {
            Self::Json => Cow::Borrowed(command.as_bytes()),
            Self::Msgpack => Cow::Owned(msgpack::from_json(command)?),
            Self::Protobuf => Cow::Owned(protobuf::encode_command(command)?),
        })
    }

    /// The JSON text of a client's command, for [`Command::parse`](crate::command::Command::parse). Its memory is bounded
    /// as in [`Encoding::reply_json`].
    ///
    /// # Errors
    /// [`DecodeError`]. JSON text is not checked here.
    pub fn command_json<'a>(self, content: Content<'a>) -> Result<Cow<'a, str>, DecodeError> {
        match (self, content) {
            (Self::Protobuf, Content::Binary(bytes)) => {
                let mut json = String::with_capacity(bytes.len() + bytes.len() / 4);
                protobuf::command_json(bytes, &mut json)?;
                Ok(Cow::Owned(json))
            }
            _ => self.reply_json(content, false),
        }
    }

    /// Encodes `reply`, a JSON text of a server's message. `is_extended`: for the extended protocol, whose messages in
    /// protocol buffers are others.
    ///
    /// # Errors
    /// [`ReplyEncodeError`]. JSON never fails.
    pub fn encode_reply(self, reply: &str, is_extended: bool) -> Result<Cow<'_, [u8]>, ReplyEncodeError> {
        Ok(match self {
            Self::Json => Cow::Borrowed(reply.as_bytes()),
            Self::Msgpack => Cow::Owned(msgpack::from_json(reply)?),
            Self::Protobuf => Cow::Owned(protobuf::encode_reply(reply, is_extended)?),
        })
    }

    /// The JSON text of a server's message, for [`Reply::parse`](crate::reply::Reply::parse). `is_extended`: as in
    /// [`Encoding::encode_reply`]. Its memory is bounded by the message: the text has at most ten times
    /// as many bytes, and a hundred more.
    ///
    /// # Errors
    /// [`DecodeError`]. JSON text is not checked here.
    pub fn reply_json(self, content: Content<'_>, is_extended: bool) -> Result<Cow<'_, str>, DecodeError> {
        match (self, content) {
            (Self::Json, Content::Text(text)) => Ok(Cow::Borrowed(text)),
            (Self::Json, Content::Binary(_)) => Err(DecodeError::NotText),
            (_, Content::Text(_)) => Err(DecodeError::NotBinary(self)),
            (Self::Msgpack, Content::Binary(bytes)) => {
                let mut json = String::with_capacity(bytes.len() + bytes.len() / 4);
                msgpack::map_to_json(bytes, &mut json)?;
                Ok(Cow::Owned(json))
            }
            (Self::Protobuf, Content::Binary(bytes)) => {
                let mut json = String::with_capacity(bytes.len() + bytes.len() / 4);
                protobuf::reply(bytes, is_extended, &mut json)?;
                Ok(Cow::Owned(json))
            }
        }
    }
}

impl fmt::Display for Encoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Encoding {
    type Err = UnknownEncoding;

    fn from_str(name: &str) -> Result<Self, UnknownEncoding> {
        let known = Self::ALL.into_iter().find(|it| it.name() == name);
        known.ok_or_else(|| UnknownEncoding(name.to_owned()))
    }
}

#[cfg(test)]
mod tests;
