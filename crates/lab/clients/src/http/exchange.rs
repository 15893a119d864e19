//! One request on the wire, and its outcome.

use std::{
    borrow::Cow,
    net::SocketAddr,
    time::{Duration, Instant},
};

use http::{Method, StatusCode};
use serde::{Deserialize, Serialize};
use url::Url;

use super::{Headers, HttpError, kept_bodies::Share};
use crate::tls::TlsVersion;

/// A request, sent or not, and its outcome. A redirect makes another exchange.
#[derive(Debug)]
pub struct Exchange {
    /// The method.
    pub method: Method,
    /// The URL, with user and password if the request had them.
    pub url: Url,
    /// The head of the request as HTTP/1.1 writes it; for HTTP/2, the equivalent head. Empty if no head was made.
    pub request_head: Vec<u8>,
    /// The durations of the phases.
    pub timings: Timings,
    /// The server, if there was a connection.
    pub remote: Option<SocketAddr>,
    /// What TLS agreed on.
    pub tls: Option<TlsFacts>,
    /// Whether 401 is an expected answer.
    pub challenge: Expectation,
    /// The response, or the reason why there is none.
    pub outcome: Result<Response, HttpError>,
}

/// Whether an exchange expects the server's challenge: a response with status 401, to which another exchange is the
/// answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Expectation {
    /// It expects none.
    #[default]
    None,
    /// It expects nothing else, because the request asks for the challenge.
    Certain,
    /// It expects it or another answer, because the connection may be signed in already.
    Possible,
}

/// The durations of the phases of an exchange (docs/protocols/k6.md, Request phases). A phase that failed lasted until
/// the failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timings {
    /// When the request asked for a connection.
    pub started: Instant,
    /// When the last byte of the response was read, or the request failed.
    pub ended: Instant,
    /// Until there was a connection; contains looking the name up and the next two.
    pub blocked: Duration,
    /// The TCP connection; zero on an existing connection.
    pub connecting: Duration,
    /// The TLS handshake; zero on an existing connection.
    pub tls_handshaking: Duration,
    /// From there until the request was written.
    pub sending: Duration,
    /// Until the first byte of the response.
    pub waiting: Duration,
    /// Until its last byte.
    pub receiving: Duration,
}

/// What TLS agreed on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TlsFacts {
    /// The version.
    pub version: TlsVersion,
    /// The IANA name of the cipher suite.
    pub cipher_suite: String,
}

/// What was spoken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    /// HTTP/1.0.
    Http10,
    /// HTTP/1.1.
    Http11,
    /// HTTP/2.
    Http2,
}

/// A response, read completely.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Response {
    /// What was spoken.
    pub protocol: Protocol,
    /// The status, 100 to 999.
    pub status: u16,
    /// The server's text for the status; often empty. HTTP/2 has none, so it is the standard's.
    pub reason: Cow<'static, str>,
    /// The fields of the head.
    pub headers: Headers,
    /// The body, without content codings; empty if it was not kept.
    pub body: Vec<u8>,
    /// The body's share of the memory for all bodies.
    pub(super) share: Share,
}

impl Timings {
    /// Sending, waiting and receiving.
    pub fn duration(&self) -> Duration {
        self.sending + self.waiting + self.receiving
    }
}

impl Protocol {
    /// As k6 writes it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Http10 => "HTTP/1.0",
            Self::Http11 => "HTTP/1.1",
            Self::Http2 => "HTTP/2.0",
        }
    }
}

/// The reason, kept without an allocation if it is the standard's.
pub(super) fn reason(status: u16, given: Option<&str>) -> Cow<'static, str> {
    let standard = StatusCode::from_u16(status)
        .ok()
        .and_then(|status| status.canonical_reason());
    match (given, standard) {
        (None, standard) => Cow::Borrowed(standard.unwrap_or_default()),
        (Some(given), Some(standard)) if given == standard => Cow::Borrowed(standard),
        (Some(given), _) => Cow::Owned(given.to_owned()),
    }
}

/// The state of an exchange in progress. A timeout cannot drop it, so that no timing is lost.
#[derive(Debug)]
pub(super) struct Underway {
    pub(super) method: Method,
    pub(super) url: Url,
    pub(super) request_head: Vec<u8>,
    pub(super) remote: Option<SocketAddr>,
    pub(super) tls: Option<TlsFacts>,
    pub(super) challenge: Expectation,
    pub(super) marks: Marks,
}

