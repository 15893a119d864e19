//! Status codes (`statuscodes.md` of gRPC's specification), and those for failures of HTTP.

use std::fmt;

/// The result of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Code {
    /// No error.
    Ok = 0,
    /// The caller gave up.
    Cancelled = 1,
    /// An error without a code of its own.
    Unknown = 2,
    /// The request is wrong, whatever the state of the server.
    InvalidArgument = 3,
    /// The time was over.
    DeadlineExceeded = 4,
    /// The thing that was asked for does not exist.
    NotFound = 5,
    /// The thing that was to be created exists.
    AlreadyExists = 6,
    /// The caller may not do this.
    PermissionDenied = 7,
    /// A quota or the server's capacity is used up.
    ResourceExhausted = 8,
    /// The server is in the wrong state for the request.
    FailedPrecondition = 9,
    /// The request lost against another one.
    Aborted = 10,
    /// The request went past the end of something.
    OutOfRange = 11,
    /// The server has no such method.
    Unimplemented = 12,
    /// The server or the transport is broken.
    Internal = 13,
    /// The server cannot be reached now.
    Unavailable = 14,
    /// Data is lost for good.
    DataLoss = 15,
    /// The caller has not said who it is.
    Unauthenticated = 16,
}

impl Code {
    /// All codes by number.
    pub const ALL: [Self; 17] = [
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
    pub fn parse(number: &[u8]) -> Self {
        let number = str::from_utf8(number).ok().and_then(|text| text.parse().ok());
        let code = number.and_then(|number: usize| Self::ALL.get(number));
        code.copied().unwrap_or(Self::Unknown)
    }

    /// The code for an answer without one, by its HTTP status (gRPC's http-grpc-status-mapping).
    pub fn of_http_status(status: u16) -> Self {
        match status {
            400 => Self::Internal,
            401 => Self::Unauthenticated,
            403 => Self::PermissionDenied,
            404 => Self::Unimplemented,
            429 | 502..=504 => Self::Unavailable,
            _ => Self::Unknown,
        }
    }

    /// The code for a call that was broken off with this reason of HTTP/2 (RFC 9113 §7; gRPC's PROTOCOL-HTTP2, Errors).
    pub fn of_reset(reason: u32) -> Self {
        match reason {
            // Of these, FLOW_CONTROL_ERROR (3) and the rest up to FRAME_SIZE_ERROR (6), without STREAM_CLOSED (5).
            0..=4 | 6 | 9 | 10 => Self::Internal,
            7 => Self::Unavailable,
            8 => Self::Cancelled,
            11 => Self::ResourceExhausted,
            12 => Self::PermissionDenied,
            _ => Self::Unknown,
        }
    }

    /// The name that gRPC's libraries print.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ok => "OK",
            Self::Cancelled => "Canceled",
            Self::Unknown => "Unknown",
            Self::InvalidArgument => "InvalidArgument",
            Self::DeadlineExceeded => "DeadlineExceeded",
            Self::NotFound => "NotFound",
            Self::AlreadyExists => "AlreadyExists",
            Self::PermissionDenied => "PermissionDenied",
            Self::ResourceExhausted => "ResourceExhausted",
            Self::FailedPrecondition => "FailedPrecondition",
            Self::Aborted => "Aborted",
            Self::OutOfRange => "OutOfRange",
            Self::Unimplemented => "Unimplemented",
            Self::Internal => "Internal",
            Self::Unavailable => "Unavailable",
            Self::DataLoss => "DataLoss",
            Self::Unauthenticated => "Unauthenticated",
        }
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

    #[test]
    fn failures_of_http_have_codes() {
        for (status, code) in [
            (200, Code::Unknown),
            (400, Code::Internal),
            (401, Code::Unauthenticated),
            (403, Code::PermissionDenied),
            (404, Code::Unimplemented),
            (429, Code::Unavailable),
            (500, Code::Unknown),
            (502, Code::Unavailable),
            (504, Code::Unavailable),
            (505, Code::Unknown),
        ] {
            assert_eq!(Code::of_http_status(status), code, "{status}");
        }
        for (reason, code) in [
            (0, Code::Internal),
            (3, Code::Internal),
            (5, Code::Unknown),
            (7, Code::Unavailable),
            (8, Code::Cancelled),
            (11, Code::ResourceExhausted),
            (12, Code::PermissionDenied),
            (13, Code::Unknown),
        ] {
            assert_eq!(Code::of_reset(reason), code, "{reason}");
        }
    }
}
