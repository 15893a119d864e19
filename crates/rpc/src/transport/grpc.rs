//! Calls over gRPC.

use std::{
    sync::atomic::{AtomicUsize, Ordering},
    time::Duration,
};

use tonic::{
    Request, Status,
    client::Grpc as Client,
    metadata::MetadataValue,
    transport::{Channel, Endpoint},
};
use tonic_prost::ProstCodec;

use super::{PROTOCOL_VERSION, TransportOptions, Version, connector};
use crate::{hosts::Hosts, proto::Call, tls, tls::TrustError};

/// A dead connection is found out by pings. Not more often than every 10 s: AnyCable's gem takes that for abuse
/// (spec §8).
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(15);

/// One connection per host; each carries any number of calls and comes back by itself.
pub(crate) struct Grpc {
    channels: Vec<Channel>,
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
        let channel = |authority| {
            Endpoint::from_shared(format!("{scheme}://{authority}"))
                .expect("an authority makes a URI")
                .connect_timeout(connect_timeout)
                .http2_keep_alive_interval(KEEPALIVE_INTERVAL)
                .keep_alive_while_idle(true)
                .connect_with_connector_lazy(connector.clone())
        };
        Ok(Self {
            channels: hosts.authorities().iter().map(channel).collect(),
            n_attempts: AtomicUsize::new(0),
            max_reply_bytes: options.max_reply_bytes(),
            max_request_bytes: options.max_request_bytes,
        })
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
