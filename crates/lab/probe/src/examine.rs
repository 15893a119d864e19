//! The order of the questions.

use std::time::{Duration, Instant};

use plimsoll_cable::subprotocol::{Dialect, EXTENDED_JSON};
use plimsoll_clients::{
    target::Target,
    tls::{HandshakeError, TlsError},
    websocket::{ConnectError, Response},
};

use crate::{
    Authentication, Findings, Handshake, Kind, Origins, Ping, PingSource, Problem, Question, SubProtocols,
    TlsFinding, Verdict,
    caller::{Caller, Offer, Origin},
    greeting,
    meeting::{GREETING_LIMIT, Heard, Listening, Meeting, Opened},
    refusal::{self, Refusal},
};

/// Paths on which WebSockets usually are: Action Cable, Socket.IO, Phoenix, and others.
const USUAL_PATHS: [&str; 4] = [
    "/cable",
    "/socket.io/?EIO=4&transport=websocket",
    "/socket/websocket?vsn=2.0.0",
    "/ws",
];

/// A sub-protocol that no server can know.
const UNKNOWN_PROTOCOL: &str = "probe.invalid";

/// The shown part of a greeting, in characters.
const MAX_GREETING_CHARS: usize = 200;

/// Examines a server.
///
/// # Errors
/// The trusted certificates of the question cannot be used. Everything that a server does is a finding.
pub async fn examine(question: &Question) -> Result<Findings, TlsError> {
    let mut examination = Examination::of(question)?;
    examination.run().await;
    Ok(examination.end())
}

/// What [`recognize`] may do to the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Approach {
    /// Listens to the greeting for at most this time, and sends nothing.
    Listen(Duration),
    /// Listens for two seconds, and sends a heartbeat of Phoenix to a server that is silent. A server without HTTP gets a
    /// call of gRPC over another connection.
    Ask,
}

/// Recognizes the kind of a server, or why it lets no client in, over one connection. Another one corrects a scheme that
/// does not fit the port, or a certificate that is not accepted. Sub-protocols, origins, other paths and pings stay unknown.
///
/// # Errors
/// The trusted certificates of the question cannot be used. Everything that a server does is a finding.
pub async fn recognize(question: &Question, approach: Approach) -> Result<Findings, TlsError> {
    let mut examination = Examination::of(question)?;
    examination.glance(approach).await;
    Ok(examination.end())
}

struct Examination<'a> {
    question: &'a Question,
    caller: Caller<'a>,
    /// The URL as far as it has been corrected.
    target: Target,
    findings: Findings,
}

/// Another way to the server, after a first failure.
enum Correction {
    WithoutTls,
    WithTls,
    Unverified(String),
}

impl<'a> Examination<'a> {
    fn of(question: &'a Question) -> Result<Self, TlsError> {
        Ok(Self {
            question,
            caller: Caller::new(question)?,
            target: question.target.clone(),
            findings: Findings::before(question.target.url()),
        })
    }

    async fn run(&mut self) {
        let Some(meeting) = self.approach(Listening::Pings).await else {
            return;
        };
        match meeting.outcome {
            Ok(opened) => self.understand(opened),
            Err(error) => self.understand_failure(&error, meeting.response).await,
        }
        if self.findings.kind.is_websocket() {
            self.ask_about_protocols().await;
            self.ask_about_origins().await;
            self.ask_about_credentials().await;
        }
    }

    async fn glance(&mut self, approach: Approach) {
        let listening = match approach {
            Approach::Listen(limit) => Listening::Greeting(limit),
            Approach::Ask => Listening::Kind,
        };
        let Some(meeting) = self.approach(listening).await else {
            return;
        };
        match (meeting.outcome, meeting.response) {
            (Ok(opened), _) => self.understand(opened),
            (Err(ConnectError::Handshake(_)), Some(response)) if response.head.status != 101 => {
                let refusal = refusal::understand(&response);
                self.accept_refusal(refusal);
            }
            (Err(error), response) if approach == Approach::Ask => {
                self.understand_failure(&error, response).await;
            }
            (Err(error), _) => {
                let kind = if self.is_unanswered(&error) {
                    Kind::Nothing
                } else {
                    Kind::Unknown
                };
                self.give_up(kind, &error);
            }
        }
    }

    fn end(mut self) -> Findings {
        self.findings.credentials = self.credentials();
        self.findings.url = self.target.url();
        self.findings.n_connections = self.caller.n_connections();
        self.findings.seconds = self.caller.seconds();
        self.findings
    }

