//! The listener for clients under test, with or without TLS.

use std::{io, net::SocketAddr, sync::Arc};

use rustls::ServerConfig;
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

use crate::address::Duplex;

/// A listener for clients under test.
pub struct Listener {
    listener: TcpListener,
    tls: Option<TlsAcceptor>,
}

impl Listener {
    /// Listens; with `tls`, to clients that speak it.
    ///
    /// # Errors
    /// The address is taken, or not one of this machine.
    pub async fn bind(address: SocketAddr, tls: Option<Arc<ServerConfig>>) -> io::Result<Self> {
        Ok(Self {
            listener: TcpListener::bind(address).await?,
            tls: tls.map(TlsAcceptor::from),
        })
    }

    /// The address of the listener, as the beginning of URLs: `ws://127.0.0.1:9001`.
    ///
    /// # Errors
    /// The system does not say.
    pub fn origin(&self) -> io::Result<String> {
        let scheme = if self.tls.is_some() { "wss" } else { "ws" };
        Ok(format!("{scheme}://{}", self.listener.local_addr()?))
    }

    /// The next client, of which nothing is known yet.
    pub(super) async fn accept(&self) -> io::Result<TcpStream> {
        let (socket, _) = self.listener.accept().await?;
        socket.set_nodelay(true)?;
        Ok(socket)
    }

    /// The client's bytes; behind the handshake of TLS, if that is spoken here.
    pub(super) async fn secure(&self, socket: TcpStream) -> io::Result<Box<dyn Duplex>> {
        Ok(match &self.tls {
            Some(tls) => Box::new(tls.accept(socket).await?),
            None => Box::new(socket),
        })
    }
}
