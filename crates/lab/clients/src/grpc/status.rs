//! The end of a call.

use h2::Reason;
use plimsoll_grpc::{Code, FramingError};

/// A call failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("rpc error: code = {} desc = {message}", code.name())]
pub struct Status {
    /// The code; never [`Code::Ok`].
    pub code: Code,
    /// The server's words, or those of this client.
    pub message: String,
    /// The server's details: a `google.rpc.Status` in protobuf (`grpc-status-details-bin`); mostly empty.
    pub details: Vec<u8>,
}

impl Status {
    /// A status without details.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            details: Vec::new(),
        }
    }

    /// The caller's time was over.
    pub fn deadline_exceeded() -> Self {
        Self::new(Code::DeadlineExceeded, "context deadline exceeded")
    }

    /// The call was broken off, in the words of gRPC's library for Go.
    pub(super) fn broken_off(error: &h2::Error) -> Self {
        match error.reason() {
            Some(reason) if error.is_reset() => {
                let text = format!("stream terminated by RST_STREAM with error code: {reason:?}");
                Self::new(Code::of_reset(reason.into()), text)
            }
            Some(Reason::NO_ERROR) | None => Self::lost(),
            Some(reason) => {
                let text = format!("error reading from server: the connection ended with {reason:?}");
                Self::new(Code::Unavailable, text)
            }
        }
    }

    /// The connection ended.
    pub(super) fn lost() -> Self {
        Self::new(Code::Unavailable, "error reading from server: EOF")
    }
}

impl Status {
    /// A message of the server cannot be taken. `encoding` is its compression.
    pub(super) fn unreadable(error: FramingError, encoding: Option<&str>) -> Self {
        match (error, encoding) {
            (FramingError::TooLong { n_bytes, max_bytes }, _) => {
                let text = format!("grpc: received message larger than max ({n_bytes} vs. {max_bytes})");
                Self::new(Code::ResourceExhausted, text)
            }
            (FramingError::Compressed, Some(encoding)) if encoding != "identity" => {
                let text = format!("grpc: Decompressor is not installed for grpc-encoding {encoding:?}");
                Self::new(Code::Unimplemented, text)
            }
            (FramingError::Compressed, _) => {
                let text = "grpc: compressed flag set with identity or empty encoding";
                Self::new(Code::Internal, text)
            }
        }
    }
}
