//! Encryption of the connection to Redis (`rediss://`).

use std::path::{Path, PathBuf};

use plimsoll_trust::{NoAuthorities, believing, believing_anybody, system_authorities};
use rustls::{
    ClientConfig, RootCertStore,
    pki_types::{CertificateDer, PrivateKeyDer, pem, pem::PemObject},
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
    #[error("{0} or name a file with --redis_tls_ca_cert_path")]
    NoSystemAuthorities(#[from] NoAuthorities),
}

impl TlsSettings {
    /// Reads the files.
    pub(crate) fn client_config(&self) -> Result<ClientConfig, TlsError> {
        let builder = if self.verifies {
            believing(self.authorities()?)
        } else {
            believing_anybody()
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
        let Some(path) = &self.ca_certificate else {
            return Ok(system_authorities()?);
        };
        let mut authorities = RootCertStore::empty();
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
        if found.is_empty() {
            Err(pem::Error::NoItemsFound)
        } else {
            Ok(found)
        }
    };
    read().map_err(|source| TlsError::File {
        path: path.to_owned(),
        expected: "a certificate",
        source,
    })
}
