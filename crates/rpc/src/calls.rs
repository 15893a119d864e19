//! Calls to the application: which connection, which metadata, and the rules of [`retry`](crate::retry).

use std::{
    sync::atomic::{AtomicUsize, Ordering},
    time::Duration,
};

use tokio::sync::Semaphore;
use tonic::{
    Request, Status,
    client::Grpc,
    metadata::MetadataValue,
    transport::{Channel, Endpoint},
};
use tonic_prost::ProstCodec;

use crate::{hosts::Hosts, proto::Call, retry};

/// A dead connection is found out by pings. Not more often than every 10 s: AnyCable's gem takes that for abuse
/// (spec §8).
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(15);

/// The version of the contract, which applications check (spec §8).
const PROTOCOL_VERSION: &str = "v1";

/// One connection per host; each carries any number of calls and comes back by itself.
pub(crate) struct Calls {
    channels: Vec<Channel>,
    n_attempts: AtomicUsize,
    /// Fair: first come, first served.
    permits: Semaphore,
    timeout: Duration,
}

impl Calls {
    /// Connects when the first call is made, on the runtime that this is called in.
    pub(crate) fn new(hosts: &Hosts, concurrency: usize, timeout: Duration) -> Self {
        let channel = |authority| {
            Endpoint::from_shared(format!("http://{authority}"))
                .expect("an authority makes a URI")
                .connect_timeout(timeout)
                .http2_keep_alive_interval(KEEPALIVE_INTERVAL)
                .keep_alive_while_idle(true)
                .connect_lazy()
        };
        Self {
            channels: hosts.authorities().iter().map(channel).collect(),
            n_attempts: AtomicUsize::new(0),
            permits: Semaphore::new(concurrency),
            timeout,
        }
    }

    /// Makes one call for a session.
    pub(crate) async fn call<C: Call>(&self, sid: &str, message: &C) -> Result<C::Reply, Status> {
        retry::call(&self.permits, self.timeout, |time_left| {
            let mut request = Request::new(message.clone());
            request.set_timeout(time_left);
            let metadata = request.metadata_mut();
            metadata.insert("protov", MetadataValue::from_static(PROTOCOL_VERSION));
            metadata.insert("sid", sid.parse().expect("session ids are plain ASCII"));
            attempt(self.next_channel(), request)
        })
        .await
    }

    /// Hosts take turns, and an attempt that failed goes on with the next one.
    fn next_channel(&self) -> Channel {
        let n = self.n_attempts.fetch_add(1, Ordering::Relaxed);
        self.channels[n % self.channels.len()].clone()
    }
}

async fn attempt<C: Call>(channel: Channel, request: Request<C>) -> Result<C::Reply, Status> {
    let mut client = Grpc::new(channel);
    client
        .ready()
        .await
        .map_err(|error| Status::unavailable(error.to_string()))?;
    let codec = ProstCodec::<C, C::Reply>::default();
    let reply = client.unary(request, C::path(), codec).await?;
    Ok(reply.into_inner())
}