    /// The first connection that gets through TLS, or fails for another reason.
    async fn approach(&mut self, listening: Listening) -> Option<Meeting> {
        if let Err(error) = self.caller.resolve().await {
            self.findings.problems.push(Problem::Unreachable {
                reason: error.to_string(),
                advice: None,
            });
            return None;
        }
        loop {
            let offer = Offer::of(self.question);
            let meeting = self.caller.meet(&self.target, &offer, listening).await?;
            match self.correction(&meeting) {
                None => {
                    self.note_way(&meeting);
                    return Some(meeting);
                }
                Some(correction) => self.correct(correction),
            }
        }
    }

    /// Each correction is made once.
    fn correction(&self, meeting: &Meeting) -> Option<Correction> {
        let has_no_problem = |problem: &Problem| !self.findings.problems.contains(problem);
        let wants_tls = meeting.response.as_ref().is_some_and(refusal::wants_tls);
        match meeting.outcome.as_ref().err()? {
            ConnectError::Tls(HandshakeError::NotTls) if has_no_problem(&Problem::NeedsTls) => {
                Some(Correction::WithoutTls)
            }
            ConnectError::SpeaksTls if has_no_problem(&Problem::NoTls) => Some(Correction::WithTls),
            ConnectError::Handshake(_) if wants_tls && !self.target.is_secure() => Some(Correction::WithTls),
            ConnectError::Tls(
                error @ (HandshakeError::UnknownAuthority
                | HandshakeError::WrongHost
                | HandshakeError::Certificate(_)),
            ) if self.caller.verifies => Some(Correction::Unverified(error.to_string())),
            _ => None,
        }
    }

    fn correct(&mut self, correction: Correction) {
        let (is_secure, problem) = match correction {
            Correction::WithoutTls => (false, Problem::NoTls),
            Correction::WithTls => (true, Problem::NeedsTls),
            Correction::Unverified(reason) => {
                self.caller.verifies = false;
                self.findings.tls = Some(TlsFinding {
                    is_verified: false,
                    reason: Some(reason.clone()),
                });
                (true, Problem::Certificate { reason })
            }
        };
        self.findings.problems.push(problem);
        if let Some(target) = changed(&self.target, is_secure, self.target.path_and_query()) {
            self.target = target;
        }
    }

    /// Notes what the handshake shows, whatever its outcome.
    fn note_way(&mut self, meeting: &Meeting) {
        self.findings.address = meeting.remote.map(|address| address.to_string());
        if let Some(response) = &meeting.response {
            self.findings.status = Some(response.head.status);
            self.findings.on_the_way = refusal::on_the_way(response);
        }
        let failed_in_tls = matches!(meeting.outcome, Err(ConnectError::Tls(_)));
        if self.target.is_secure() && self.findings.tls.is_none() && !failed_in_tls {
            self.findings.tls = Some(TlsFinding {
                is_verified: self.caller.verifies,
                reason: None,
            });
        }
    }

    fn understand(&mut self, opened: Opened) {
        let Opened {
            timings,
            protocol: _,
            is_deflated,
            heard,
        } = opened;
        let milliseconds = |duration: Duration| (duration.as_secs_f64() * 1e6).round() / 1e3;
        let findings = &mut self.findings;
        findings.handshake = Some(Handshake {
            tcp_ms: milliseconds(timings.tcp_connect),
            tls_ms: milliseconds(timings.tls_handshake),
            upgrade_ms: milliseconds(timings.upgrade),
        });
        findings.compression = Some(is_deflated);
        findings.kind = heard.kind.unwrap_or(Kind::Websocket);
        findings.greeting = heard
            .first()
            .map(|text| text.chars().take(MAX_GREETING_CHARS).collect());
        let greeting = heard.first().and_then(greeting::understand);
        findings.ping =
            measured(&heard).or_else(|| greeting.as_ref().and_then(|greeting| greeting.ping.clone()));
        findings.authentication = if greeting.is_some_and(|greeting| greeting.is_refusal) {
            findings.problems.push(Problem::Unauthorized {
                status: None,
                challenge: None,
            });
            Authentication::Refused
        } else {
            // Corrected when a client without credentials is refused.
            Authentication::NotNeeded
        };
    }

