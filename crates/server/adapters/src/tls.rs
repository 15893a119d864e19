//! TLS to Redis (`rediss://`).

use std::path::{Path, PathBuf};

use plimsoll_trust::{Authorities, NoAuthorities, believing, believing_anybody, system_authorities};
use rustls::{
    ClientConfig,
    pki_types::{CertificateDer, PrivateKeyDer, pem, pem::PemObject},
};

/// The certificates of both ends of an encrypted connection.
#[derive(Debug, Clone, Default)]
pub struct TlsSettings {
    /// Whether the server's certificate must be valid for its name.
    pub verifies: bool,
    /// PEM file with the authorities that may sign the server's certificate. Default: the system's.
    pub ca_certificate: Option<PathBuf>,
    /// PEM files with the certificate and the key that the server requires of its clients.
    pub client: Option<(PathBuf, PathBuf)>,
}

/// Why the requested encryption is impossible.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// A file cannot be read, or is not PEM.
    #[error("read {}: {source}; expected a PEM file with {expected}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The expected contents.
        expected: &'static str,
        /// The cause.
        source: pem::Error,
    },
    /// The certificates of a file cannot be used.
    #[error("use the certificates of {}: {source}", path.display())]
    Certificate {
        /// The file.
        path: PathBuf,
        /// The cause.
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

    fn authorities(&self) -> Result<Authorities, TlsError> {
        let Some(path) = &self.ca_certificate else {
            return Ok(system_authorities()?);
        };
        Authorities::of(certificates(path)?).map_err(|source| TlsError::Certificate {
            path: path.clone(),
            source,
        })
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
