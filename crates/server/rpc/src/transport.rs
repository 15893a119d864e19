//! How one attempt of a call reaches the application.

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

/// One of the two ways; the larger one in a box.
pub(crate) enum Transport {
    Grpc(Grpc),
    Http(Box<Http>),
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
