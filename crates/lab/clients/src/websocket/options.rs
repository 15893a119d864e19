//! Options of a connection.

use std::{
    net::{IpAddr, SocketAddr},
    sync::Arc,
    time::Duration,
};

use crate::{dial::Proxy, target::Target, tls::Tls};

/// Options of a connection. One value serves any number of connections.
#[derive(Debug, Clone)]
pub struct Options {
    /// For the request line, the `Host` header and the name in the server's certificate.
    pub target: Target,
    /// The target's addresses: [`Target::resolve`], called once per run. They are tried in order.
    pub addresses: Vec<SocketAddr>,
    /// The proxy that stands at these addresses in place of the target; `None` without a proxy.
    pub proxy: Option<Arc<Proxy>>,
    /// The source address; `None` leaves the choice to the system. Its port is chosen by the system at connect
    /// time (`IP_BIND_ADDRESS_NO_PORT`), so that connections to different destinations share the port range.
    pub local_address: Option<IpAddr>,
    /// The TLS settings for `wss://`. `None` trusts the system's authorities.
    pub tls: Option<Arc<Tls>>,
    /// The `Host` header, when it is not the target's.
    pub host: Option<String>,
    /// The `Origin` header.
    pub origin: Option<String>,
    /// Sub-protocols to offer, the preferred one first.
    pub protocols: Vec<String>,
    /// More header lines, for example `("Cookie", "uid=1")`.
    pub headers: Vec<(String, String)>,
    /// Whether permessage-deflate (RFC 7692) is offered. There is never context takeover, so that idle connections
    /// hold no compression state.
    pub compression: Compression,
    /// The largest accepted message, in bytes. A larger one ends the connection with code 1009.
    pub max_message_bytes: usize,
    /// From before the TCP connect until the upgrade is accepted.
    pub deadline: Duration,
}

/// Which messages may be compressed, if the server agrees.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Compression {
    /// None.
    #[default]
    Off,
    /// Messages from the server. Our messages are sent uncompressed, which the extension always allows.
    Received,
    /// All, ours too.
    Both,
}

impl Options {
    /// websocket-bench's limit of one megabyte; no broadcast of a benchmark comes near it.
    const DEFAULT_MAX_MESSAGE_BYTES: usize = 1_000_000;

    /// Longer than any TCP retry that still succeeds in practice (1 + 2 + 4 + 8 + 16 s of lost SYN packets), so
    /// that an overloaded server shows as slow and not as failing.
    const DEFAULT_DEADLINE: Duration = Duration::from_secs(60);

    /// Default options for the target.
    pub fn new(target: Target, addresses: Vec<SocketAddr>) -> Self {
        Self {
            target,
            addresses,
            proxy: None,
            local_address: None,
            tls: None,
            host: None,
            origin: None,
            protocols: Vec::new(),
            headers: Vec::new(),
            compression: Compression::Off,
            max_message_bytes: Self::DEFAULT_MAX_MESSAGE_BYTES,
            deadline: Self::DEFAULT_DEADLINE,
        }
    }
}
