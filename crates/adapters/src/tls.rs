//! Encryption of the connection to Redis (`rediss://`).

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use rustls::{
    ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme,
    client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
    crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature},
    pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime, pem, pem::PemObject},
};

/// How the two ends of an encrypted connection know each other.
#[derive(Debug, Clone, Default)]
pub struct TlsSettings {
    /// Whether the server's certificate must be valid for its name.
    pub verifies: bool,
    /// PEM file with the authorities that the server's certificate is checked against. Default: the system's.
    pub ca_certificate: Option<PathBuf>,
    /// PEM files with the certificate and the key that the server wants of its clients.
    pub client: Option<(PathBuf, PathBuf)>,
}

/// Why a connection cannot be encrypted as it was asked for.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// A file cannot be read, or is no PEM.
    #[error("read {}: {source}; expected a PEM file with {expected}", path.display())]
    File {
        /// Which one.
        path: PathBuf,
        /// What should be in it.
        expected: &'static str,
        /// Why not.
        source: pem::Error,
    },
    /// The certificates of a file cannot be used.
    #[error("use the certificates of {}: {source}", path.display())]
    Certificate {
        /// Which file.
        path: PathBuf,
        /// Why not.
        source: rustls::Error,
    },
    /// The system has no list of authorities.
    #[error(
        "find certificates of authorities on this system: {0}; name a file with --redis_tls_ca_cert_path"
    )]
    NoSystemAuthorities(String),
}

impl TlsSettings {
    /// Reads the files.
    pub(crate) fn client_config(&self) -> Result<ClientConfig, TlsError> {
        let provider = Arc::new(ring::default_provider());
        let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .expect("ring has the cipher suites of TLS 1.2 and 1.3");
        let builder = match self.verifies {
            true => builder.with_root_certificates(self.authorities()?),
            false => builder
                .dangerous()
                .with_custom_certificate_verifier(Arc::new(AnyCertificate(provider))),
        };
        let Some((certificate, key)) = &self.client else {
            return Ok(builder.with_no_client_auth());
        };
        let chain = certificates(certificate)?;
        let key_der = PrivateKeyDer::from_pem_file(key).map_err(|source| TlsError::File {
            path: key.clone(),
            expected: "a private key",
            source,
        })?;
        builder
            .with_client_auth_cert(chain, key_der)
            .map_err(|source| TlsError::Certificate {
                path: certificate.clone(),
                source,
            })
    }

    fn authorities(&self) -> Result<RootCertStore, TlsError> {
        let mut authorities = RootCertStore::empty();
        let Some(path) = &self.ca_certificate else {
            let found = rustls_native_certs::load_native_certs();
            let (n_added, _n_unusable) = authorities.add_parsable_certificates(found.certs);
            return match n_added {
                0 => Err(TlsError::NoSystemAuthorities(format!("{:?}", found.errors))),
                _ => Ok(authorities),
            };
        };
        for certificate in certificates(path)? {
            authorities
                .add(certificate)
                .map_err(|source| TlsError::Certificate {
                    path: path.clone(),
                    source,
                })?;
        }
        Ok(authorities)
    }
}

/// All certificates of a file, at least one.
fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let read = || -> Result<Vec<_>, pem::Error> {
        let found: Vec<_> = CertificateDer::pem_file_iter(path)?.collect::<Result<_, _>>()?;
        match found.is_empty() {
            true => Err(pem::Error::NoItemsFound),
            false => Ok(found),
        }
    };
    read().map_err(|source| TlsError::File {
        path: path.to_owned(),
        expected: "a certificate",
        source,
    })
}

/// Takes the server for whatever it says it is, which is AnyCable's default. That the server has the key of its
/// certificate is checked all the same.
#[derive(Debug)]
struct AnyCertificate(Arc<CryptoProvider>);

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(
            message,
            certificate,
            signature,
            &self.0.signature_verification_algorithms,
        )
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(
            message,
            certificate,
            signature,
            &self.0.signature_verification_algorithms,
        )
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
