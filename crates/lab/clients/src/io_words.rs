//! Errors of sockets in k6's words, which are Go's.

use std::{borrow::Cow, io};

/// The error in words.
pub(crate) fn words_of(error: &io::Error) -> Cow<'static, str> {
    match error.kind() {
        io::ErrorKind::ConnectionRefused => "connection refused".into(),
        io::ErrorKind::ConnectionReset => "connection reset by peer".into(),
        io::ErrorKind::BrokenPipe => "broken pipe".into(),
        io::ErrorKind::TimedOut => "i/o timeout".into(),
        // What TLS found wrong, and no address.
        io::ErrorKind::InvalidData => error.to_string().into(),
        kind => kind.to_string().into(),
    }
}
