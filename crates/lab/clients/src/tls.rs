//! TLS of all clients: trusted authorities, offered versions and cipher suites, client certificates (k6's `tls*`
//! options).
//!
//! Sessions are never resumed: each virtual user stands for another person, who would make a full handshake.

mod error;
mod identity;
mod version;

use std::{
    fmt,
    sync::{Arc, OnceLock},
};

use plimsoll_trust::{Authorities, Offer, system_authorities};
use rustls::{
    ClientConfig, KeyLogFile, RootCertStore, SupportedCipherSuite, client::Resumption,
    crypto::ring::ALL_CIPHER_SUITES, pki_types::ServerName,
};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_rustls::{TlsConnector, client::TlsStream};

pub use self::{
    error::{HandshakeError, TlsError},
    identity::Identity,
    version::{TlsVersion, Versions},
};

/// The trusted certificates.
#[derive(Debug, Clone, Default)]
pub enum Believe {
    /// Certificates signed by the system's authorities, which are read when the first connection needs them.
    #[default]
    System,
    /// Certificates that these authorities trust.
    Authorities(Authorities),
    /// All certificates (`insecureSkipTLSVerify`).
    Anybody,
}

/// The TLS options of connections. The default is k6's without options.
#[derive(Debug, Clone, Default)]
pub struct TlsOptions {
    /// The trusted certificates.
    pub believe: Believe,
    /// The offered protocol versions.
    pub versions: Versions,
    /// IANA names of the cipher suites for TLS 1.2, for example `TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256`; `None` is
    /// all of them. Those of TLS 1.3 are always offered.
    pub cipher_suites: Option<Vec<String>>,
    /// Client certificates. The first one for a host is used.
    pub identities: Vec<Identity>,
    /// Whether the handshake leaves out the server's name (SNI, RFC 6066 §3).
    pub hides_server_name: bool,
}

/// The protocol on top, as offered in the handshake (ALPN, RFC 7301).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Application {
    /// HTTP/1.1 only, for WebSockets.
    Http1,
    /// HTTP/2, and HTTP/1.1 for servers without HTTP/2.
    Http2,
}

/// Makes TLS connections. One value serves all workers of a run.
pub struct Tls {
    options: TlsOptions,
    offer: Offer,
    built: OnceLock<Result<Configs, HandshakeError>>,
}

/// One pair for connections without a client certificate, then one for each identity.
struct Configs(Vec<Pair>);

struct Pair {
    http1: Arc<ClientConfig>,
    http2: Arc<ClientConfig>,
}

impl Tls {
    /// Checks the options. The system's authorities are not read yet.
    ///
    /// # Errors
    /// No connection could be made with these options.
    pub fn new(options: TlsOptions) -> Result<Self, TlsError> {
        let offer = Offer {
            versions: options.versions.offered()?,
            cipher_suites: suites(options.cipher_suites.as_deref())?,
        };
        let nobody = RootCertStore::empty();
        let builder = offer.believing(nobody).map_err(|_| TlsError::NoCipherSuite)?;
        for identity in &options.identities {
            let (certificates, key) = identity.read()?;
            builder
                .clone()
                .with_client_auth_cert(certificates, key)
                .map_err(|source| TlsError::Identity {
                    what: "the key does not belong to the certificate",
                    reason: source.to_string(),
                })?;
        }
        Ok(Self {
            options,
            offer,
            built: OnceLock::new(),
        })
    }

    /// Performs the handshake with `host`, a name or an IP address without brackets.
    ///
    /// # Errors
    /// [`HandshakeError`]; the connection cannot be used any more.
    pub async fn connect<S>(
        &self,
        host: &str,
        application: Application,
        stream: S,
    ) -> Result<TlsStream<S>, HandshakeError>
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        let config = self.config(host, application)?;
        let name =
            ServerName::try_from(host.to_owned()).map_err(|_| HandshakeError::Host(host.to_owned()))?;
        let connecting = TlsConnector::from(config).connect(name, stream);
        connecting.await.map_err(HandshakeError::of_io)
    }

    fn config(&self, host: &str, application: Application) -> Result<Arc<ClientConfig>, HandshakeError> {
        let built = self.built.get_or_init(|| self.build());
        let Configs(pairs) = built.as_ref().map_err(Clone::clone)?;
        let identity = self.options.identities.iter().position(|one| one.is_for(host));
        let pair = &pairs[identity.map_or(0, |position| position + 1)];
        Ok(Arc::clone(match application {
            Application::Http1 => &pair.http1,
            Application::Http2 => &pair.http2,
        }))
    }

    fn build(&self) -> Result<Configs, HandshakeError> {
        let unusable = |error: &dyn fmt::Display| HandshakeError::Unusable(error.to_string());
        let builder = match &self.options.believe {
            Believe::Anybody => self.offer.believing_anybody(),
            Believe::Authorities(authorities) => self.offer.believing(authorities.clone()),
            Believe::System => {
                let authorities = system_authorities().map_err(|error| unusable(&error))?;
                self.offer.believing(authorities)
            }
        };
        let builder = builder.map_err(|error| unusable(&error))?;
        let pair = |mut config: ClientConfig| {
            config.enable_sni = !self.options.hides_server_name;
            pair(config)
        };
        let mut pairs = vec![pair(builder.clone().with_no_client_auth())];
        for identity in &self.options.identities {
            let (certificates, key) = identity.read().map_err(|error| unusable(&error))?;
            let config = builder.clone().with_client_auth_cert(certificates, key);
            pairs.push(pair(config.map_err(|error| unusable(&error))?));
        }
        Ok(Configs(pairs))
    }
}

/// Omits the options, because they contain private keys.
impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tls").finish_non_exhaustive()
    }
}

fn pair(mut config: ClientConfig) -> Pair {
    config.resumption = Resumption::disabled();
    // Writes to the file that the variable SSLKEYLOGFILE names, as k6 does; without it, nowhere.
    config.key_log = Arc::new(KeyLogFile::new());
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    let mut http2 = config.clone();
    http2.alpn_protocols.insert(0, b"h2".to_vec());
    Pair {
        http1: Arc::new(config),
        http2: Arc::new(http2),
    }
}

/// The IANA name of a cipher suite.
pub fn suite_name(suite: SupportedCipherSuite) -> String {
    let name = suite.suite().as_str().unwrap_or("unknown");
    name.replacen("TLS13_", "TLS_", 1)
}

fn suites(wanted: Option<&[String]>) -> Result<Vec<SupportedCipherSuite>, TlsError> {
    let Some(wanted) = wanted else {
        return Ok(ALL_CIPHER_SUITES.to_vec());
    };
    let known: Vec<_> = ALL_CIPHER_SUITES.iter().map(|&suite| suite_name(suite)).collect();
    if let Some(name) = wanted.iter().find(|name| !known.contains(name)) {
        return Err(TlsError::CipherSuite {
            name: name.clone(),
            known: known.join(", "),
        });
    }
    let is_offered =
        |suite: &SupportedCipherSuite| suite.tls13().is_some() || wanted.contains(&suite_name(*suite));
    Ok(ALL_CIPHER_SUITES.iter().copied().filter(is_offered).collect())
}

#[cfg(test)]
mod tests;