/// A phase of making a connection.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Phase {
    began: Option<Instant>,
    ended: Option<Instant>,
}

impl Phase {
    pub(super) fn begin(&mut self) {
        self.began = Some(Instant::now());
    }

    pub(super) fn end(&mut self) {
        self.ended = Some(Instant::now());
    }

    /// The duration of the phase; of an unfinished one, until `now`.
    fn took(self, now: Instant) -> Duration {
        self.began.map_or(Duration::ZERO, |began| {
            self.ended.unwrap_or(now).saturating_duration_since(began)
        })
    }
}

/// When the phases ended.
#[derive(Debug, Clone, Copy)]
pub(super) struct Marks {
    pub(super) started: Instant,
    pub(super) connecting: Phase,
    pub(super) tls_handshaking: Phase,
    pub(super) connected: Option<Instant>,
    pub(super) sent: Option<Instant>,
    pub(super) first_byte: Option<Instant>,
}

impl Marks {
    pub(super) fn start() -> Self {
        Self::start_at(Instant::now())
    }

    fn start_at(started: Instant) -> Self {
        Self {
            started,
            connecting: Phase::default(),
            tls_handshaking: Phase::default(),
            connected: None,
            sent: None,
            first_byte: None,
        }
    }

    /// Forgets all phases, because the request is sent again. The time at which it asked for a connection is kept.
    pub(super) fn restart(&mut self) {
        *self = Self {
            started: self.started,
            ..Self::start()
        };
    }

    pub(super) fn timings(&self, ended: Instant) -> Timings {
        let connected = self.connected.unwrap_or(ended);
        // A server may answer before it has read the request; sending ends with the answer then.
        let answered = self.first_byte.unwrap_or(ended);
        let sent = self
            .sent
            .unwrap_or(answered)
            .clamp(connected, answered.max(connected));
        let answered = answered.max(sent);
        Timings {
            started: self.started,
            ended,
            blocked: connected - self.started,
            connecting: self.connecting.took(ended),
            tls_handshaking: self.tls_handshaking.took(ended),
            sending: sent - connected,
            waiting: answered - sent,
            receiving: ended.saturating_duration_since(answered),
        }
    }
}

impl Underway {
    pub(super) fn new(method: Method, url: Url) -> Self {
        Self {
            method,
            url,
            request_head: Vec::new(),
            remote: None,
            tls: None,
            challenge: Expectation::default(),
            marks: Marks::start(),
        }
    }

    pub(super) fn end(self, ended: Instant, outcome: Result<Response, HttpError>) -> Exchange {
        Exchange {
            timings: self.marks.timings(ended),
            method: self.method,
            url: self.url,
            request_head: self.request_head,
            remote: self.remote,
            tls: self.tls,
            challenge: self.challenge,
            outcome,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phases_follow_each_other() {
        let started = Instant::now();
        let at = |ms: u64| started + Duration::from_millis(ms);
        let check =
            |connected: Option<u64>, sent: Option<u64>, first_byte: Option<u64>, expected: [u64; 4]| {
                let marks = Marks {
                    started,
                    connected: connected.map(at),
                    sent: sent.map(at),
                    first_byte: first_byte.map(at),
                    ..Marks::start()
                };
                let timings = marks.timings(at(100));
                let phases = [
                    timings.blocked,
                    timings.sending,
                    timings.waiting,
                    timings.receiving,
                ];
                assert_eq!(phases.map(|phase| phase.as_millis() as u64), expected);
                assert_eq!(phases.iter().sum::<Duration>(), timings.ended - timings.started);
            };
        check(Some(10), Some(30), Some(60), [10, 20, 30, 40]);
        check(None, None, None, [100, 0, 0, 0]);
        check(Some(10), None, None, [10, 90, 0, 0]);
        check(Some(10), Some(30), None, [10, 20, 70, 0]);
        let connecting = |began: Option<u64>, ended: Option<u64>| {
            let phase = Phase {
                began: began.map(at),
                ended: ended.map(at),
            };
            phase.took(at(100)).as_millis()
        };
        assert_eq!(
            [
                connecting(None, None),
                connecting(Some(10), Some(30)),
                connecting(Some(10), None)
            ],
            [0, 20, 90]
        );
        // An answer before the end of the request.
        check(Some(10), None, Some(60), [10, 50, 0, 40]);
        check(Some(10), Some(70), Some(60), [10, 50, 0, 40]);
    }
}
