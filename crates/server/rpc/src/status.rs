//! Call failures: gRPC's status codes, which are used for failures over HTTP as well.

use std::{error::Error, fmt, sync::Arc};

/// The codes of gRPC (`statuscodes.md` of its specification).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Code {
    Ok = 0,
    Cancelled = 1,
    Unknown = 2,
    InvalidArgument = 3,
    DeadlineExceeded = 4,
    NotFound = 5,
    AlreadyExists = 6,
    PermissionDenied = 7,
    ResourceExhausted = 8,
    FailedPrecondition = 9,
    Aborted = 10,
    OutOfRange = 11,
    Unimplemented = 12,
    Internal = 13,
    Unavailable = 14,
    DataLoss = 15,
    Unauthenticated = 16,
}

/// A failed call, or a failed attempt.
#[derive(Debug, Clone)]
pub(crate) struct Status {
    code: Code,
    message: String,
    source: Option<Arc<dyn Error + Send + Sync>>,
    is_untouched: bool,
}

impl Code {
    /// All codes by number.
    const ALL: [Self; 17] = [
        Self::Ok,
        Self::Cancelled,
        Self::Unknown,
        Self::InvalidArgument,
        Self::DeadlineExceeded,
        Self::NotFound,
        Self::AlreadyExists,
        Self::PermissionDenied,
        Self::ResourceExhausted,
        Self::FailedPrecondition,
        Self::Aborted,
        Self::OutOfRange,
        Self::Unimplemented,
        Self::Internal,
        Self::Unavailable,
        Self::DataLoss,
        Self::Unauthenticated,
    ];

    /// Parses the value of a `grpc-status` field. An invalid one counts as unknown.
    pub(crate) fn parse(number: &[u8]) -> Self {
        let number = str::from_utf8(number).ok().and_then(|text| text.parse().ok());
        let code = number.and_then(|number: usize| Self::ALL.get(number));
        code.copied().unwrap_or(Self::Unknown)
    }
}

/// Writes the code in words.
impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Ok => "no error",
            Self::Cancelled => "the call was cancelled",
            Self::Unknown => "unknown error",
            Self::InvalidArgument => "invalid argument",
            Self::DeadlineExceeded => "the deadline was exceeded",
            Self::NotFound => "not found",
            Self::AlreadyExists => "it exists already",
            Self::PermissionDenied => "permission denied",
            Self::ResourceExhausted => "resources are exhausted",
            Self::FailedPrecondition => "a precondition failed",
            Self::Aborted => "the call was aborted",
            Self::OutOfRange => "out of range",
            Self::Unimplemented => "the call is not implemented",
            Self::Internal => "internal error",
            Self::Unavailable => "the service is not available",
            Self::DataLoss => "data was lost",
            Self::Unauthenticated => "not authenticated",
        })
    }
}

impl Status {
    pub(crate) fn new(code: Code, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            source: None,
            is_untouched: false,
        }
    }

    pub(crate) fn deadline_exceeded(message: impl Into<String>) -> Self {
        Self::new(Code::DeadlineExceeded, message)
    }

    pub(crate) fn internal(message: impl Into<String>) -> Self {
        Self::new(Code::Internal, message)
    }

    pub(crate) fn out_of_range(message: impl Into<String>) -> Self {
        Self::new(Code::OutOfRange, message)
    }

    pub(crate) fn unavailable(message: impl Into<String>) -> Self {
        Self::new(Code::Unavailable, message)
    }

    pub(crate) fn unknown(message: impl Into<String>) -> Self {
        Self::new(Code::Unknown, message)
    }

    /// Adds the cause of a transport failure. Failures that the application reports have none.
    pub(crate) fn with_source(mut self, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        self.source = Some(source.into().into());
        self
    }

    /// Marks that the application has certainly not begun to work on the request.
    pub(crate) fn untouched(mut self) -> Self {
        self.is_untouched = true;
        self
    }

    /// Whether the application has certainly not begun to work on the request, so that it can be repeated.
    pub(crate) fn is_untouched(&self) -> bool {
        self.is_untouched
    }

    pub(crate) fn code(&self) -> Code {
        self.code
    }

    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    pub(crate) fn source(&self) -> Option<&(dyn Error + 'static)> {
        let source = self.source.as_deref()?;
        Some(source)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_known_by_their_number() {
        for (number, code) in Code::ALL.into_iter().enumerate() {
            assert_eq!(code as usize, number);
            assert_eq!(Code::parse(number.to_string().as_bytes()), code);
        }
        for text in ["", "17", "-1", "OK", "\u{e9}"] {
            assert_eq!(Code::parse(text.as_bytes()), Code::Unknown, "{text}");
        }
    }
}