    async fn understand_failure(&mut self, error: &ConnectError, response: Option<Response>) {
        match (error, response) {
            _ if self.is_unanswered(error) => self.give_up(Kind::Nothing, error),
            (ConnectError::Handshake(_), Some(response)) if response.head.status != 101 => {
                self.understand_refusal(&response).await;
            }
            _ => match self.caller.call_grpc(&self.target).await {
                Some(true) => self.findings.kind = Kind::Grpc,
                _ => self.give_up(Kind::Unknown, error),
            },
        }
    }

    /// Whether no connection was made.
    fn is_unanswered(&self, error: &ConnectError) -> bool {
        match error {
            ConnectError::Tcp { .. } | ConnectError::NoAddress => true,
            ConnectError::TimedOut { .. } => self.findings.address.is_none(),
            _ => false,
        }
    }

    fn give_up(&mut self, kind: Kind, error: &ConnectError) {
        self.findings.kind = kind;
        self.findings.problems.push(Problem::Unreachable {
            reason: error.to_string(),
            advice: error.cause().advice(),
        });
    }

    async fn understand_refusal(&mut self, response: &Response) {
        let refusal = refusal::understand(response);
        if refusal.may_be_elsewhere
            && (self.is_open_without_origin(response).await || self.is_elsewhere().await)
        {
            return;
        }
        self.accept_refusal(refusal);
    }

    fn accept_refusal(&mut self, refusal: Refusal) {
        self.findings.kind = refusal.kind;
        if matches!(refusal.problem, Some(Problem::Unauthorized { .. })) {
            self.findings.authentication = Authentication::Refused;
        }
        let is_expected = self.question.is_http
            && matches!(refusal.problem, Some(Problem::NoWebSocket { status: 200..=299 }));
        self.findings
            .problems
            .extend(refusal.problem.filter(|_| !is_expected));
    }

    /// Whether the WebSocket opens for clients without an `Origin`. Servers refuse origins with these statuses.
    async fn is_open_without_origin(&mut self, response: &Response) -> bool {
        if !matches!(response.head.status, 400 | 403 | 404) {
            return false;
        }
        let offer = Offer {
            origin: Origin::None,
            ..Offer::of(self.question)
        };
        let meeting = self.caller.meet(&self.target, &offer, Listening::Pings).await;
        let Some(Ok(opened)) = meeting.map(|meeting| meeting.outcome) else {
            return false;
        };
        self.findings.problems.push(Problem::Origin);
        self.understand(opened);
        true
    }

    /// Whether one of the usual paths has a WebSocket.
    async fn is_elsewhere(&mut self) -> bool {
        for path in USUAL_PATHS {
            let Some(target) = changed(&self.target, self.target.is_secure(), path) else {
                continue;
            };
            if target == self.target {
                continue;
            }
            let meeting = self
                .caller
                .meet(&target, &Offer::of(self.question), Listening::Pings)
                .await;
            let Some(Ok(opened)) = meeting.map(|meeting| meeting.outcome) else {
                continue;
            };
            self.target = target;
            self.findings.problems.push(Problem::OtherPath);
            self.understand(opened);
            return true;
        }
        false
    }

    async fn ask_about_protocols(&mut self) {
        let is_cable = self.findings.kind.is_cable();
        let names: Vec<&str> = if is_cable {
            Dialect::names().collect()
        } else {
            self.question.protocols.iter().map(String::as_str).collect()
        };
        let mut found = SubProtocols {
            agrees_to_any: self.agrees_to(UNKNOWN_PROTOCOL).await,
            ..SubProtocols::default()
        };
        for name in names {
            if self.agrees_to(name).await {
                found.agreed.push(name.to_owned());
            } else {
                found.refused.push(name.to_owned());
            }
        }
        let has_extensions = found.agreed.iter().any(|name| name == EXTENDED_JSON);
        if is_cable && has_extensions && !found.agrees_to_any {
            self.findings.kind = Kind::Anycable;
        }
        self.findings.sub_protocols = Some(found);
    }

    async fn agrees_to(&mut self, name: &str) -> bool {
        let offer = Offer {
            protocols: vec![name.to_owned()],
            origin: self.good_origin(),
            ..Offer::of(self.question)
        };
        let meeting = self.caller.meet(&self.target, &offer, Listening::No).await;
        let opened = meeting.and_then(|meeting| meeting.outcome.ok());
        opened.is_some_and(|opened| opened.protocol.as_deref() == Some(name))
    }

    /// An origin with which the server accepts the client.
    fn good_origin(&self) -> Origin {
        if self.findings.problems.contains(&Problem::Origin) {
            Origin::None
        } else {
            Origin::Own
        }
    }

