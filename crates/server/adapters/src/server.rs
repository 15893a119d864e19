//! A Redis server and the settings of connections to it.

use std::{sync::Arc, time::Duration};

use rustls::{ClientConfig, pki_types::ServerName};
use tokio::net::TcpStream;
use tokio_rustls::{TlsConnector, client::TlsStream};

use crate::{
    cluster::Topology,
    sentinel::{Lookout, Sentinels},
    target::{Address, RedisUrls, Target, TargetError},
    tls::{TlsError, TlsSettings},
};

/// One Redis server, the primary of a group of servers that sentinels watch, or the nodes of a Redis Cluster.
#[derive(Debug, Clone)]
pub struct Server {
    pub(crate) target: Target,
    pub(crate) encryption: Option<Encryption>,
    pub(crate) discovery: Discovery,
    pub(crate) max_payload_bytes: usize,
}

/// How the address of a server is found.
#[derive(Debug, Clone)]
pub(crate) enum Discovery {
    /// It is that of the target.
    Fixed,
    /// Sentinels know it.
    Sentinels(Arc<Lookout>),
    /// The nodes of a cluster know which one has a key.
    Cluster(Arc<Topology>),
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
            discovery: Discovery::Fixed,
            max_payload_bytes,
        })
    }

    /// The server of a URL, or the cluster of several. Payloads as for [`Server::new`].
    ///
    /// # Errors
    /// As [`Server::new`].
    pub fn at_urls(urls: RedisUrls, tls: &TlsSettings, max_payload_bytes: usize) -> Result<Self, TlsError> {
        // The answers about a cluster have short strings.
        const MAX_ANSWER_BYTES: usize = 64 << 10;
        let server = Self::new(urls.first().clone(), tls, max_payload_bytes)?;
        let RedisUrls::Cluster(targets) = urls else {
            return Ok(server);
        };
        let seeds = targets
            .into_iter()
            .map(|target| Self::new(target, tls, MAX_ANSWER_BYTES))
            .collect::<Result<_, _>>()?;
        Ok(Self {
            discovery: Discovery::Cluster(Arc::new(Topology::new(seeds))),
            ..server
        })
    }

    /// Whether this is a Redis Cluster.
    pub(crate) fn is_cluster(&self) -> bool {
        matches!(self.discovery, Discovery::Cluster(_))
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
            discovery: Discovery::Sentinels(Arc::new(lookout)),
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
            discovery: Discovery::Fixed,
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
