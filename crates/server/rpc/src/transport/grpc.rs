//! Calls over gRPC, directly on HTTP/2. Unary calls need few of gRPC's many features, and each layer in between would
//! cost as much as the call.

mod balancer;
mod call;
mod channel;
mod fixed_address;
mod trailers;
mod write_counter;

use std::time::Duration;

use bytes::Bytes;
use http::{Uri, uri::Authority};
use hyper_rustls::HttpsConnector;
use hyper_util::client::legacy::connect::HttpConnector;
use tokio::time::Instant;

pub(super) use self::call::encode;
use self::{
    balancer::{Balancer, Member},
    channel::{Channel, Endpoint},
    fixed_address::FixedAddress,
};
#[cfg(feature = "fuzzing")]
pub(crate) use self::{call::message, trailers::outcome};
use super::{
    connector::{Version, connect, connector},
    options::{Place, TransportOptions},
    origin::{Origin, PerThread},
};
use crate::{
    hosts::Hosts,
    proto::Method,
    request::Reply,
    status::{Code, Status},
    tls,
    tls::TrustError,
};

/// The longest time to connect to one address. If there are several, the next one is tried.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(1);

/// One connection per thread and address. Each carries any number of calls and reconnects on its own.
pub(crate) struct Grpc {
    balancer: Balancer,
    urls: Vec<Uri>,
    connector: HttpsConnector<HttpConnector>,
    max_reply_bytes: usize,
    max_request_bytes: Option<usize>,
}

impl Grpc {
    pub(super) fn new(
        hosts: &Hosts,
        options: &TransportOptions,
        place: &Place<'_>,
    ) -> Result<Self, TrustError> {
        let (scheme, config) = if options.enables_tls {
            ("https", tls::client_config(&options.trust)?)
        } else {
            ("http", tls::unused_config())
        };
        let url = move |host: &Authority, path: &str| -> Uri {
            let url = format!("{scheme}://{host}{path}");
            url.parse().expect("an authority and a path make a URL")
        };
        let timeout = place.connect_timeout.min(CONNECT_TIMEOUT);
        let named = HttpConnector::new();
        let probe = connector(named, config.clone(), &Version::Http2, timeout);
        let urls = hosts.authorities().iter().map(|host| url(host, "/")).collect();
        let n_connections = place
            .registry
            .gauge("grpc_active_conn_num", "gRPC connections to the application");
        let n_shards = place.n_shards;
        let channels = move |host: &Authority, address| {
            let fixed = HttpConnector::new_with_resolver(FixedAddress(address));
            let endpoint = Endpoint {
                connector: connector(fixed, config.clone(), &Version::Http2, timeout),
                urls: Method::ALL.map(|method| url(host, method.grpc_path())),
                timeout,
                n_connections: n_connections.clone(),
            };
            PerThread::new(n_shards, || Channel::new(endpoint.clone()))
        };
        Ok(Self {
            balancer: Balancer::start(hosts.authorities(), channels),
            urls,
            connector: probe,
            max_reply_bytes: options.max_reply_bytes(),
            max_request_bytes: options.max_request_bytes,
        })
    }

    pub(super) async fn probe(&self) -> Result<(), String> {
        let mut result = Ok(());
        for url in &self.urls {
            result = connect(&self.connector, url.clone()).await;
            if result.is_ok() {
                break;
            }
        }
        result
    }

    pub(super) async fn attempt<R: Reply>(
        &self,
        origin: Origin<'_>,
        message: Bytes,
        time_left: Duration,
    ) -> Result<R, Status> {
        TransportOptions::check_request_size(self.max_request_bytes, call::message_len(&message))?;
        let reply = self.reply(R::METHOD, origin, message, time_left).await?;
        R::decode(reply).map_err(|error| Status::internal(format!("the reply is invalid: {error}")))
    }

    /// The encoded reply of the first address that can be reached.
    async fn reply(
        &self,
        method: Method,
        origin: Origin<'_>,
        message: Bytes,
        time_left: Duration,
    ) -> Result<Bytes, Status> {
        let deadline = Instant::now() + time_left;
        let mut failure = None;
        for member in self.balancer.order().await? {
            let result = self
                .call(&member, method, origin, message.clone(), deadline)
                .await;
            match result {
                Err(status) if is_unconnected(&status) => {
                    self.balancer.failed(&member);
                    failure = Some(status);
                }
                result => {
                    member.works();
                    return result;
                }
            }
        }
        Err(failure.unwrap_or_else(|| Status::unavailable("the application's name has no address")))
    }

    async fn call(
        &self,
        member: &Member,
        method: Method,
        origin: Origin<'_>,
        message: Bytes,
        deadline: Instant,
    ) -> Result<Bytes, Status> {
        let channel = member.channels.of(origin);
        let sender = channel.ready().await?;
        let time_left = deadline.saturating_duration_since(Instant::now());
        let head = call::head(channel.url(method), origin.sid, time_left);
        call::exchange(sender, head, message, self.max_reply_bytes).await
    }
}

/// Whether there was no connection for the call, so that another address can be tried. An application's own statuses
/// have no source.
fn is_unconnected(status: &Status) -> bool {
    status.code() == Code::Unavailable && status.source().is_some()
}
