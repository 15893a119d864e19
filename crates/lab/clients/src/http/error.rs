//! Why a request has no response, with k6's numbers (<https://grafana.com/docs/k6/latest/javascript-api/error-codes/>).

use std::{borrow::Cow, io, time::Duration};

use h2::Reason;

use super::NtlmError;
use crate::{cause::Cause, dial::DialError, io_words::words_of, tls::HandshakeError};

/// The operating system's numbers on Linux.
const EPIPE: i32 = 32;
const ECONNRESET: i32 = 104;

/// A request failed.
#[derive(Debug, thiserror::Error)]
pub enum HttpError {
    /// The URL cannot be requested.
    #[error("invalid URL {url:?}: {reason}; expected something like https://example.com/path")]
    Url {
        /// As given.
        url: String,
        /// What is wrong.
        reason: String,
    },
    /// Neither `http` nor `https`.
    #[error("unsupported protocol scheme {0:?}")]
    Scheme(String),
    /// The target of a redirect is not a URL.
    #[error("failed to parse Location header {0:?}")]
    Location(String),
    /// There were more redirects than allowed.
    #[error("more than {0} redirects")]
    TooManyRedirects(u32),
    /// A field of the request cannot be sent.
    #[error(
        "invalid header field {0:?}: names are letters, digits and dashes; values have no control characters"
    )]
    Field(String),
    /// The time was up.
    #[error("request timeout")]
    Timeout {
        /// The time.
        after: Duration,
    },
    /// No connection could be made.
    #[error(transparent)]
    Dial(#[from] DialError),
    /// The TLS handshake failed.
    #[error(transparent)]
    Handshake(#[from] HandshakeError),
    /// The connection broke.
    #[error("{doing}: {source}")]
    Lost {
        /// `read` or `write`.
        doing: &'static str,
        /// The system's words.
        source: io::Error,
    },
    /// The server ended the connection instead of answering.
    #[error("EOF: the server ended the connection without a response")]
    Unanswered,
    /// The server ended the connection within the response.
    #[error("unexpected EOF: the server ended the connection before the end of its response")]
    Ended,
    /// The response is not HTTP.
    #[error("malformed HTTP response: {0}")]
    Malformed(&'static str),
    /// The response exceeds a limit.
    #[error("the response's {what} is larger than {max_bytes} bytes")]
    TooLarge {
        /// `head` or `body`.
        what: &'static str,
        /// The limit.
        max_bytes: usize,
    },
    /// All kept bodies would exceed their memory limit.
    #[error(
        "the response bodies of all users together would need more than {limit} bytes, half of this machine's \
         memory; discard bodies (discardResponseBodies, or responseType \"none\"), use fewer users, or more machines"
    )]
    NoRoom {
        /// The limit.
        limit: usize,
    },
    /// 101.
    #[error("unsupported response status: 101 Switching Protocols")]
    SwitchingProtocols,
    /// HTTP/2 was requested, and the server does not support it.
    #[error("the server does not speak HTTP/2: in the TLS handshake (ALPN) it did not choose h2")]
    NoHttp2,
    /// HTTP/2 without TLS cannot pass a proxy.
    #[error("HTTP/2 without TLS cannot go through a proxy; use https, or HTTP/1.1")]
    Http2OverProxy,
    /// The server's challenge of NTLM cannot be answered.
    #[error("NTLM: {0}")]
    Ntlm(#[from] NtlmError),
    /// A content coding cannot be decoded.
    #[error("decompressing the body ({coding}): {reason}")]
    Decompression {
        /// The coding's name in the response.
        coding: String,
        /// What is wrong.
        reason: String,
    },
    /// The server ended an HTTP/2 connection, with this reason.
    #[error("http2: received GoAway with http2 ErrCode {0:?}")]
    GoAway(Reason),
    /// HTTP/2 went wrong.
    #[error("http2: {0}")]
    Http2(#[from] h2::Error),
}

impl HttpError {
    /// The next step of a person who looks for the reason; `None` when it is not known.
    pub fn advice(&self) -> Option<&'static str> {
        let cause = match self {
            Self::Dial(DialError::Connect { source, .. }) | Self::Lost { source, .. } => Cause::of_io(source),
            Self::Dial(DialError::NoSuchHost(_)) => Cause::Unreachable,
            Self::Handshake(error) => error.cause(),
            _ => return None,
        };
        cause.advice()
    }

    /// k6's number.
    pub fn code(&self) -> u16 {
        match self {
            Self::Scheme(_)
            | Self::Location(_)
            | Self::TooManyRedirects(_)
            | Self::Field(_)
            | Self::Unanswered
            | Self::Ended
            | Self::Malformed(_)
            | Self::TooLarge { .. }
            | Self::NoRoom { .. }
            | Self::NoHttp2
            | Self::Http2OverProxy
            | Self::Ntlm(_)
            | Self::SwitchingProtocols => 1000,
            Self::Url { .. } => 1020,
            Self::Timeout { .. } => 1050,
            Self::Dial(error) => dial(error),
            Self::Handshake(error) => handshake(error),
            Self::Lost { source, .. } => match source.raw_os_error() {
                _ if source.kind() == io::ErrorKind::InvalidData => 1300,
                Some(EPIPE) => 1201,
                Some(ECONNRESET) => 1220,
                Some(_) => 1202,
                None => 1200,
            },
            Self::Decompression { .. } => 1701,
            Self::GoAway(reason) => numbered(GO_AWAY, Some(*reason)),
            Self::Http2(error) => http2(error),
        }
    }
}

impl HttpError {
    /// A few words without addresses and names, equal for equal failures: for tags and for scripts. They are k6's if k6
    /// has some.
    pub fn words(&self) -> Cow<'static, str> {
        match self {
            Self::Dial(DialError::NoSuchHost(_)) => "lookup: no such host".into(),
            Self::Dial(DialError::Lookup { .. } | DialError::NoAddressOfFamily(_)) => "lookup".into(),
            Self::Dial(DialError::BlockedAddress { .. }) => "ip is blacklisted".into(),
            Self::Dial(DialError::BlockedHost(_)) => "hostname is blocked".into(),
            Self::Dial(DialError::Connect { source, .. }) => format!("dial: {}", words_of(source)).into(),
            Self::Dial(DialError::Proxy { reason, .. }) => format!("proxy: {reason}").into(),
            Self::Lost { doing, source } => format!("{doing}: {}", words_of(source)).into(),
            Self::Handshake(error) => handshake_words(error),
            Self::Http2(error) => http2_words(error),
            Self::Unanswered => "EOF".into(),
            Self::Ended => "unexpected EOF".into(),
            error => error.to_string().into(),
        }
    }
}

