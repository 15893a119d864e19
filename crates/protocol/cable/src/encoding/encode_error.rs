//! Errors of encoding.

/// A server's message cannot be written in an encoding.
#[derive(Debug, thiserror::Error)]
pub enum ReplyEncodeError {
    /// The type of message does not exist in protocol buffers.
    #[error("messages of the type {0:?} do not exist in protobuf")]
    NotInProtobuf(Box<str>),
    /// Not a JSON object with the fields of a server's message, or lists and objects are nested more than 128 deep.
    #[error("write the message in a binary encoding: {0}")]
    Json(#[from] serde_json::Error),
}

/// A command cannot be written in an encoding.
#[derive(Debug, thiserror::Error)]
pub enum EncodeError {
    /// Not a known command with all its fields, so that protocol buffers cannot carry it.
    #[error("protobuf cannot carry this command: {0}; use msgpack or json")]
    NotInProtobuf(Box<str>),
    /// Not JSON, or lists and objects are nested more than 128 deep.
    #[error("write the command in a binary encoding: {0}")]
    Json(#[from] serde_json::Error),
}
