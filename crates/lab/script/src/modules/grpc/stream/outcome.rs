//! How a stream ended.

use plimsoll_clients::grpc::Status;
use plimsoll_grpc::Code;

/// The end of a stream.
#[derive(Debug, Clone)]
pub(super) enum Outcome {
    /// The server has sent everything.
    Complete,
    /// The call failed.
    Failed(Status),
    /// A message of the script has no form in protobuf, or an exception ended the stream.
    Unusable(String),
}

impl Outcome {
    /// The failure, with the code and the words that the script gets.
    pub(super) fn failure(&self) -> Option<Status> {
        match self {
            Self::Complete => None,
            // As in k6, where this failure has lost its code.
            Self::Failed(status) if status.code == Code::Cancelled => {
                Some(Status::new(Code::Unknown, "canceled by client (k6)"))
            }
            Self::Failed(status) => Some(status.clone()),
            Self::Unusable(text) => Some(Status::new(Code::Unknown, text.clone())),
        }
    }
}
