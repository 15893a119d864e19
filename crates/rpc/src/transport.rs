//! How one attempt of a call reaches the application.

mod grpc;
mod http;

use std::{sync::Arc, time::Duration};

use ::http::Uri;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::connect::HttpConnector;
use rustls::ClientConfig;
use tonic::Status;
use tower_service::Service;

use crate::{cause, proto::Call, remote::StartError, target::Target, tls::Trust};

use self::{grpc::Grpc, http::Http};

/// The version of the contract, which applications check (spec §8).
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

impl Transport {
    /// Connects when the first call is made, on the runtime that this is called in. A connection must be made
    /// within `connect_timeout`; more than `concurrency` are not kept.
    pub(crate) fn new(
        target: &Target,
        options: &TransportOptions,
        connect_timeout: Duration,
        concurrency: usize,
    ) -> Result<Self, StartError> {
        Ok(match target {
            Target::Grpc(hosts) => Self::Grpc(Grpc::new(hosts, options, connect_timeout)?),
            Target::Http(url) => Self::Http(Box::new(Http::new(
                url.clone(),
                options,
                connect_timeout,
                concurrency,
            )?)),
        })
    }

    /// Makes a connection, with TLS where that is wanted, and closes it. `Err` says why there is none.
    pub(crate) async fn probe(&self) -> Result<(), String> {
        match self {
            Self::Grpc(grpc) => grpc.probe().await,
            Self::Http(http) => http.probe().await,
        }
    }

    /// Makes one attempt; dropping it gives it up.
    pub(crate) async fn attempt<C: Call>(
        &self,
        sid: &str,
        message: &Arc<C>,
        time_left: Duration,
    ) -> Result<C::Reply, Status> {
        match self {
            Self::Grpc(grpc) => grpc.attempt(sid, message, time_left).await,
            Self::Http(http) => http.attempt(sid, &**message).await,
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
    connected.map(drop).map_err(|error| {
        let mut status = Status::unavailable("no connection");
        status.set_source(error.into());
        cause::text(&status)
    })
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
