//! TLS for the listeners: settings shared by all connections, and a certificate that can be replaced at run time.

use std::{path::PathBuf, sync::Arc};

use rustls::{
    ServerConfig,
    crypto::{CryptoProvider, ring},
};

mod certificate;
#[cfg(test)]
pub(crate) mod test_files;

use certificate::Certificate;
pub use certificate::CertificateError;

/// The protocol offered in the handshake (RFC 7301). WebSocket over HTTP/2 is not supported.
const ALPN_HTTP_1: &[u8] = b"http/1.1";

/// TLS 1.2 and 1.3 with one certificate, for any number of listeners. Clones share everything.
///
/// A returning client resumes its session with a ticket, which saves the signature. The keys of the tickets live in
/// memory and change every few hours.
#[derive(Debug, Clone)]
pub struct Tls {
    config: Arc<ServerConfig>,
    certificate: Arc<Certificate>,
}

impl Tls {
    /// Reads the certificate chain and its private key, both in PEM.
    ///
    /// # Errors
    /// See [`CertificateError`].
    pub fn load(chain: PathBuf, key: PathBuf) -> Result<Self, CertificateError> {
        let provider = Arc::new(ring::default_provider());
        let certificate = Arc::new(Certificate::load(chain, key, Arc::clone(&provider))?);
        let config = Arc::new(settings(provider, &certificate));
        Ok(Self { config, certificate })
    }

    /// Checks whether the files have changed since they were last read, and uses the new certificate for all later
    /// connections. Existing connections keep theirs. Returns whether the certificate changed. Call it every few
    /// seconds: a change counts once two checks in a row see the same contents, so that files which are replaced one
    /// after the other are not paired with each other's predecessor.
    ///
    /// # Errors
    /// See [`CertificateError`]. Each change is reported once, and the old certificate stays in use.
    pub fn look_for_change(&self) -> Result<bool, CertificateError> {
        self.certificate.look_for_change()
    }

    /// Reads both files now, changed or not.
    ///
    /// # Errors
    /// See [`CertificateError`]; the old certificate stays in use.
    pub fn reload(&self) -> Result<(), CertificateError> {
        self.certificate.reload()
    }

    /// The settings for handshakes of new connections.
    pub fn config(&self) -> Arc<ServerConfig> {
        Arc::clone(&self.config)
    }
}

fn settings(provider: Arc<CryptoProvider>, certificate: &Arc<Certificate>) -> ServerConfig {
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("ring has cipher suites for TLS 1.2 and 1.3")
        .with_no_client_auth()
        .with_cert_resolver(Arc::clone(certificate) as _);
    config.alpn_protocols = vec![ALPN_HTTP_1.to_vec()];
    match ring::Ticketer::new() {
        Ok(ticketer) => config.ticketer = ticketer,
        Err(error) => tracing::warn!(%error, "TLS sessions cannot be resumed by tickets."),
    }
    config
}
