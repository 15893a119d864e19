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
    /// No trusted authority has signed the server's certificate, or it is not valid for the host.
    Certificate,
    /// The client speaks TLS, and the port does not.
    NotTls,
    /// The port speaks TLS, and the client does not.
    SpeaksTls,
    /// TLS failed for another reason.
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

impl Cause {
    /// The next step of a person who looks for the reason; `None` when there are too many reasons.
    pub fn advice(&self) -> Option<&'static str> {
        Some(match self {
            Self::Refused => "is the server running, and is this its address?",
            Self::Unreachable => "check the host of the URL, and this machine's network",
            Self::NoLocalPort => {
                "use fewer connections, several local addresses, or a larger net.ipv4.ip_local_port_range"
            }
            Self::NoFile => "raise the limit with `ulimit -n`, or use fewer connections",
            Self::Certificate => {
                "trust its authority, or do not verify it (--insecure, or insecureSkipTLSVerify in a script)"
            }
            Self::NotTls => "use ws:// or http:// for this port",
            Self::SpeaksTls => "use wss:// or https:// for this port",
            Self::Status(200..=299) => {
                "this path answers plain HTTP; check the path of the URL, for Action Cable usually /cable"
            }
            Self::Status(300..=399) => "the server redirects; use the URL that it names",
            Self::Status(401) => "the server asks for credentials: send its cookie, token or header",
            Self::Status(403) => "origin not allowed? try --origin, or the header Origin",
            Self::Status(404) => "check the path of the URL, for Action Cable usually /cable",
            Self::Status(429 | 503) => "the server is overloaded or stops; use fewer connections at a time",
            Self::Status(502 | 504) => "the proxy does not reach the server behind it",
            Self::Handshake => "does a WebSocket server listen on this port?",
            Self::TimedOut(Phase::TcpConnect) => {
                "is the address right, and does no firewall drop the packets?"
            }
            Self::TimedOut(Phase::TlsHandshake) => "does the port speak TLS?",
            Self::TimedOut(Phase::Upgrade) => "does a WebSocket server listen on this port?",
            Self::TimedOut(Phase::Welcome) => "does this path speak Action Cable? Its path is usually /cable",
            Self::TimedOut(Phase::Subscribe) => "does the channel exist, and does its application answer?",
            Self::Rejected => "check the channel's name and parameters, and whether this user may subscribe",
            Self::Disconnected(reason) if reason == "unauthorized" => {
                "the application refused this client: send its cookie, token or header"
            }
            Self::NotAgreed | Self::Protocol => {
                "does this path speak this protocol? The path of Action Cable is usually /cable"
            }
            _ => return None,
        })
    }

    /// An error of this cause with the next step.
    pub fn explain(&self, error: &impl fmt::Display) -> String {
        match self.advice() {
            Some(advice) => format!("{error}: {advice}"),
            None => error.to_string(),
        }
    }

    /// The cause with the next step.
    pub fn described(&self) -> String {
        self.explain(self)
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
            Self::Certificate => f.write_str("the server's certificate is not trusted"),
            Self::NotTls => f.write_str("TLS to a port that does not speak it"),
            Self::SpeaksTls => f.write_str("no TLS to a port that speaks it"),
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
    fn a_cause_says_what_to_do() {
        let check = |cause: Cause, expected: &str| assert_eq!(cause.described(), expected);
        check(
            Cause::Status(403),
            "upgrade refused with HTTP status 403: origin not allowed? try --origin, or the header Origin",
        );
        check(
            Cause::NotTls,
            "TLS to a port that does not speak it: use ws:// or http:// for this port",
        );
        check(Cause::Reset, "connection reset");
        check(
            Cause::of_disconnect("server_restart"),
            "disconnected by the server: server_restart",
        );
    }

    #[test]
    fn a_long_reason_does_not_make_a_long_name() {
        let Cause::Disconnected(reason) = Cause::of_disconnect(&"ä".repeat(1000)) else {
            panic!()
        };
        assert_eq!(reason.chars().count(), MAX_REASON_CHARS);
    }
}
