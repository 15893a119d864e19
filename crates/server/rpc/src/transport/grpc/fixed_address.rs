//! A resolver that knows one address. The balancer has resolved the name; TLS and the request still use the name.

use std::{convert::Infallible, future, iter, net::SocketAddr, task};

use hyper_util::client::legacy::connect::dns::Name;
use tower_service::Service;

/// Resolves every name to this address.
#[derive(Debug, Clone)]
pub(super) struct FixedAddress(pub(super) SocketAddr);

impl Service<Name> for FixedAddress {
    type Response = iter::Once<SocketAddr>;
    type Error = Infallible;
    type Future = future::Ready<Result<Self::Response, Infallible>>;

    fn poll_ready(&mut self, _: &mut task::Context<'_>) -> task::Poll<Result<(), Infallible>> {
        task::Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: Name) -> Self::Future {
        future::ready(Ok(iter::once(self.0)))
    }
}
