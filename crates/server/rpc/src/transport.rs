//! One attempt of a call over either transport.

mod connector;
mod grpc;
mod http;
mod options;
mod origin;

use std::time::Duration;

use bytes::Bytes;

use crate::{
    request::{Reply, Request},
    start_error::StartError,
    status::Status,
    target::Target,
};

#[cfg(feature = "fuzzing")]
pub(crate) use self::grpc::{message as grpc_message, outcome as grpc_outcome};
pub use self::options::TransportOptions;
use self::{grpc::Grpc, http::Http};
pub(crate) use self::{options::Place, origin::Origin};

/// One of the two transports. The larger one is boxed.
pub(crate) enum Transport {
    Grpc(Grpc),
    Http(Box<Http>),
}

impl Transport {
    /// Creates a transport. It connects at the first call. Background tasks run on the current runtime.
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

    /// Makes a connection, with TLS if configured, and closes it. `Err` is the reason of a failure.
    pub(crate) async fn probe(&self) -> Result<(), String> {
        match self {
            Self::Grpc(grpc) => grpc.probe().await,
            Self::Http(http) => http.probe().await,
        }
    }

    /// Whether the background thread makes all connections, and so has to make all calls.
    pub(crate) fn shares_connections(&self) -> bool {
        matches!(self, Self::Http(_))
    }

    /// Encodes a request. Each attempt sends these bytes.
    pub(crate) fn encode(&self, request: &impl Request) -> Bytes {
        match self {
            Self::Grpc(_) => grpc::encode(request),
            Self::Http(_) => http::encode(request),
        }
    }

    /// Sends an encoded request and reads the reply. Dropping the future cancels the attempt.
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
