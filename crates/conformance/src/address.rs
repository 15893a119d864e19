//! The address of a server, with or without TLS, and connections to it.

use std::{fmt::Debug, io, sync::Arc};

use rustls::{ClientConfig, pki_types::ServerName};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpStream,
};
use tokio_rustls::TlsConnector;
use url::Url;

/// Bytes to and from another end, with TLS or without.
pub(crate) trait Duplex: AsyncRead + AsyncWrite + Debug + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Debug + Send + Unpin> Duplex for T {}

/// The reason why there is no connection.
#[derive(Debug, thiserror::Error)]
pub enum DialError {
    /// An address on which, as a rule, no program listens.
    #[error(transparent)]
    Unreachable(#[from] io::Error),
    /// The certificate is not believed, as a rule.
    #[error(
        "TLS fails: {0}; --cacert FILE names the authority that signed its certificate, --insecure accepts any \
         certificate"
    )]
    Tls(io::Error),
}

/// A host and its port.
#[derive(Clone, Debug)]
pub(crate) struct Address {
    host: String,
    port: u16,
    tls: Option<Arc<ClientConfig>>,
}

impl Address {
    /// The address of a URL, if the URL has a host. With `tls`, connections are encrypted.
    pub(crate) fn of(url: &Url, usual_port: u16, tls: Option<Arc<ClientConfig>>) -> Option<Self> {
        Some(Self {
            host: url.host_str()?.to_owned(),
            port: url.port().unwrap_or(usual_port),
            tls,
        })
    }

    /// The host, as a URL has it: an IPv6 address in brackets.
    pub(crate) fn host(&self) -> &str {
        &self.host
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    pub(crate) fn with_port(&self, port: u16) -> Self {
        Self { port, ..self.clone() }
    }

    pub(crate) fn is_secure(&self) -> bool {
        self.tls.is_some()
    }

    /// `host:port`, as the field `Host` has it.
    pub(crate) fn authority(&self) -> String {
        format!("{}:{}", self.host, self.port)
    }

    /// A fresh connection, secured where that is wanted. What is written goes out at once.
    ///
    /// # Errors
    /// See [`DialError`].
    pub(crate) async fn dial(&self) -> Result<Box<dyn Duplex>, DialError> {
        let bare_host = self.host.trim_matches(['[', ']']);
        let socket = TcpStream::connect((bare_host, self.port)).await?;
        socket.set_nodelay(true)?;
        let Some(tls) = &self.tls else {
            return Ok(Box::new(socket));
        };
        let name = ServerName::try_from(bare_host.to_owned()).map_err(io::Error::other)?;
        let secured = TlsConnector::from(Arc::clone(tls)).connect(name, socket).await;
        Ok(Box::new(secured.map_err(DialError::Tls)?))
    }
}
