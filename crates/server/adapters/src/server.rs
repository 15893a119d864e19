//! A Redis server and the settings of connections to it.

use std::{sync::Arc, time::Duration};

use rustls::{ClientConfig, pki_types::ServerName};
use tokio::net::TcpStream;
use tokio_rustls::{TlsConnector, client::TlsStream};

use crate::{
    sentinel::{Address, Lookout, Sentinels},
    target::{Target, TargetError},
    tls::{TlsError, TlsSettings},
};

/// One Redis server, or the primary of a group of servers that sentinels watch.
#[derive(Debug, Clone)]
pub struct Server {
    pub(crate) target: Target,
    pub(crate) encryption: Option<Encryption>,
    /// Knows where the server is. `None`: where `target` says.
    pub(crate) lookout: Option<Arc<Lookout>>,
    pub(crate) max_payload_bytes: usize,
}

/// Why there can be no connections to a server.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    /// A file cannot be used.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// The name of a sentinel cannot be in a certificate.
    #[error(transparent)]
    Target(#[from] TargetError),
}

/// The settings of an encrypted connection.
#[derive(Debug, Clone)]
pub(crate) struct Encryption {
    config: Arc<ClientConfig>,
    /// The name that the certificate must have.
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
            lookout: None,
            max_payload_bytes,
        })
    }

    /// The primary of the group that has the name of this server's host. The sentinels are asked where it is before each
    /// connection, and every `interval` whether it is another server now.
    ///
    /// # Errors
    /// As [`Server::new`], for the sentinels.
    pub fn watched_by(
        self,
        sentinels: Sentinels,
        tls: &TlsSettings,
        interval: Duration,
    ) -> Result<Self, ServerError> {
        // Their answers are short.
        const MAX_ANSWER_BYTES: usize = 1024;
        let targets = sentinels.targets(self.target.is_encrypted())?;
        let sentinels = targets
            .into_iter()
            .map(|target| Self::new(target, tls, MAX_ANSWER_BYTES))
            .collect::<Result<_, _>>()?;
        let lookout = Lookout::new(self.target.host.clone(), sentinels, interval);
        Ok(Self {
            lookout: Some(Arc::new(lookout)),
            ..self
        })
    }

    /// The same server at another address.
    pub(crate) fn at(&self, address: &Address) -> Self {
        let Address { host, port } = address.clone();
        let encryption = self.encryption.clone().map(|encryption| Encryption {
            // A host that cannot be in a certificate fails the check of the certificate.
            name: ServerName::try_from(host.clone()).unwrap_or(encryption.name),
            config: encryption.config,
        });
        Self {
            target: Target {
                host,
                port,
                ..self.target.clone()
            },
            encryption,
            lookout: None,
            max_payload_bytes: self.max_payload_bytes,
        }
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