fn dial(error: &DialError) -> u16 {
    match error {
        DialError::NoSuchHost(_) => 1101,
        DialError::Lookup { .. } | DialError::NoAddressOfFamily(_) => 1100,
        DialError::BlockedAddress { .. } => 1110,
        DialError::BlockedHost(_) => 1111,
        DialError::Proxy { .. } => 1000,
        DialError::Connect { source, .. } => match source.kind() {
            io::ErrorKind::TimedOut => 1211,
            io::ErrorKind::ConnectionRefused => 1212,
            _ if source.raw_os_error().is_some() => 1213,
            _ => 1210,
        },
    }
}

fn handshake(error: &HandshakeError) -> u16 {
    match error {
        HandshakeError::NotTls => 1301,
        HandshakeError::UnknownAuthority => 1310,
        HandshakeError::WrongHost => 1311,
        HandshakeError::Lost(io::ErrorKind::ConnectionReset) => 1220,
        HandshakeError::Ended => 1000,
        _ => 1300,
    }
}

fn handshake_words(error: &HandshakeError) -> Cow<'static, str> {
    match error {
        HandshakeError::Ended => "EOF".into(),
        HandshakeError::Lost(io::ErrorKind::ConnectionReset) => "read: connection reset by peer".into(),
        HandshakeError::UnknownAuthority => "x509: unknown authority".into(),
        HandshakeError::WrongHost => "x509: certificate doesn't match hostname".into(),
        error => error.to_string().into(),
    }
}

fn http2_words(error: &h2::Error) -> Cow<'static, str> {
    let what = match error {
        error if error.is_go_away() => "received GoAway",
        error if error.is_reset() => "stream error",
        _ => "connection error",
    };
    if error.get_io().is_some_and(|error| is_end(error.kind())) {
        return "unexpected EOF".into();
    }
    match error.reason() {
        Some(reason) => format!("http2: {what} with http2 ErrCode {reason:?}").into(),
        None => format!("http2: {error}").into(),
    }
}

