//! How one attempt of a call reaches the application.

mod grpc;
mod http;
mod origin;

use std::time::Duration;

use ::http::Uri;
use bytes::Bytes;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::connect::HttpConnector;
use plimsoll_telemetry::Registry;
use rustls::ClientConfig;
use tower_service::Service;

use crate::{
    cause,
    remote::StartError,
    request::{Reply, Request},
    status::Status,
    target::Target,
    tls::Trust,
};

#[cfg(feature = "fuzzing")]
pub(crate) use self::grpc::{message as grpc_message, outcome as grpc_outcome};
pub(crate) use self::origin::Origin;
use self::{grpc::Grpc, http::Http, origin::PerThread};

/// The version of the contract, which applications check (docs/protocols/rpc.md, Over gRPC).
const PROTOCOL_VERSION: &str = "v1";

/// The largest reply when nothing is said about it: gRPC's own default.
const DEFAULT_MAX_REPLY_BYTES: usize = 4 << 20;

/// One of the two ways; the larger one in a box.
pub(crate) enum Transport {
    Grpc(Grpc),
    Http(Box<Http>),
}

/// What both ways need to know.
#[derive(Debug, Clone)]
pub struct TransportOptions {
    /// TLS for gRPC; over HTTP the URL says it.
    pub enables_tls: bool,
    /// Whose certificates are believed.
    pub trust: Trust,
    /// The largest reply in bytes; `None`: 4 MiB.
    pub max_reply_bytes: Option<usize>,
    /// The largest request in bytes; `None`: no limit of its own, because what clients send is limited already.
    pub max_request_bytes: Option<usize>,
    /// What authenticates the server to an application over HTTP.
    pub http_secret: Option<String>,
}

/// The surroundings of a transport.
pub(crate) struct Place<'a> {
    /// Threads that make calls, besides the background thread.
    pub(crate) n_shards: usize,
    /// The longest that a connection may take to be made.
    pub(crate) connect_timeout: Duration,
    /// Calls that may be under way; more connections are not kept.
    pub(crate) concurrency: usize,
    pub(crate) registry: &'a Registry,
}

impl Transport {
    /// Connects when the first call is made. What belongs to no call runs on the runtime that this is called in.
    pub(crate) fn new(
        target: &Target,
        options: &TransportOptions,
        place: &Place<'_>,
    ) -> Result<Self, StartError> {
        Ok(match target {
            Target::Grpc(hosts) => Self::Grpc(Grpc::new(hosts, options, place)?),
            Target::Http(url) => Self::Http(Box::new(Http::new(url.clone(), options, place)?)),
        })
    }

    /// Makes a connection, with TLS where that is wanted, and closes it. `Err` says why there is none.
    pub(crate) async fn probe(&self) -> Result<(), String> {
        match self {
            Self::Grpc(grpc) => grpc.probe().await,
            Self::Http(http) => http.probe().await,
        }
    }

    /// Whether connections are made for whatever thread, by the background thread, which then has to make the calls.
    pub(crate) fn shares_connections(&self) -> bool {
        matches!(self, Self::Http(_))
    }

    /// What is sent for a request, by each attempt.
    pub(crate) fn encode(&self, request: &impl Request) -> Bytes {
        match self {
            Self::Grpc(_) => grpc::encode(request),
            Self::Http(_) => http::encode(request),
        }
    }

    /// Sends an encoded request and reads the reply; dropping it gives it up.
    pub(crate) async fn attempt<R: Reply>(
        &self,
        origin: Origin<'_>,
        message: Bytes,
        time_left: Duration,
    ) -> Result<R, Status> {
        match self {
            Self::Grpc(grpc) => grpc.attempt::<R>(origin, message, time_left).await,
            Self::Http(http) => http.attempt::<R>(origin.sid, message).await,
        }
    }
}

impl TransportOptions {
    fn max_reply_bytes(&self) -> usize {
        self.max_reply_bytes.unwrap_or(DEFAULT_MAX_REPLY_BYTES)
    }

    fn check_request_size(max_bytes: Option<usize>, n_bytes: usize) -> Result<(), Status> {
        match max_bytes {
            Some(max_bytes) if n_bytes > max_bytes => Err(Status::out_of_range(format!(
                "the request has {n_bytes} bytes, which is more than --rpc_max_call_send_size {max_bytes}"
            ))),
            _ => Ok(()),
        }
    }
}

/// One connection to this URL.
async fn connect(connector: &HttpsConnector<HttpConnector>, url: Uri) -> Result<(), String> {
    let connected = connector.clone().call(url).await;
    connected
        .map(drop)
        .map_err(|error| cause::text(&Status::unavailable("no connection").with_source(error)))
}

/// A reply that is longer than it may be.
fn too_long(max_bytes: usize) -> Status {
    Status::out_of_range(format!(
        "the reply has more than {max_bytes} bytes; a larger limit is set with --rpc_max_call_recv_size"
    ))
}

enum Version {
    Http1,
    Http2,
}

/// TCP, and TLS where the URL says so.
fn connector<R>(
    mut tcp: HttpConnector<R>,
    config: ClientConfig,
    version: &Version,
    connect_timeout: Duration,
) -> HttpsConnector<HttpConnector<R>> {
    tcp.enforce_http(false);
    tcp.set_nodelay(true);
    tcp.set_connect_timeout(Some(connect_timeout));
    let builder = HttpsConnectorBuilder::new()
        .with_tls_config(config)
        .https_or_http();
    match version {
        Version::Http1 => builder.enable_http1().wrap_connector(tcp),
        Version::Http2 => builder.enable_http2().wrap_connector(tcp),
    }
}
