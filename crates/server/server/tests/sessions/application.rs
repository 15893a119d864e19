//! Applications for tests.

use std::sync::{Arc, Mutex};

use plimsoll_cable::{broadcast::Publication, disconnect::DisconnectReason, reply};
use plimsoll_server::{
    Publisher,
    application::{
        Action, Application, CommandReply, CommandRequest, ConnectReply, ConnectRequest, Reply, StateChanges,
        Status,
    },
};
use tokio::sync::{Semaphore, watch};

/// Creates an application once the server provides a publisher.
pub(crate) trait Starts: Send + 'static {
    fn start(self, publisher: Publisher) -> Arc<dyn Application>;
}

/// Holds every command until it is opened, and records the calls.
#[derive(Clone)]
pub(crate) struct Gate {
    open: Arc<Semaphore>,
    calls: Arc<Mutex<Vec<String>>>,
    n_calls: watch::Sender<usize>,
}

pub(crate) struct Gated(Gate);

struct GatedApplication {
    gate: Gate,
    publisher: Publisher,
}

impl Gate {
    pub(crate) fn closed() -> Self {
        Self {
            open: Arc::new(Semaphore::new(0)),
            calls: Arc::default(),
            n_calls: watch::channel(0).0,
        }
    }

    pub(crate) fn opened() -> Self {
        let gate = Self::closed();
        gate.open();
        gate
    }

    pub(crate) fn open(&self) {
        self.open.add_permits(Semaphore::MAX_PERMITS);
    }

    pub(crate) fn application(&self) -> Gated {
        Gated(self.clone())
    }

    pub(crate) fn calls(&self) -> Vec<String> {
        self.calls.lock().unwrap().clone()
    }

    pub(crate) async fn wait_for_calls(&self, n_calls: usize) {
        self.n_calls
            .subscribe()
            .wait_for(|n| *n >= n_calls)
            .await
            .unwrap();
    }

    async fn pass(&self, call: String) {
        self.calls.lock().unwrap().push(call);
        self.n_calls.send_modify(|n| *n += 1);
        let _permit = self.open.acquire().await.unwrap();
    }
}

impl Starts for Gated {
    fn start(self, publisher: Publisher) -> Arc<dyn Application> {
        Arc::new(GatedApplication {
            gate: self.0,
            publisher,
        })
    }
}

impl Application for GatedApplication {
    fn connect<'a>(&'a self, request: &'a ConnectRequest) -> Reply<'a, ConnectReply> {
        accept(request)
    }

    fn command<'a>(&'a self, request: &'a CommandRequest<'a>) -> Reply<'a, CommandReply> {
        Box::pin(async move {
            assert_eq!(request.identifiers, "tester");
            match request.action {
                Action::Subscribe => {
                    self.gate.pass("subscribe".to_owned()).await;
                    CommandReply {
                        status: Status::Accepted,
                        streams: vec!["test".to_owned()],
                        transmissions: vec![reply::encode_confirm(request.identifier)],
                        ..CommandReply::default()
                    }
                }
                Action::Unsubscribe => {
                    self.gate.pass("unsubscribe".to_owned()).await;
                    CommandReply::default()
                }
                Action::Perform(data) => {
                    self.gate.pass(format!("perform {data}")).await;
                    let message = format!("\"performed {data}\"");
                    self.publisher
                        .publish(Publication::from_json("test", message))
                        .await;
                    CommandReply::default()
                }
            }
        })
    }
}

/// Fails the first calls for a subscription, as often as its identifier says: `fails 2`. Refuses subscriptions to
/// `refused`. Records the calls.
#[derive(Clone, Default)]
pub(crate) struct Undecided {
    calls: Arc<Mutex<Vec<String>>>,
}

impl Undecided {
    pub(crate) fn calls(&self) -> Vec<String> {
        self.calls.lock().unwrap().clone()
    }

    fn subscribe(&self, identifier: &str, is_repetition: bool) -> CommandReply {
        let n_before = self
            .calls()
            .iter()
            .filter(|call| call.ends_with(identifier))
            .count();
        let call = if is_repetition { "repeat" } else { "subscribe" };
        self.calls.lock().unwrap().push(format!("{call} {identifier}"));
        let n_failures: usize = identifier
            .strip_prefix("fails ")
            .map_or(0, |n| n.parse().unwrap());
        let (status, transmission) = match identifier {
            _ if n_before < n_failures => (Status::Failed, None),
            "refused" => (Status::Refused, Some(reply::encode_reject(identifier))),
            _ => (Status::Accepted, Some(reply::encode_confirm(identifier))),
        };
        CommandReply {
            status,
            streams: vec!["test".to_owned()],
            transmissions: transmission.into_iter().collect(),
            failure: "the database is away".into(),
            ..CommandReply::default()
        }
    }
}

impl Starts for Undecided {
    fn start(self, _publisher: Publisher) -> Arc<dyn Application> {
        Arc::new(self)
    }
}

impl Application for Undecided {
    fn connect<'a>(&'a self, request: &'a ConnectRequest) -> Reply<'a, ConnectReply> {
        accept(request)
    }

    fn command<'a>(&'a self, request: &'a CommandRequest<'a>) -> Reply<'a, CommandReply> {
        assert_eq!(request.identifiers, "tester");
        let reply = match request.action {
            Action::Subscribe => self.subscribe(request.identifier, request.is_repetition),
            Action::Unsubscribe | Action::Perform(_) => {
                self.calls
                    .lock()
                    .unwrap()
                    .push(format!("other {}", request.identifier));
                CommandReply::default()
            }
        };
        Box::pin(std::future::ready(reply))
    }
}

/// Accepts a client under the identifiers that its commands are expected to carry.
fn accept(request: &ConnectRequest) -> Reply<'_, ConnectReply> {
    Box::pin(std::future::ready(ConnectReply::Accepted {
        identifiers: "tester".to_owned(),
        transmissions: vec![reply::encode_welcome(&request.sid)],
        cstate: StateChanges::new(),
        hears_of_end: false,
        expires_at: None,
    }))
}

/// Refuses every client.
pub(crate) struct Refusing;

impl Starts for Refusing {
    fn start(self, _publisher: Publisher) -> Arc<dyn Application> {
        Arc::new(self)
    }
}

impl Application for Refusing {
    fn connect<'a>(&'a self, _request: &'a ConnectRequest) -> Reply<'a, ConnectReply> {
        let reason = DisconnectReason::Unauthorized;
        Box::pin(std::future::ready(ConnectReply::Refused {
            transmissions: vec![reply::encode_disconnect(reason, reason.reconnect())],
        }))
    }

    fn command<'a>(&'a self, _request: &'a CommandRequest<'a>) -> Reply<'a, CommandReply> {
        panic!("nobody gets this far");
    }
}

/// Accepts every client. The identifier of a subscription is the list of its streams.
pub(crate) struct Streaming;

impl Starts for Streaming {
    fn start(self, _: Publisher) -> Arc<dyn Application> {
        Arc::new(self)
    }
}

impl Application for Streaming {
    fn connect<'a>(&'a self, request: &'a ConnectRequest) -> Reply<'a, ConnectReply> {
        accept(request)
    }

    fn command<'a>(&'a self, request: &'a CommandRequest<'a>) -> Reply<'a, CommandReply> {
        Box::pin(std::future::ready(CommandReply {
            status: Status::Accepted,
            streams: request.identifier.split(' ').map(str::to_owned).collect(),
            transmissions: vec![reply::encode_confirm(request.identifier)],
            ..CommandReply::default()
        }))
    }
}