/// Whether the server ended the connection: the library calls that a broken pipe.
fn is_end(kind: io::ErrorKind) -> bool {
    matches!(kind, io::ErrorKind::BrokenPipe | io::ErrorKind::UnexpectedEof)
}

/// The number of a GOAWAY with an unknown reason.
const GO_AWAY: u16 = 1610;

/// Numbers of HTTP/2 errors: GOAWAY from 1610, a stream's reset from 1630, the connection's end from 1650; each
/// followed by one number per reason of RFC 9113 §7.
fn http2(error: &h2::Error) -> u16 {
    let base = match error {
        error if error.is_go_away() => GO_AWAY,
        error if error.is_reset() => 1630,
        error if error.is_io() => {
            return error.get_io().map_or(1600, |error| match error.kind() {
                io::ErrorKind::ConnectionReset => 1220,
                kind if is_end(kind) => 1000,
                _ => 1200,
            });
        }
        _ => 1650,
    };
    numbered(base, error.reason())
}

fn numbered(base: u16, reason: Option<Reason>) -> u16 {
    let known = reason
        .map(u32::from)
        .filter(|&reason| reason <= u32::from(Reason::HTTP_1_1_REQUIRED));
    known
        .and_then(|reason| u16::try_from(reason).ok())
        .map_or(base, |reason| base + 1 + reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_have_the_words_of_k6() {
        let check = |error: HttpError, expected: &str| assert_eq!(error.words(), expected);
        let connect = |kind: io::ErrorKind| {
            HttpError::Dial(DialError::Connect {
                address: "127.0.0.1:1".parse().unwrap(),
                source: kind.into(),
            })
        };
        check(
            connect(io::ErrorKind::ConnectionRefused),
            "dial: connection refused",
        );
        check(connect(io::ErrorKind::TimedOut), "dial: i/o timeout");
        check(
            HttpError::Dial(DialError::NoSuchHost("a".into())),
            "lookup: no such host",
        );
        let lost = HttpError::Lost {
            doing: "read",
            source: io::ErrorKind::ConnectionReset.into(),
        };
        check(lost, "read: connection reset by peer");
        check(HandshakeError::Ended.into(), "EOF");
        check(HandshakeError::UnknownAuthority.into(), "x509: unknown authority");
        let calm = "http2: received GoAway with http2 ErrCode ENHANCE_YOUR_CALM";
        check(HttpError::GoAway(Reason::ENHANCE_YOUR_CALM), calm);
        check(HttpError::Unanswered, "EOF");
        check(HttpError::Ended, "unexpected EOF");
        check(
            HttpError::Timeout {
                after: Duration::ZERO,
            },
            "request timeout",
        );
    }

    #[test]
    fn errors_have_the_numbers_of_k6() {
        let check = |error: HttpError, expected: u16| assert_eq!(error.code(), expected, "{error}");
        let connect = |code: i32| {
            HttpError::Dial(DialError::Connect {
                address: "127.0.0.1:1".parse().unwrap(),
                source: io::Error::from_raw_os_error(code),
            })
        };
        let lost = |code: i32| HttpError::Lost {
            doing: "read",
            source: io::Error::from_raw_os_error(code),
        };
        check(connect(111), 1212);
        check(connect(110), 1211);
        check(connect(113), 1213);
        check(lost(32), 1201);
        check(lost(104), 1220);
        check(lost(5), 1202);
        check(HttpError::Dial(DialError::NoSuchHost("a".into())), 1101);
        check(HttpError::Dial(DialError::BlockedHost("a".into())), 1111);
        check(HandshakeError::NotTls.into(), 1301);
        check(HandshakeError::UnknownAuthority.into(), 1310);
        check(HandshakeError::WrongHost.into(), 1311);
        check(HandshakeError::Certificate("x".into()).into(), 1300);
        check(HttpError::GoAway(Reason::ENHANCE_YOUR_CALM), 1622);
        check(h2::Error::from(Reason::REFUSED_STREAM).into(), 1658);
        let unknown = h2::Error::from(Reason::from(77));
        check(unknown.into(), 1650);
    }
}
