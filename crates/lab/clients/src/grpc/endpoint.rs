//! A server, and how to connect to it.

use std::{
    net::{IpAddr, SocketAddr},
    rc::Rc,
    sync::Arc,
};

use h2::client::Builder;

use super::ConnectError;
use crate::{
    dial::{Dialer, Traffic},
    http2::{NOT_SETTLED, Shared},
    stream::Stream,
    tls::{Application, Tls},
};

/// How much a server may send ahead on one stream. A stream whose messages are not taken holds no more.
const STREAM_WINDOW_BYTES: u32 = 1 << 20;

/// The same for all streams of a connection together.
const CONNECTION_WINDOW_BYTES: u32 = 16 << 20;

/// The longest head of a response, and the longest trailers.
const MAX_HEADER_BYTES: u32 = 256 << 10;

/// The longest message that a server may send, unless the caller says otherwise.
const MAX_RECEIVED_BYTES: usize = 4 << 20;

/// A server, and the rules for connections to it.
#[derive(Debug, Clone)]
pub struct Endpoint {
    /// A name or an address, without brackets.
    pub host: String,
    /// The port.
    pub port: u16,
    /// The server's name in requests and for its certificate: `host:port` by default.
    pub authority: String,
    /// TLS; `None` for plain HTTP/2.
    pub tls: Option<Arc<Tls>>,
    /// The rules of the run.
    pub dialer: Arc<Dialer>,
    /// The source address; `None` leaves the choice to the system.
    pub source: Option<IpAddr>,
    /// The field `user-agent`; empty for none.
    pub user_agent: String,
    /// The longest message that the server may send, in bytes.
    pub max_received_bytes: usize,
    /// The longest message that is sent, in bytes.
    pub max_sent_bytes: usize,
}

/// An open connection.
pub(super) struct Connection {
    pub(super) shared: Shared,
    pub(super) remote: SocketAddr,
}

impl Endpoint {
    /// A server in plain HTTP/2, with the limits of gRPC's libraries.
    pub fn new(host: &str, port: u16, dialer: Arc<Dialer>) -> Self {
        let is_v6 = host.contains(':');
        let authority = if is_v6 {
            format!("[{host}]:{port}")
        } else {
            format!("{host}:{port}")
        };
        Self {
            host: host.to_owned(),
            port,
            authority,
            tls: None,
            dialer,
            source: None,
            user_agent: String::new(),
            max_received_bytes: MAX_RECEIVED_BYTES,
            max_sent_bytes: i32::MAX as usize,
        }
    }

    /// The name on the server's certificate.
    fn server_name(&self) -> &str {
        let name = match self.authority.rsplit_once(':') {
            Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
            _ => &self.authority,
        };
        name.trim_start_matches('[').trim_end_matches(']')
    }

    /// Connects, and waits until the server speaks HTTP/2.
    pub(super) async fn open(&self, traffic: &Rc<Traffic>) -> Result<Connection, ConnectError> {
        let remote = self.dialer.locate(&self.host, self.port).await?;
        let tcp = self.dialer.connect(remote, self.source, traffic).await?;
        let stream = match &self.tls {
            None => Stream::Plain(tcp),
            Some(tls) => {
                let stream = tls.connect(self.server_name(), Application::Http2, tcp).await?;
                if stream.get_ref().1.alpn_protocol() != Some(b"h2") {
                    return Err(ConnectError::NoHttp2);
                }
                Stream::Tls(Box::new(stream))
            }
        };
        let handshake = Builder::new()
            .enable_push(false)
            .initial_window_size(STREAM_WINDOW_BYTES)
            .initial_connection_window_size(CONNECTION_WINDOW_BYTES)
            .max_header_list_size(MAX_HEADER_BYTES)
            .initial_max_send_streams(NOT_SETTLED)
            .handshake(stream);
        let handshake = handshake.await.map_err(|_| ConnectError::Preface("EOF"))?;
        let shared = Shared::new(handshake);
        if !shared.settled().await {
            return Err(ConnectError::Preface("the server does not speak HTTP/2"));
        }
        Ok(Connection { shared, remote })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_server_has_no_port() {
        let check = |authority: &str, expected: &str| {
            let endpoint = Endpoint {
                authority: authority.to_owned(),
                ..Endpoint::new("a", 1, Arc::default())
            };
            assert_eq!(endpoint.server_name(), expected);
        };
        check("example.com:443", "example.com");
        check("example.com", "example.com");
        check("[::1]:443", "::1");
        assert_eq!(Endpoint::new("::1", 1, Arc::default()).authority, "[::1]:1");
    }
}
