//! Calls over gRPC.

use std::{
    sync::atomic::{AtomicUsize, Ordering},
    time::Duration,
};

use http::Uri;
use hyper_rustls::HttpsConnector;
use hyper_util::client::legacy::connect::HttpConnector;
use tonic::{
    Request, Status,
    client::Grpc as Client,
    metadata::MetadataValue,
    transport::{Channel, Endpoint},
};
use tonic_prost::ProstCodec;

use super::{PROTOCOL_VERSION, TransportOptions, Version, connect, connector};
use crate::{hosts::Hosts, proto::Call, tls, tls::TrustError};

/// A dead connection is found out by pings. Not more often than every 10 s: AnyCable's gem takes that for abuse
/// (spec §8).
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(15);

/// One connection per host; each carries any number of calls and comes back by itself.
pub(crate) struct Grpc {
    channels: Vec<Channel>,
    urls: Vec<Uri>,
    connector: HttpsConnector<HttpConnector>,
    n_attempts: AtomicUsize,
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
        let connector = connector(config, &Version::Http2, connect_timeout);
        let url = |authority| -> Uri {
            let url = format!("{scheme}://{authority}/");
            url.parse().expect("an authority makes a URL")
        };
        let urls: Vec<_> = hosts.authorities().iter().map(url).collect();
        let channel = |url: &Uri| {
            Endpoint::from(url.clone())
                .connect_timeout(connect_timeout)
                .http2_keep_alive_interval(KEEPALIVE_INTERVAL)
                .keep_alive_while_idle(true)
                .connect_with_connector_lazy(connector.clone())
        };
        Ok(Self {
            channels: urls.iter().map(channel).collect(),
            urls,
            connector: connector.clone(),
            n_attempts: AtomicUsize::new(0),
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
        message: &C,
        time_left: Duration,
    ) -> Result<C::Reply, Status> {
        TransportOptions::check_request_size(self.max_request_bytes, message.encoded_len())?;
        let mut request = Request::new(message.clone());
        request.set_timeout(time_left);
        let metadata = request.metadata_mut();
        metadata.insert("protov", MetadataValue::from_static(PROTOCOL_VERSION));
        metadata.insert("sid", sid.parse().expect("session ids are plain ASCII"));
        let mut client = Client::new(self.next_channel()).max_decoding_message_size(self.max_reply_bytes);
        client
            .ready()
            .await
            .map_err(|error| Status::from_error(error.into()))?;
        let codec = ProstCodec::<C, C::Reply>::default();
        let reply = client.unary(request, C::METHOD.grpc_path(), codec).await?;
        Ok(reply.into_inner())
    }

    /// Hosts take turns, and an attempt that failed goes on with the next one.
    fn next_channel(&self) -> Channel {
        let n = self.n_attempts.fetch_add(1, Ordering::Relaxed);
        self.channels[n % self.channels.len()].clone()
    }
}
