//! Opens the connections of an examination, and bounds their number and time.

use std::{net::SocketAddr, rc::Rc, sync::Arc, time::Duration};

use plimsoll_clients::{
    dial::{Dialer, Traffic},
    grpc::{Channel, Endpoint, Head},
    target::{ResolveError, Target},
    tls::{Believe, Tls, TlsError, TlsOptions},
    websocket::{Attempt, Compression, Options},
};
use tokio::time::Instant;

use crate::meeting::{Listening, Meeting};

/// The most connections of one examination.
pub const MAX_CONNECTIONS: u32 = 20;

/// The time limit of one handshake.
const HANDSHAKE_LIMIT: Duration = Duration::from_secs(5);

/// A standard method without arguments. Servers without it answer with a status of gRPC, too.
const HEALTH_CHECK: &str = "/grpc.health.v1.Health/Check";

/// An origin that does not exist (RFC 6761 §6.4).
const FOREIGN_ORIGIN: &str = "https://probe.invalid";

/// What to examine, and as which client.
#[derive(Debug, Clone)]
pub struct Question {
    /// The URL.
    pub target: Target,
    /// Whether a server without a WebSocket is a good answer, because the URL was `http` or `https`.
    pub is_http: bool,
    /// The `Origin` of the client; None for that of a page of the server itself.
    pub origin: Option<String>,
    /// Header fields such as `Cookie` and `Authorization`.
    pub headers: Vec<(String, String)>,
    /// Sub-protocols that the first connection offers.
    pub protocols: Vec<String>,
    /// The trusted certificates.
    pub believe: Believe,
    /// The time limit of the examination. Questions that are left then are not asked.
    pub limit: Duration,
}

/// The origin of a page from which a client connects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    /// A page of the server, or the one of the question.
    Own,
    Foreign,
    None,
}

/// The differences between the connections of an examination.
#[derive(Debug, Clone)]
pub(crate) struct Offer {
    pub(crate) origin: Origin,
    pub(crate) protocols: Vec<String>,
    /// Whether the header fields of the question are sent.
    pub(crate) sends_headers: bool,
}

/// Counts connections and time.
pub(crate) struct Caller<'a> {
    question: &'a Question,
    addresses: Vec<SocketAddr>,
    verified: Arc<Tls>,
    unverified: Arc<Tls>,
    /// Whether certificates are verified.
    pub(crate) verifies: bool,
    started: Instant,
    n_connections: u32,
}

impl Offer {
    /// The offer of the question.
    pub(crate) fn of(question: &Question) -> Self {
        Self {
            origin: Origin::Own,
            protocols: question.protocols.clone(),
            sends_headers: true,
        }
    }
}

impl<'a> Caller<'a> {
    /// No connection yet.
    ///
    /// # Errors
    /// The trusted certificates cannot be used.
    pub(crate) fn new(question: &'a Question) -> Result<Self, TlsError> {
        let tls = |believe| {
            Tls::new(TlsOptions {
                believe,
                ..TlsOptions::default()
            })
            .map(Arc::new)
        };
        Ok(Self {
            question,
            addresses: Vec::new(),
            verified: tls(question.believe.clone())?,
            unverified: tls(Believe::Anybody)?,
            verifies: !matches!(question.believe, Believe::Anybody),
            started: Instant::now(),
            n_connections: 0,
        })
    }

    /// Looks the host up, once for all connections.
    ///
    /// # Errors
    /// The host has no address.
    pub(crate) async fn resolve(&mut self) -> Result<(), ResolveError> {
        self.addresses = self.question.target.resolve().await?;
        Ok(())
    }

    pub(crate) fn n_connections(&self) -> u32 {
        self.n_connections
    }

    pub(crate) fn seconds(&self) -> f64 {
        self.started.elapsed().as_secs_f64()
    }

    /// Opens a WebSocket and listens. None if the connections or the time are used up.
    pub(crate) async fn meet(
        &mut self,
        target: &Target,
        offer: &Offer,
        listening: Listening,
    ) -> Option<Meeting> {
        let left = self.take_connection()?;
        let options = Options {
            tls: Some(self.tls()),
            origin: self.origin(target, offer.origin),
            protocols: offer.protocols.clone(),
            headers: if offer.sends_headers {
                self.question.headers.clone()
            } else {
                Vec::new()
            },
            compression: Compression::Received,
            deadline: left.min(HANDSHAKE_LIMIT),
            ..Options::new(target.clone(), self.addresses.clone())
        };
        let attempt = Attempt::make(&options, &Rc::new(Traffic::default())).await;
        let left = self.left();
        Some(Meeting::of(attempt, target.path_and_query(), listening, left).await)
    }

    /// Calls a standard method of gRPC. Returns whether gRPC answered. None if the connections or the time are used up.
    pub(crate) async fn call_grpc(&mut self, target: &Target) -> Option<bool> {
        let left = self.take_connection()?;
        let mut endpoint = Endpoint::new(&target.host(), target.port(), Arc::new(Dialer::default()));
        endpoint.tls = target.is_secure().then(|| self.tls());
        let head = Head {
            path: HEALTH_CHECK.to_owned(),
            timeout: Some(left.min(HANDSHAKE_LIMIT)),
            ..Head::default()
        };
        let reply = Channel::new(endpoint, Rc::new(Traffic::default()))
            .unary(&head, &[])
            .await;
        // Whatever it says of the method: an answer that is not gRPC's leaves no fields.
        let mut fields = reply.headers.iter().chain(reply.trailers.iter());
        Some(fields.any(|(name, _)| name == "content-type"))
    }

    /// Takes one of the connections. Returns the time that is left.
    fn take_connection(&mut self) -> Option<Duration> {
        let left = self.left();
        if self.n_connections == MAX_CONNECTIONS || left.is_zero() {
            return None;
        }
        self.n_connections += 1;
        Some(left)
    }

    fn left(&self) -> Duration {
        self.question.limit.saturating_sub(self.started.elapsed())
    }

    fn tls(&self) -> Arc<Tls> {
        Arc::clone(if self.verifies {
            &self.verified
        } else {
            &self.unverified
        })
    }

    fn origin(&self, target: &Target, origin: Origin) -> Option<String> {
        match origin {
            Origin::None => None,
            Origin::Foreign => Some(FOREIGN_ORIGIN.to_owned()),
            Origin::Own => Some(
                self.question
                    .origin
                    .clone()
                    .unwrap_or_else(|| target.own_origin()),
            ),
        }
    }
}
