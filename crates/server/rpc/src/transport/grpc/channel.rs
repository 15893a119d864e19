//! One thread's connection to one address: made when a call needs it, and again when it is lost.

use std::time::Duration;

use bytes::Bytes;
use h2::client::{self, Connection, SendRequest};
use http::Uri;
use hyper_rustls::{HttpsConnector, MaybeHttpsStream};
use hyper_util::{client::legacy::connect::HttpConnector, rt::TokioIo};
use plimsoll_telemetry::Gauge;
use tokio::{
    net::TcpStream,
    sync::Mutex,
    time::{Instant, sleep, timeout},
};
use tower_service::Service;

use super::{
    fixed_address::FixedAddress,
    write_counter::{self, Writes},
};
use crate::{proto::Method, status::Status};

/// The time between pings that detect a dead connection. AnyCable's gem accepts at most one ping every 10 s
/// (docs/protocols/rpc.md, Over gRPC).
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(15);
/// How long a ping may stay unanswered.
const KEEPALIVE_TIMEOUT: Duration = Duration::from_secs(20);

/// Bytes of a reply that may be in flight before the application learns that they were read. Only a huge reply has to
/// wait for that.
const STREAM_WINDOW_BYTES: u32 = 1 << 20;
/// The limit for all replies of a connection together.
const CONNECTION_WINDOW_BYTES: u32 = 4 << 20;
/// The most bytes of a reply's head or trailers.
const MAX_HEADER_BYTES: u32 = 16 << 10;
/// The most calls on a connection before the application has announced its limit: the least that HTTP/2 recommends (RFC
/// 9113 §6.5.2).
const FIRST_MAX_CALLS: usize = 100;

type Stream = write_counter::Counted<TokioIo<MaybeHttpsStream<TokioIo<TcpStream>>>>;

/// The settings of connections to an address.
#[derive(Clone)]
pub(super) struct Endpoint {
    pub(super) connector: HttpsConnector<HttpConnector<FixedAddress>>,
    /// The URLs of the calls, by [`Method`]. The host is also the name on the certificate.
    pub(super) urls: [Uri; Method::COUNT],
    /// Time for TCP and TLS together.
    pub(super) timeout: Duration,
    /// Counts open connections.
    pub(super) n_connections: Gauge,
}

/// A connection for any number of calls.
pub(super) struct Channel {
    endpoint: Endpoint,
    state: Mutex<State>,
}

/// A handle of a connection, for calls.
#[derive(Clone)]
pub(super) struct Sender {
    pub(super) requests: SendRequest<Bytes>,
    pub(super) writes: Writes,
}

#[derive(Default)]
struct State {
    sender: Option<Sender>,
    /// When and why the last connection attempt failed.
    failure: Option<(Instant, Status)>,
}

impl Channel {
    pub(super) fn new(endpoint: Endpoint) -> Self {
        Self {
            endpoint,
            state: Mutex::default(),
        }
    }

    /// The URL of a call.
    pub(super) fn url(&self, method: Method) -> Uri {
        self.endpoint.url(method)
    }

    /// A handle to send requests with. Makes a connection if there is none. Concurrent callers share it, or its
    /// failure.
    pub(super) async fn ready(&self) -> Result<Sender, Status> {
        if let Ok(state) = self.state.try_lock()
            && let Some(sender) = live(&state).await
        {
            return Ok(sender);
        }
        let asked = Instant::now();
        let mut state = self.state.lock().await;
        if let Some(sender) = live(&state).await {
            return Ok(sender);
        }
        if let Some((at, failure)) = &state.failure
            && *at >= asked
        {
            return Err(failure.clone());
        }
        match self.endpoint.connect().await {
            Ok(sender) => Ok(state.sender.insert(sender).clone()),
            Err(failure) => {
                state.failure = Some((Instant::now(), failure.clone()));
                Err(failure)
            }
        }
    }
}

/// A handle of the connection, unless it has ended or is about to.
async fn live(state: &State) -> Option<Sender> {
    let Sender { requests, writes } = state.sender.clone()?;
    let requests = requests.ready().await.ok()?;
    Some(Sender { requests, writes })
}

impl Endpoint {
    fn url(&self, method: Method) -> Uri {
        self.urls[method as usize].clone()
    }

    async fn connect(&self) -> Result<Sender, Status> {
        let connecting = self.connector.clone().call(self.url(Method::Connect));
        let stream = match timeout(self.timeout, connecting).await {
            Ok(connected) => connected.map_err(|error| unconnected().with_source(error))?,
            Err(elapsed) => return Err(unconnected().with_source(elapsed)),
        };
        let writes = Writes::default();
        let handshake = client::Builder::new()
            .enable_push(false)
            .initial_window_size(STREAM_WINDOW_BYTES)
            .initial_connection_window_size(CONNECTION_WINDOW_BYTES)
            .max_header_list_size(MAX_HEADER_BYTES)
            .initial_max_send_streams(FIRST_MAX_CALLS)
            .handshake(writes.of(TokioIo::new(stream)));
        let (requests, connection) = handshake
            .await
            .map_err(|error| unconnected().with_source(error))?;
        tokio::spawn(drive(connection, Living::new(&self.n_connections)));
        Ok(Sender { requests, writes })
    }
}

fn unconnected() -> Status {
    Status::unavailable("no connection to the application")
}

/// Reads and writes until the connection ends. Its calls learn the reason.
async fn drive(mut connection: Connection<Stream, Bytes>, _living: Living) {
    let pings = connection.ping_pong().expect("nobody has asked for it yet");
    tokio::select! {
        biased;
        _told_to_the_calls = connection => {}
        () = silence(pings) => tracing::debug!("A connection to the application is given up: no pings come back."),
    }
}

/// Completes when a ping was not answered in time.
async fn silence(mut pings: h2::PingPong) {
    loop {
        sleep(KEEPALIVE_INTERVAL).await;
        let pong = timeout(KEEPALIVE_TIMEOUT, pings.ping(h2::Ping::opaque())).await;
        if !matches!(pong, Ok(Ok(_))) {
            return;
        }
    }
}

/// Counts a connection while it lives.
struct Living(Gauge);

impl Living {
    fn new(gauge: &Gauge) -> Self {
        gauge.add(1);
        Self(gauge.clone())
    }
}

impl Drop for Living {
    fn drop(&mut self) {
        self.0.sub(1);
    }
}
