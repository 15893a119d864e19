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

/// The time between pings that find a dead connection. AnyCable's gem accepts one ping every 10 s at most
/// (docs/protocols/rpc.md, Over gRPC).
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(15);
/// How long a ping may go without an answer.
const KEEPALIVE_TIMEOUT: Duration = Duration::from_secs(20);

/// Bytes of a reply that may be on their way before the application hears that they were read: no reply that is not
/// huge waits for that.
const STREAM_WINDOW_BYTES: u32 = 1 << 20;
/// The same for all replies of a connection together.
const CONNECTION_WINDOW_BYTES: u32 = 4 << 20;
/// The most bytes of a reply's head or trailers.
const MAX_HEADER_BYTES: u32 = 16 << 10;
/// Calls on a connection before the application has said how many it takes: what HTTP/2 recommends to allow at the
/// least (RFC 9113 §6.5.2).
const FIRST_MAX_CALLS: usize = 100;

type Stream = write_counter::Counted<TokioIo<MaybeHttpsStream<TokioIo<TcpStream>>>>;

/// How connections to an address are made.
#[derive(Clone)]
pub(super) struct Endpoint {
    pub(super) connector: HttpsConnector<HttpConnector<FixedAddress>>,
    /// Where each call goes, by [`Method`]; the host is also the name on the certificate.
    pub(super) urls: [Uri; Method::COUNT],
    /// Time for TCP and TLS together.
    pub(super) timeout: Duration,
    /// Counts connections that live.
    pub(super) n_connections: Gauge,
}

/// Carries any number of calls.
pub(super) struct Channel {
    endpoint: Endpoint,
    state: Mutex<State>,
}

/// A connection as calls have it.
#[derive(Clone)]
pub(super) struct Sender {
    pub(super) requests: SendRequest<Bytes>,
    pub(super) writes: Writes,
}

#[derive(Default)]
struct State {
    sender: Option<Sender>,
    /// Why and when the last connection could not be made.
    failure: Option<(Instant, Status)>,
}

impl Channel {
    pub(super) fn new(endpoint: Endpoint) -> Self {
        Self {
            endpoint,
            state: Mutex::default(),
        }
    }

    /// Where a call goes.
    pub(super) fn url(&self, method: Method) -> Uri {
        self.endpoint.url(method)
    }

    /// Something to send requests with. Makes a connection if there is none; whoever else asks meanwhile shares it, or
    /// the failure.
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

/// Reads and writes until the connection ends; its calls learn from it why.
async fn drive(mut connection: Connection<Stream, Bytes>, _living: Living) {
    let pings = connection.ping_pong().expect("nobody has asked for it yet");
    tokio::select! {
        biased;
        _told_to_the_calls = connection => {}
        () = silence(pings) => tracing::debug!("A connection to the application is given up: no pings come back."),
    }
}

/// Completes when a ping stays without an answer.
async fn silence(mut pings: h2::PingPong) {
    loop {
        sleep(KEEPALIVE_INTERVAL).await;
        let pong = timeout(KEEPALIVE_TIMEOUT, pings.ping(h2::Ping::opaque())).await;
        if !matches!(pong, Ok(Ok(_))) {
            return;
        }
    }
}

/// Counts itself while it lives.
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
