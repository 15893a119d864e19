//! A Redis server and the settings of connections to it.

use std::sync::Arc;

use rustls::{ClientConfig, pki_types::ServerName};
use tokio::net::TcpStream;
use tokio_rustls::{TlsConnector, client::TlsStream};

use crate::{
    target::Target,
    tls::{TlsError, TlsSettings},
};

/// One Redis server.
#[derive(Debug, Clone)]
pub struct Server {
    pub(crate) target: Target,
    pub(crate) encryption: Option<Encryption>,
    pub(crate) max_payload_bytes: usize,
}

/// The settings of an encrypted connection.
#[derive(Debug, Clone)]
pub(crate) struct Encryption {
    config: Arc<ClientConfig>,
    name: ServerName<'static>,
}

impl Server {
    /// The server of a URL. Payloads longer than `max_payload_bytes` are dropped, with a line in the log.
    ///
    /// # Errors
    /// The URL asks for encryption, and `tls` names files that cannot be used.
    pub fn new(target: Target, tls: &TlsSettings, max_payload_bytes: usize) -> Result<Self, TlsError> {
        let encryption = match &target.tls_name {
            Some(name) => Some(Encryption {
                config: Arc::new(tls.client_config()?),
                name: name.clone(),
            }),
            None => None,
        };
        Ok(Self {
            target,
            encryption,
            max_payload_bytes,
        })
    }

    /// The same server with another limit for payloads.
    #[must_use]
    pub fn with_max_payload(self, max_payload_bytes: usize) -> Self {
        Self {
            max_payload_bytes,
            ..self
        }
    }
}

impl Encryption {
    pub(crate) async fn connect(&self, stream: TcpStream) -> std::io::Result<TlsStream<TcpStream>> {
        TlsConnector::from(Arc::clone(&self.config))
            .connect(self.name.clone(), stream)
            .await
    }
}
