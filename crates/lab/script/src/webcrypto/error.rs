//! The errors of Web Cryptography.

/// Why an operation failed: a name of W3C's specification and a text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub(crate) struct Error {
    /// The kind.
    pub(crate) kind: Kind,
    /// The text for people.
    pub(crate) text: String,
}

/// The kinds of errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The key data are malformed.
    Data,
    /// The key does not allow the operation.
    InvalidAccess,
    /// The algorithm, or this use of it, is not supported.
    NotSupported,
    /// The operation itself failed.
    Operation,
    /// A parameter has no sense, such as an empty list of usages.
    Syntax,
    /// A parameter is missing or has the wrong type.
    Type,
}

impl Kind {
    /// The `name` of the script's error.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Data => "DataError",
            Self::InvalidAccess => "InvalidAccessError",
            Self::NotSupported => "NotSupportedError",
            Self::Operation => "OperationError",
            Self::Syntax => "SyntaxError",
            Self::Type => "TypeError",
        }
    }

    /// An error of this kind.
    pub(crate) fn error(self, text: impl Into<String>) -> Error {
        Error {
            kind: self,
            text: text.into(),
        }
    }
}
