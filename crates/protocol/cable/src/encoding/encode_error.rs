//! Errors of encoding.

/// A command cannot be written in an encoding.
#[derive(Debug, thiserror::Error)]
pub enum EncodeError {
    /// The command does not exist in protocol buffers.
    #[error(
        "the command {0} does not exist in protobuf, which has subscribe, unsubscribe and message; use msgpack or json"
    )]
    NotInProtobuf(&'static str),
    /// Not JSON, or lists and objects are nested more than 128 deep.
    #[error("write the command in a binary encoding: {0}")]
    Json(#[from] serde_json::Error),
}
