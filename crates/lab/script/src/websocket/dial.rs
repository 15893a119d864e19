//! From what a script says about a WebSocket to the open connection.

use std::{fmt, rc::Rc, sync::Arc};

use plimsoll_clients::{
    dial::{DialError, Traffic},
    target::{Target, TargetError},
    websocket::{Attempt, ConnectError, Connection, Options, Response},
};
use plimsoll_websocket::handshake::client::HandshakeError;

use super::{Params, samples::SessionTags};
use crate::network::Network;

/// The largest message that a script can receive: far beyond what a load test exchanges, and little enough that a
/// mistake of a server does not take the machine down. A larger one ends the connection with code 1009.
const MAX_MESSAGE_BYTES: usize = 64 << 20;

/// How to connect.
#[derive(Debug)]
pub(crate) struct Dial {
    /// As the script wrote it.
    pub(crate) url: String,
    /// Sub-protocols to offer, the preferred one first.
    pub(crate) protocols: Vec<String>,
    /// The rest.
    pub(crate) params: Params,
    /// Which module it is for.
    pub(crate) flavour: Flavour,
}

/// The two modules differ in what they measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flavour {
    /// `k6/ws`: an attempt that failed has a session duration.
    Blocking,
    /// `k6/websockets`: samples have a tag `name`, too, and a name that the script gave stands for the URL, as well.
    Events,
}

/// What came of connecting, for the script.
#[derive(Debug, Default)]
pub(crate) struct Opened {
    /// Why there is no WebSocket; `None` when there is one.
    pub(crate) error: Option<String>,
    /// What the server answered, accepted or not.
    pub(crate) response: Option<Response>,
    /// The sub-protocol that was agreed on; empty for none.
    pub(crate) protocol: String,
    /// Whether compression was agreed on.
    pub(crate) is_deflated: bool,
}

/// What came of connecting.
#[derive(Debug)]
pub(super) struct Dialled {
    pub(super) connection: Option<Connection>,
    pub(super) opened: Opened,
    pub(super) tags: SessionTags,
    /// Why there is no connection; `None` when there is one.
    pub(super) fault: Option<Fault>,
}

/// The failure of an attempt, for the list of causes.
#[derive(Debug)]
pub(super) struct Fault {
    /// The cause, with the next step.
    pub(super) cause: String,
    /// The failure in full, with the URL and the server's words.
    pub(super) example: String,
}

#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error(transparent)]
    Target(#[from] TargetError),
    #[error(transparent)]
    Dial(#[from] DialError),
}

impl Dial {
    /// Connects for a virtual user; what goes over the connection is added to `traffic`.
    pub(super) async fn dial(self, network: &Network, vu: u32, traffic: &Rc<Traffic>) -> Dialled {
        let mut tags = self.tags();
        let (url, jar) = (self.url.clone(), self.params.jar());
        let options = match self.options(network, vu).await {
            Ok(options) => options,
            Err(failure) => {
                let error = Some(failure.to_string());
                let fault = Some(Fault::of(&url, &failure.to_string(), &failure));
                let opened = Opened {
                    error,
                    ..Opened::default()
                };
                return Dialled {
                    connection: None,
                    opened,
                    tags,
                    fault,
                };
            }
        };
        let attempt = Attempt::make(&options, traffic).await;
        if let (Some(jar), Some(response)) = (jar, &attempt.response) {
            Params::remember(&jar, &url, response);
        }
        let (connection, error, fault) = match attempt.outcome {
            Ok((connection, _)) => (Some(connection), None, None),
            Err(error) => {
                let fault = Fault::of(&url, &error.cause().described(), &error);
                (None, Some(text_of(&error)), Some(fault))
            }
        };
        let protocol = connection.as_ref().and_then(Connection::protocol);
        let opened = Opened {
            error,
            protocol: protocol.unwrap_or_default().to_owned(),
            is_deflated: connection.as_ref().is_some_and(Connection::is_deflated),
            response: attempt.response,
        };
        tags.status = opened.response.as_ref().map(|response| response.head.status);
        tags.protocol = opened.protocol.clone();
        tags.ip = attempt.remote.map(|address| address.ip());
        Dialled {
            connection,
            opened,
            tags,
            fault,
        }
    }

    /// The tags that are known before there is an answer.
    pub(super) fn tags(&self) -> SessionTags {
        SessionTags {
            own: self.params.tags.clone(),
            url: self.url.clone(),
            is_named: self.flavour == Flavour::Events,
            ..SessionTags::default()
        }
    }

    async fn options(self, network: &Network, vu: u32) -> Result<Options, Failure> {
        let target = Target::parse(&self.url)?;
        let (is_tls, host, port) = (target.is_secure(), target.host(), target.port());
        let route = network.dialer.route(is_tls, &host, port).await?;
        let mut options = Options::new(target, vec![route.address]);
        options.proxy = route.proxy;
        options.local_address = network.source_of(vu);
        options.tls = Some(Arc::clone(&network.tls));
        options.protocols = self.protocols;
        options.max_message_bytes = MAX_MESSAGE_BYTES;
        self.params.apply(&self.url, &mut options, &network.user_agent);
        Ok(options)
    }
}

impl Fault {
    fn of(url: &str, cause: &str, error: &impl fmt::Display) -> Self {
        // The query may hold a token, and is different for each user.
        let address = url.split('?').next().unwrap_or_default();
        Self {
            cause: format!("WebSocket: {cause}"),
            example: format!("WebSocket to {}: {error}", plimsoll_redacted::url(address)),
        }
    }
}

/// In k6's words where scripts may look for them.
fn text_of(error: &ConnectError) -> String {
    match error {
        ConnectError::Handshake(HandshakeError::Refused { .. }) => "websocket: bad handshake".to_owned(),
        ConnectError::Tcp { address, source, .. } => format!("dial tcp {address}: {source}"),
        error => error.to_string(),
    }
}
