//! How commands and server messages are written into WebSocket messages: as JSON, or in one of the binary encodings that
//! AnyCable Pro speaks (docs/protocols/encodings.md). Load clients speak all three, the server JSON only.
//!
//! Everything else in this crate and above it knows JSON alone: what a server sends in another encoding becomes the JSON
//! text that it stands for, and a command is made of the JSON text that it would be. So there is one reader of replies
//! and one set of conditions on messages, and JSON itself costs nothing more: it is borrowed.
//!
//! What msgpack has and JSON has not:
//!
//! | msgpack | as JSON |
//! |---|---|
//! | whole numbers of all widths | all their digits, also over 2^53 |
//! | floats | the shortest decimal number that is the same float; of a float32, the same double |
//! | NaN and infinities | `null`, as `JSON.stringify` has it |
//! | bytes | a text in base64 (RFC 4648 §4) |
//! | timestamps of the years 0 to 9999 | a text as RFC 3339 has it, in UTC: `2026-01-02T03:04:05.678Z` |
//! | other extensions | `{"ext":TYPE,"data":"…"}` with their bytes in base64 |
//! | whole numbers as keys of a map | a text with their digits |
//! | other keys that are not text | an error |

use std::{borrow::Cow, fmt, str::FromStr};

mod encode_error;
mod json_text;
mod msgpack;
mod protobuf;

pub use self::{encode_error::EncodeError, msgpack::MsgpackError, protobuf::ProtobufError};

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

/// A message of a server is not what its encoding says.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// Bytes, where text is expected.
    #[error("expected JSON text, got a binary message")]
    NotText,
    /// Text, where bytes are expected.
    #[error("expected a binary message in {0}, got a text message")]
    NotBinary(Encoding),
    /// Not the msgpack that was expected.
    #[error("read msgpack: {0}")]
    Msgpack(#[from] MsgpackError),
    /// Not the message of protocol buffers that was expected.
    #[error("read protobuf: {0}")]
    Protobuf(#[from] ProtobufError),
}

/// A name that stands for no encoding.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown encoding {0:?}; expected json, msgpack or protobuf")]
pub struct UnknownEncoding(pub String);

impl Encoding {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Json, Self::Msgpack, Self::Protobuf];

    /// The name that users write.
    pub fn name(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::Msgpack => "msgpack",
            Self::Protobuf => "protobuf",
        }
    }

    /// Whether its messages are binary ones.
    pub fn is_binary(self) -> bool {
        self != Self::Json
    }

    /// The content of the message that carries `command`, which is the JSON text of the functions `encode_…` of
    /// [`command`](crate::command).
    ///
    /// # Errors
    /// [`EncodeError`]; JSON is always possible, and so are `subscribe`, `unsubscribe` and `message`.
    pub fn encode_command(self, command: &str) -> Result<Cow<'_, [u8]>, EncodeError> {
        Ok(match self {
            Self::Json => Cow::Borrowed(command.as_bytes()),
            Self::Msgpack => Cow::Owned(msgpack::from_json(command)?),
            Self::Protobuf => Cow::Owned(protobuf::command(command)?),
        })
    }

    /// The JSON text that a server's message stands for, for [`Reply::parse`](crate::reply::Reply::parse). Its memory
    /// is bounded by the message: the text has at most ten times as many bytes.
    ///
    /// # Errors
    /// [`DecodeError`]. JSON text is not looked into.
    pub fn reply_json(self, content: Content<'_>) -> Result<Cow<'_, str>, DecodeError> {
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
                protobuf::reply(bytes, &mut json)?;
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
