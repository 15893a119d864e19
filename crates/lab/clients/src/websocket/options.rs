//! What a connection is asked to be.

use std::{
    net::{IpAddr, SocketAddr},
    sync::Arc,
    time::Duration,
};

use crate::{target::Target, tls::Tls};

/// How to connect; one value serves any number of connections.
#[derive(Debug, Clone)]
pub struct Options {
    /// For the request line, the `Host` header and the name in the server's certificate.
    pub target: Target,
    /// Where the target is: [`Target::resolve`], asked once per run. They are tried in order.
    pub addresses: Vec<SocketAddr>,
    /// The source address; `None` leaves the choice to the system. Its port is chosen by the system at connect
    /// time (`IP_BIND_ADDRESS_NO_PORT`), so that connections to different destinations share the port range.
    pub local_address: Option<IpAddr>,
    /// How TLS is done for `wss://`; `None` believes those whom the system believes.
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
    /// The largest message that is accepted, in bytes; a larger one ends the connection with code 1009.
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
    /// Those that the server sends. What we send stays as it is, which the extension always allows.
    Received,
    /// All, ours too.
    Both,
}

impl Options {
    /// One megabyte is what websocket-bench accepts; no broadcast of a benchmark comes near.
    const DEFAULT_MAX_MESSAGE_BYTES: usize = 1_000_000;

    /// Longer than any TCP retry that still succeeds in practice (1 + 2 + 4 + 8 + 16 s of lost SYN packets), so
    /// that an overloaded server shows as slow and not as failing.
    const DEFAULT_DEADLINE: Duration = Duration::from_secs(60);

    /// Nothing but the target; everything else at its default.
    pub fn new(target: Target, addresses: Vec<SocketAddr>) -> Self {
        Self {
            target,
            addresses,
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