    async fn ask_about_origins(&mut self) {
        let is_own_refused = self.good_origin() == Origin::None;
        let none = if is_own_refused {
            Verdict::Accepted
        } else {
            self.try_origin(Origin::None).await
        };
        self.findings.origins = Some(Origins {
            own: if is_own_refused {
                Verdict::Refused
            } else {
                Verdict::Accepted
            },
            foreign: self.try_origin(Origin::Foreign).await,
            none,
        });
    }

    async fn try_origin(&mut self, origin: Origin) -> Verdict {
        let offer = Offer {
            origin,
            ..Offer::of(self.question)
        };
        let meeting = self.caller.meet(&self.target, &offer, Listening::No).await;
        meeting.map_or(Verdict::NotAsked, |meeting| match meeting.outcome {
            Ok(_) => Verdict::Accepted,
            Err(_) => Verdict::Refused,
        })
    }

    /// The names of what the client sends to say who it is: header fields, and with a `?` parameters of the URL.
    fn credentials(&self) -> Vec<String> {
        let headers = self.question.headers.iter().map(|(name, _)| name.clone());
        let parameters = plimsoll_redacted::secret_parameters(self.target.path_and_query());
        let parameters = parameters.iter().map(|name| format!("?{name}"));
        headers.chain(parameters).collect()
    }

    /// Whether the credentials that were sent are needed.
    async fn ask_about_credentials(&mut self) {
        let is_accepted = self.findings.authentication == Authentication::NotNeeded;
        if !is_accepted || self.credentials().is_empty() {
            return;
        }
        let path_and_query = plimsoll_redacted::without_secret_parameters(self.target.path_and_query());
        let bare = changed(&self.target, self.target.is_secure(), &path_and_query);
        let offer = Offer {
            sends_headers: false,
            origin: self.good_origin(),
            ..Offer::of(self.question)
        };
        // A server that is silent says no more after its handshake.
        let listening = match self.findings.greeting {
            Some(_) => Listening::Greeting(GREETING_LIMIT),
            None => Listening::No,
        };
        let meeting = match &bare {
            Some(bare) => self.caller.meet(bare, &offer, listening).await,
            None => None,
        };
        self.findings.authentication = meeting.map_or(Authentication::Untested, without_credentials);
    }
}

/// The need for credentials, from a connection without them.
fn without_credentials(meeting: Meeting) -> Authentication {
    match (meeting.outcome, meeting.response) {
        (Ok(opened), _) => {
            let greeting = opened.heard.first().and_then(greeting::understand);
            if greeting.is_some_and(|greeting| greeting.is_refusal) {
                Authentication::Accepted
            } else {
                Authentication::Ignored
            }
        }
        (Err(_), Some(response)) if matches!(response.head.status, 400..=428 | 430..=499) => {
            Authentication::Accepted
        }
        // Without an answer, or with that of a busy server, the reason may be another.
        (Err(_), _) => Authentication::Untested,
    }
}

/// The target with another scheme or path, and its port.
fn changed(target: &Target, is_secure: bool, path_and_query: &str) -> Option<Target> {
    let scheme = if is_secure { "wss" } else { "ws" };
    let (host, port) = (target.host(), target.port());
    let host = if host.contains(':') {
        format!("[{host}]")
    } else {
        host
    };
    Target::parse(&format!("{scheme}://{host}:{port}{path_and_query}")).ok()
}

/// The interval between the signs of life that were heard.
fn measured(heard: &Heard) -> Option<Ping> {
    let ping = |source, mut times: Box<dyn Iterator<Item = Instant> + '_>| {
        let first = times.next()?;
        Some(Ping {
            source,
            seconds: times
                .next()
                .map(|second| ((second - first).as_secs_f64() * 10.0).round() / 10.0),
            is_announced: false,
        })
    };
    ping(PingSource::Message, Box::new(heard.pings()))
        .or_else(|| ping(PingSource::Frame, Box::new(heard.ping_frames())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_corrected_url_keeps_its_port() {
        let check = |url: &str, is_secure: bool, path: &str, expected: &str| {
            let target = changed(&Target::parse(url).unwrap(), is_secure, path).unwrap();
            assert_eq!(target.url(), expected);
        };
        check("ws://a/x?y", true, "/x?y", "wss://a:80/x?y");
        check("wss://[::1]:8443/", false, "/cable", "ws://[::1]:8443/cable");
        check("ws://127.0.0.1:80/", false, "/ws", "ws://127.0.0.1/ws");
    }
}
