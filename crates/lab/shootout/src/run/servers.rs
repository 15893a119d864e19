//! The servers of a run: their addresses, and the ways to them.

use std::net::SocketAddr;

use plimsoll_clients::{target::Target, websocket};

use super::{Preflight, RunError};
use crate::options::Common;

/// A server with its addresses, of which there is at least one.
pub(crate) type Located = (Target, Vec<SocketAddr>);

/// All servers of the run, those of `common.nodes` last.
pub(crate) async fn resolve(common: &Common) -> Result<Vec<Located>, RunError> {
    let mut servers = Vec::new();
    for target in [&common.target].into_iter().chain(&common.nodes) {
        servers.push((target.clone(), target.resolve().await?));
    }
    Ok(servers)
}

/// The ways to each server: one set of options per source address.
pub(crate) fn routes(
    servers: Vec<Located>,
    common: &Common,
    n_clients: Option<usize>,
    n_padding_bytes: usize,
) -> Vec<Vec<websocket::Options>> {
    let routes = servers.into_iter().map(|(target, addresses)| {
        let preflight = Preflight::new(addresses[0].ip(), &common.local_addresses);
        let mut websocket = websocket::Options::new(target, addresses);
        websocket.origin = Some(common.origin.clone());
        websocket.protocols = common.sub_protocol.iter().cloned().collect();
        websocket.headers = common.headers.clone();
        websocket.tls = common.tls.clone();
        websocket.deadline = common.connect_timeout;
        websocket.max_message_bytes += n_padding_bytes;
        preflight.routes(&websocket, n_clients)
    });
    routes.collect()
}
