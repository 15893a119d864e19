//! The application behind the server under test: AnyCable's RPC contract (docs/protocols/rpc.md), answered in this
//! process over gRPC or HTTP, so that no Ruby is needed.
//!
//! It remembers nothing. What a channel has to know comes back with every call as the state that the server keeps for it,
//! and that is part of what is tested.

mod channel;
mod contract;
mod grpc;
mod http;
mod request;

use std::{io, net::SocketAddr, sync::Arc};

use tokio::{net::TcpListener, sync::watch, task::JoinHandle};

use self::contract::{
    CommandMessage, CommandResponse, ConnectionRequest, ConnectionResponse, DisconnectRequest,
    DisconnectResponse, EnvResponse, FAILURE, SUCCESS,
};
use super::{broadcast::Broadcaster, message::quoted};

/// The path of HTTP calls: below the path at which the Ruby gem's own examples mount it.
const MOUNT: &str = "/_anycable";

/// How the server under test calls its application.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Rpc {
    /// gRPC, to the application in this process.
    #[default]
    Grpc,
    /// JSON over HTTP, to the application in this process.
    Http,
    /// Not at all: the target has the suite's channels itself, like `conformance/rails`.
    None,
}

/// The application, for as long as this lives.
#[derive(Debug)]
pub(super) struct Application {
    address: SocketAddr,
    rpc: Rpc,
    calls: Arc<Calls>,
    serving: JoinHandle<()>,
}

impl Application {
    /// Listens. None for [`Rpc::None`].
    ///
    /// # Errors
    /// The address is taken, or not one of this machine.
    pub(super) async fn start(rpc: Rpc, listen: SocketAddr, calls: Calls) -> io::Result<Option<Self>> {
        if rpc == Rpc::None {
            return Ok(None);
        }
        let listener = TcpListener::bind(listen).await?;
        let address = listener.local_addr()?;
        let calls = Arc::new(calls);
        let served = Arc::clone(&calls);
        let serving = tokio::spawn(async move {
            loop {
                // An error of a single connection, or of too many open files: the caller sees that it is not served.
                let Ok((socket, _)) = listener.accept().await else {
                    continue;
                };
                let calls = Arc::clone(&served);
                match rpc {
                    Rpc::Grpc => tokio::spawn(grpc::serve(socket, calls)),
                    Rpc::Http | Rpc::None => tokio::spawn(http::serve(socket, calls)),
                };
            }
        });
        Ok(Some(Self {
            address,
            rpc,
            calls,
            serving,
        }))
    }

    /// The number of commands that the server has asked about, now and later.
    pub(super) fn n_commands(&self) -> watch::Receiver<u64> {
        self.calls.n_commands.subscribe()
    }

    /// The value of the server's `--rpc_host`.
    pub(super) fn rpc_host(&self) -> String {
        match self.rpc {
            Rpc::Http => format!("http://{}{MOUNT}", self.address),
            Rpc::Grpc | Rpc::None => self.address.to_string(),
        }
    }
}

impl Drop for Application {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

/// The answers to the three calls.
#[derive(Debug)]
pub(super) struct Calls {
    broadcaster: Arc<Broadcaster>,
    n_commands: watch::Sender<u64>,
}

impl Calls {
    pub(super) fn new(broadcaster: Arc<Broadcaster>) -> Self {
        Self {
            broadcaster,
            n_commands: watch::Sender::new(0),
        }
    }

    /// Accepts all clients except those that a scenario wants to be refused. An unnamed client is known by its
    /// session id.
    fn connect(&self, sid: &str, request: ConnectionRequest) -> ConnectionResponse {
        let env = request.env.unwrap_or_default();
        let is_welcome = match request::query(&env, "test").as_deref() {
            Some("refused") => false,
            Some("cookies") => request::cookie(&env, "username").is_some_and(|name| !name.is_empty()),
            Some("headers") => env.headers.get("x-api-token").is_some_and(|token| token == "abc"),
            _ => true,
        };
        if !is_welcome {
            return ConnectionResponse {
                status: FAILURE,
                transmissions: vec![
                    r#"{"type":"disconnect","reason":"unauthorized","reconnect":false}"#.to_owned(),
                ],
                ..ConnectionResponse::default()
            };
        }
        let uid = request::query(&env, "uid").unwrap_or_else(|| sid.to_owned());
        ConnectionResponse {
            status: SUCCESS,
            identifiers: format!(r#"{{"uid":{}}}"#, quoted(&uid)),
            transmissions: vec![format!(r#"{{"type":"welcome","sid":{}}}"#, quoted(sid))],
            env: Some(EnvResponse {
                // Back in every later call: what the connection's own state is for.
                cstate: [("url".to_owned(), env.url)].into(),
                ..EnvResponse::default()
            }),
            ..ConnectionResponse::default()
        }
    }

    async fn command(&self, sid: &str, message: CommandMessage) -> CommandResponse {
        self.n_commands.send_modify(|n| *n += 1);
        let effects = channel::carry_out(sid, &message).await;
        for body in &effects.broadcasts {
            self.broadcast(body).await;
        }
        effects.response
    }

    /// Channels hear of the end of each of their subscriptions, as with `unsubscribed` in Rails.
    async fn disconnect(&self, request: DisconnectRequest) -> DisconnectResponse {
        for body in channel::farewells(&request) {
            self.broadcast(&body).await;
        }
        DisconnectResponse {
            status: SUCCESS,
            error_msg: String::new(),
        }
    }

    /// A broadcast that fails is missed by the scenario that waits for it, and that says so.
    async fn broadcast(&self, body: &str) {
        let _missed_by_the_scenario = self.broadcaster.publish(body).await;
    }
}
