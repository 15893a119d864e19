//! The connection of a fleet to NATS.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::Duration,
};

use async_nats::{
    Client, ConnectOptions, Event, RequestErrorKind, ServerAddr, Subscriber, client::Request as NatsRequest,
    connection::State,
};
use bytes::Bytes;
use rustls::ClientConfig;
use serde::{Serialize, de::DeserializeOwned};
use tokio::{
    sync::watch,
    time::{Instant, sleep, sleep_until, timeout},
};

use crate::{FleetAddress, FleetError};

/// The longest that a connection may take to be made.
const CONNECT_WITHIN: Duration = Duration::from_secs(10);

/// The time after which a request without an answer is sent again.
pub(crate) const ASK_AGAIN: Duration = Duration::from_secs(2);

/// The pause after a request that no program takes. Reason: an agent that has lost its connection is back within moments.
const NOT_TAKEN: Duration = Duration::from_millis(200);

/// The shortest limit of NATS for messages with which a fleet works, in bytes.
const LEAST_PAYLOAD: usize = 16 << 10;

/// The longest piece of a content, in bytes. Reason: longer ones hold up the other messages of the connection.
const MAX_PIECE: usize = 256 << 10;

/// A connection to the NATS of a fleet, which is made again when it is lost.
#[derive(Clone, Debug)]
pub struct Link {
    client: Client,
    prefix: Arc<str>,
    /// Since when there is a connection; `None` while there is none.
    up_since: watch::Receiver<Option<Instant>>,
}

impl Link {
    /// Connects to the first server that lets us in.
    ///
    /// # Errors
    /// There is none, or it accepts only short messages.
    pub async fn connect(address: &FleetAddress) -> Result<Self, FleetError> {
        let (up, up_since) = watch::channel(None);
        let was_lost = AtomicBool::new(false);
        let failed = |reason: String| FleetError::Connect {
            address: address.to_string(),
            reason,
        };
        let servers = address.servers().iter().cloned().map(ServerAddr::from_url);
        let servers: Vec<_> = servers
            .collect::<Result<_, _>>()
            .map_err(|error| failed(error.to_string()))?;
        let options = options(address)?.event_callback(move |event| {
            match event {
                Event::Connected => {
                    up.send_replace(Some(Instant::now()));
                    if was_lost.swap(false, Relaxed) {
                        tracing::info!("The connection to NATS is there again.");
                    }
                }
                // The last user of the connection is gone.
                Event::Disconnected | Event::Closed if up.is_closed() => {}
                Event::Disconnected | Event::Closed => {
                    up.send_replace(None);
                    was_lost.store(true, Relaxed);
                    tracing::warn!("The connection to NATS is lost; trying again.");
                }
                Event::ServerError(error) => tracing::warn!("NATS says: {error}."),
                _ => {}
            }
            std::future::ready(())
        });
        let connected = timeout(CONNECT_WITHIN, options.connect(servers)).await;
        let client = match connected {
            Ok(Ok(client)) => client,
            Ok(Err(error)) => return Err(failed(in_words(&error))),
            Err(_) => return Err(failed(format!("no answer within {} s", CONNECT_WITHIN.as_secs()))),
        };
        let max_payload = client.max_payload();
        if max_payload < LEAST_PAYLOAD {
            return Err(FleetError::SmallPayload {
                address: address.to_string(),
                max_payload,
                least: LEAST_PAYLOAD,
            });
        }
        Ok(Self {
            client,
            prefix: format!("plimsoll.{}", address.name()).into(),
            up_since,
        })
    }

    /// The longest piece of a content, in bytes.
    pub(crate) fn piece_bytes(&self) -> usize {
        (self.client.max_payload() / 2).min(MAX_PIECE)
    }

    /// The subject of agents' presence, to which each answers.
    pub(crate) fn hello(&self) -> String {
        format!("{}.hello", self.prefix)
    }

    /// The subject of requests to one agent.
    pub(crate) fn agent(&self, id: &str) -> String {
        format!("{}.agent.{id}", self.prefix)
    }

    /// A subject of a run.
    pub(crate) fn of_run(&self, run: &str, rest: &str) -> String {
        format!("{}.run.{run}.{rest}", self.prefix)
    }

    /// Since when there is a connection; `None` while there is none.
    pub(crate) fn up_since(&self) -> Option<Instant> {
        // The first connection may be told later than it is there.
        let is_up = self.client.connection_state() == State::Connected;
        (*self.up_since.borrow()).filter(|_| is_up)
    }

    /// Hears a subject.
    pub(crate) async fn subscribe(&self, subject: String) -> Result<Subscriber, FleetError> {
        let subscriber = self.client.subscribe(subject).await;
        let subscriber = subscriber.map_err(|error| FleetError::Link(error.to_string()))?;
        // What is sent from now on by others must find it.
        drop(timeout(CONNECT_WITHIN, self.client.flush()).await);
        Ok(subscriber)
    }

