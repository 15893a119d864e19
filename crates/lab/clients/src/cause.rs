//! Causes of client failures, coarse enough for counting.
//!
//! Error texts contain addresses and operating-system words, so grouping failures by text gives one group per client. A
//! cause is what a person would count.

use std::{fmt, io};

/// The operating system's numbers on Linux; `std` has no stable `ErrorKind` for them.
const EMFILE: i32 = 24;
const ENFILE: i32 = 23;

/// A phase of getting ready, in which a deadline can pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Phase {
    /// The TCP connection.
    TcpConnect,
    /// The TLS handshake.
    TlsHandshake,
    /// The HTTP upgrade.
    Upgrade,
    /// Action Cable's welcome.
    Welcome,
    /// Action Cable's answer to a subscription.
    Subscribe,
}

/// A group of failures.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Cause {
    /// No process listens, or the listener refuses.
    Refused,
    /// The server or something between tore the connection down.
    Reset,
    /// The server ended the stream without a Close frame.
    Ended,
    /// The server sent a Close frame with this code.
    Closed(Option<u16>),
    /// No local port is free on the source address (our machine's limit).
    NoLocalPort,
    /// This process may open no more files (our machine's limit).
    NoFile,
    /// There is no route to the server.
    Unreachable,
    /// The deadline passed in this phase.
    TimedOut(Phase),
    /// TLS failed: most often, the server's certificate is not trusted.
    Tls,
    /// The server answered the upgrade with this HTTP status.
    Status(u16),
    /// The answer to the upgrade breaks the protocol.
    Handshake,
    /// The server did not agree to the sub-protocol that the encoding needs.
    NotAgreed,
    /// A later message of the server breaks the protocol.
    Protocol,
    /// The server rejected the subscription.
    Rejected,
    /// The server sent Action Cable's `disconnect` with this reason.
    Disconnected(String),
    /// Another error of the operating system.
    Io(io::ErrorKind),
}

/// The length of a reason in a group's name, in characters. The reason is the server's text.
const MAX_REASON_CHARS: usize = 40;

impl Cause {
    /// The cause of an error of the operating system.
    pub fn of_io(error: &io::Error) -> Self {
        match (error.kind(), error.raw_os_error()) {
            (_, Some(EMFILE | ENFILE)) => Self::NoFile,
            (io::ErrorKind::ConnectionRefused, _) => Self::Refused,
            (io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe, _) => Self::Reset,
            (io::ErrorKind::AddrNotAvailable | io::ErrorKind::AddrInUse, _) => Self::NoLocalPort,
            (io::ErrorKind::HostUnreachable | io::ErrorKind::NetworkUnreachable, _) => Self::Unreachable,
            (io::ErrorKind::TimedOut, _) => Self::TimedOut(Phase::TcpConnect),
            (kind, _) => Self::Io(kind),
        }
    }

    /// The cause of an Action Cable `disconnect`.
    pub fn of_disconnect(reason: &str) -> Self {
        Self::Disconnected(reason.chars().take(MAX_REASON_CHARS).collect())
    }
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TcpConnect => "the TCP connect",
            Self::TlsHandshake => "the TLS handshake",
            Self::Upgrade => "the HTTP upgrade",
            Self::Welcome => "the wait for welcome",
            Self::Subscribe => "the wait for the subscription's confirmation",
        })
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused => f.write_str("connection refused"),
            Self::Reset => f.write_str("connection reset"),
            Self::Ended => f.write_str("connection ended without a close frame"),
            Self::Closed(None) => f.write_str("closed by the server without a code"),
            Self::Closed(Some(code)) => write!(f, "closed by the server with code {code}"),
            Self::NoLocalPort => f.write_str("no free local port on this machine"),
            Self::NoFile => f.write_str("too many open files in this process"),
            Self::Unreachable => f.write_str("no route to the server"),
            Self::TimedOut(phase) => write!(f, "timed out in {phase}"),
            Self::Tls => f.write_str("TLS handshake failed"),
            Self::Status(status) => write!(f, "upgrade refused with HTTP status {status}"),
            Self::Handshake => f.write_str("malformed answer to the upgrade"),
            Self::NotAgreed => f.write_str("the server did not agree to the sub-protocol"),
            Self::Protocol => f.write_str("malformed message from the server"),
            Self::Rejected => f.write_str("subscription rejected"),
            Self::Disconnected(reason) => write!(f, "disconnected by the server: {reason}"),
            Self::Io(kind) => write!(f, "{kind}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_the_system_fall_into_groups() {
        let check = |code: i32, expected: Cause| {
            assert_eq!(
                Cause::of_io(&io::Error::from_raw_os_error(code)),
                expected,
                "errno {code}"
            );
        };
        check(111, Cause::Refused);
        check(104, Cause::Reset);
        check(32, Cause::Reset);
        check(99, Cause::NoLocalPort);
        check(98, Cause::NoLocalPort);
        check(24, Cause::NoFile);
        check(23, Cause::NoFile);
        check(113, Cause::Unreachable);
        check(110, Cause::TimedOut(Phase::TcpConnect));
        check(13, Cause::Io(io::ErrorKind::PermissionDenied));
    }

    #[test]
    fn a_long_reason_does_not_make_a_long_name() {
        let Cause::Disconnected(reason) = Cause::of_disconnect(&"ä".repeat(1000)) else {
            panic!()
        };
        assert_eq!(reason.chars().count(), MAX_REASON_CHARS);
    }
}
