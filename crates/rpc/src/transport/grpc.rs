//! Calls over gRPC.

mod balancer;
mod codec;
mod fixed_address;

use std::{error::Error, sync::Arc, time::Duration};

use http::{Uri, uri::Authority};
use hyper_rustls::HttpsConnector;
use hyper_util::client::legacy::connect::HttpConnector;
use tokio::time::Instant;
use tonic::{
    Code, Request, Status,
    client::Grpc as Client,
    metadata::MetadataValue,
    transport::{Channel, Endpoint},
};

use self::{balancer::Balancer, codec::CallCodec, fixed_address::FixedAddress};
use super::{PROTOCOL_VERSION, TransportOptions, Version, connect, connector};
use crate::{hosts::Hosts, proto::Call, tls, tls::TrustError};

/// A dead connection is found out by pings. Not more often than every 10 s: AnyCable's gem takes that for abuse
/// (spec §8).
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(15);

/// The longest that one address may take to connect: with several, the next one is tried.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(1);

/// One connection per address; each carries any number of calls and comes back by itself.
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
        connect_timeout: Duration,
    ) -> Result<Self, TrustError> {
        let (scheme, config) = match options.enables_tls {
            true => ("https", tls::client_config(&options.trust)?),
            false => ("http", tls::unused_config()),
        };
        let url = move |host: &Authority| -> Uri {
            let url = format!("{scheme}://{host}/");
            url.parse().expect("an authority makes a URL")
        };
        let connect_timeout = connect_timeout.min(CONNECT_TIMEOUT);
        let named = HttpConnector::new();
        let probe = connector(named, config.clone(), &Version::Http2, connect_timeout);
        let urls = hosts.authorities().iter().map(url).collect();
        let channel = move |host: &Authority, address| {
            let fixed = HttpConnector::new_with_resolver(FixedAddress(address));
            Endpoint::from(url(host))
                .connect_timeout(connect_timeout)
                .http2_keep_alive_interval(KEEPALIVE_INTERVAL)
                .keep_alive_while_idle(true)
                .connect_with_connector_lazy(connector(
                    fixed,
                    config.clone(),
                    &Version::Http2,
                    connect_timeout,
                ))
        };
        Ok(Self {
            balancer: Balancer::start(hosts.authorities(), channel),
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

    pub(super) async fn attempt<C: Call>(
        &self,
        sid: &str,
        message: &Arc<C>,
        time_left: Duration,
    ) -> Result<C::Reply, Status> {
        TransportOptions::check_request_size(self.max_request_bytes, message.encoded_len())?;
        let start = Instant::now();
        let mut failure = None;
        for member in self.balancer.order().await? {
            let time_left = time_left.saturating_sub(start.elapsed());
            match self.call(member.channel.clone(), sid, message, time_left).await {
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

    async fn call<C: Call>(
        &self,
        channel: Channel,
        sid: &str,
        message: &Arc<C>,
        time_left: Duration,
    ) -> Result<C::Reply, Status> {
        let mut request = Request::new(Arc::clone(message));
        request.set_timeout(time_left);
        let metadata = request.metadata_mut();
        metadata.insert("protov", MetadataValue::from_static(PROTOCOL_VERSION));
        metadata.insert("sid", sid.parse().expect("session ids are plain ASCII"));
        let mut client = Client::new(channel).max_decoding_message_size(self.max_reply_bytes);
        client
            .ready()
            .await
            .map_err(|error| Status::from_error(error.into()))?;
        let path = C::METHOD.grpc_path();
        let reply = client.unary(request, path, CallCodec::<C>::default()).await?;
        Ok(reply.into_inner())
    }
}

/// Whether there was no connection to call on, so that another address can be tried: an application's own statuses
/// have no source.
fn is_unconnected(status: &Status) -> bool {
    status.code() == Code::Unavailable && status.source().is_some()
}