    /// Sends a message that may be lost.
    pub(crate) async fn publish(&self, subject: String, payload: Bytes) {
        drop(timeout(ASK_AGAIN, self.client.publish(subject, payload)).await);
    }

    /// Sends a message that may be lost, with a subject for answers.
    pub(crate) async fn scatter(&self, subject: String, reply: String) -> Result<(), FleetError> {
        let sent = self.client.publish_with_reply(subject, reply, Bytes::new()).await;
        sent.map_err(|error| FleetError::Link(error.to_string()))
    }

    /// A subject that nothing else uses.
    pub(crate) fn inbox(&self) -> String {
        self.client.new_inbox()
    }

    /// Sends what has been written, for at most a moment.
    pub(crate) async fn flush(&self) {
        drop(timeout(ASK_AGAIN, self.client.flush()).await);
    }

    /// Asks until there is an answer or the time is over.
    pub(crate) async fn ask(
        &self,
        subject: String,
        payload: Bytes,
        patience: Duration,
    ) -> Result<Bytes, FleetError> {
        let deadline = Instant::now() + patience;
        loop {
            let request = NatsRequest::new()
                .payload(payload.clone())
                .timeout(Some(ASK_AGAIN));
            let asked = tokio::select! {
                asked = self.client.send_request(subject.clone(), request) => asked,
                () = sleep_until(deadline) => return Err(FleetError::Silent(patience)),
            };
            let error = match asked {
                Ok(message) => return Ok(message.payload),
                Err(error) => error,
            };
            match error.kind() {
                RequestErrorKind::TimedOut => {}
                RequestErrorKind::NoResponders | RequestErrorKind::Other => sleep(NOT_TAKEN).await,
                RequestErrorKind::InvalidSubject | RequestErrorKind::MaxPayloadExceeded => {
                    return Err(FleetError::Link(error.to_string()));
                }
            }
            if Instant::now() >= deadline {
                return Err(FleetError::Silent(patience));
            }
        }
    }

    /// Asks in JSON, see [`Self::ask`].
    pub(crate) async fn ask_in_json<T: Serialize, R: DeserializeOwned>(
        &self,
        subject: String,
        question: &T,
        patience: Duration,
    ) -> Result<R, FleetError> {
        let answer = self.ask(subject, in_json(question), patience).await?;
        serde_json::from_slice(&answer)
            .map_err(|error| FleetError::Link(format!("an answer cannot be read: {error}")))
    }
}

/// A message as JSON.
pub(crate) fn in_json(message: &impl Serialize) -> Bytes {
    serde_json::to_vec(message)
        .expect("messages have only what JSON has")
        .into()
}

fn options(address: &FleetAddress) -> Result<ConnectOptions, FleetError> {
    let mut options = ConnectOptions::new()
        .name("plimsoll fleet")
        .connection_timeout(CONNECT_WITHIN)
        .ping_interval(Duration::from_secs(5))
        .reconnect_delay_callback(|attempts| Duration::from_millis(100 * attempts.min(10) as u64))
        .retain_servers_order()
        // Servers that others announce are reached in the same way.
        .require_tls(address.is_encrypted());
    if let Some(config) = encryption(address)? {
        options = options.tls_client_config(config);
    }
    let with_user = address
        .servers()
        .iter()
        .find(|server| !server.username().is_empty());
    if let Some(server) = with_user {
        let user = decoded(server.username());
        options = match server.password() {
            Some(password) => options.user_and_password(user, decoded(password)),
            // A user without a password is a token.
            None => options.token(user),
        };
    }
    Ok(options)
}

/// How connections are encrypted, with the system's authorities. A server may ask for encryption although its URL does not.
fn encryption(address: &FleetAddress) -> Result<Option<ClientConfig>, FleetError> {
    let is_asked_for = address.servers().iter().any(|server| server.scheme() == "tls");
    match plimsoll_trust::system_authorities() {
        Ok(authorities) => Ok(Some(plimsoll_trust::believing(authorities).with_no_client_auth())),
        Err(error) if is_asked_for => Err(FleetError::Connect {
            address: address.to_string(),
            reason: error.to_string(),
        }),
        Err(_) => Ok(None),
    }
}

fn decoded(text: &str) -> String {
    percent_encoding::percent_decode_str(text)
        .decode_utf8_lossy()
        .into_owned()
}

/// An error with its causes.
fn in_words(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let cause_text = cause.to_string();
        if !text.contains(&cause_text) {
            text = format!("{text}: {cause_text}");
        }
        source = cause.source();
    }
    text
}
