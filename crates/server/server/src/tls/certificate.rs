//! A certificate in files, reloaded when they change.

use std::{
    fmt, fs, io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError, RwLock},
};

use rustls::{
    crypto::CryptoProvider,
    pki_types::{
        CertificateDer, PrivateKeyDer,
        pem::{self, PemObject},
    },
    server::{ClientHello, ResolvesServerCert},
    sign::CertifiedKey,
};

/// Why a certificate cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum CertificateError {
    /// A file cannot be read.
    #[error("cannot read {}: {source}; --ssl_cert and --ssl_key need PEM files", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The file holds no certificate.
    #[error(
        "{} has no certificate; --ssl_cert needs a PEM file with one or more blocks -----BEGIN CERTIFICATE-----, \
         the server's own certificate first",
        path.display()
    )]
    NoCertificate {
        /// The file.
        path: PathBuf,
    },
    /// The file holds no private key.
    #[error(
        "{} has no private key; --ssl_key needs a PEM file with a block -----BEGIN PRIVATE KEY----- (or RSA or EC \
         PRIVATE KEY) without a passphrase",
        path.display()
    )]
    NoKey {
        /// The file.
        path: PathBuf,
    },
    /// The file is not valid PEM.
    #[error("{} is not valid PEM file: {reason}", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// The fault.
        reason: pem::Error,
    },
    /// Both files are well-formed, but cannot be used together.
    #[error(
        "the certificate {} cannot be used with the key {}: {reason}; --ssl_key must be the key of the first \
         certificate in --ssl_cert",
        chain.display(),
        key.display()
    )]
    Unusable {
        /// The file of the certificate chain.
        chain: PathBuf,
        /// The file of the key.
        key: PathBuf,
        /// The fault.
        reason: rustls::Error,
    },
}

/// The certificate of a server.
pub(super) struct Certificate {
    files: Files,
    provider: Arc<CryptoProvider>,
    current: RwLock<Arc<CertifiedKey>>,
    looks: Mutex<Looks>,
}

#[derive(Debug)]
struct Files {
    chain: PathBuf,
    key: PathBuf,
}

/// The contents of the two files.
#[derive(PartialEq, Eq)]
struct Contents {
    chain: Vec<u8>,
    key: Vec<u8>,
}

/// The contents of the files at two times. `None`: they could not be read.
struct Looks {
    /// The contents that were last loaded, or found unusable.
    tried: Option<Contents>,
    /// The contents at the last check.
    seen: Option<Contents>,
}

impl Certificate {
    pub(super) fn load(
        chain: PathBuf,
        key: PathBuf,
        provider: Arc<CryptoProvider>,
    ) -> Result<Self, CertificateError> {
        let files = Files { chain, key };
        let contents = files.read()?;
        let current = files.parse(&contents, &provider)?;
        Ok(Self {
            files,
            provider,
            current: RwLock::new(Arc::new(current)),
            looks: Mutex::new(Looks {
                tried: Some(contents),
                seen: None,
            }),
        })
    }

    pub(super) fn look_for_change(&self) -> Result<bool, CertificateError> {
        let contents = self.files.read().ok();
        let mut looks = self.looks.lock().unwrap_or_else(PoisonError::into_inner);
        let is_news = contents != looks.tried;
        let has_settled = contents == looks.seen;
        looks.seen = contents;
        drop(looks);
        if is_news && has_settled {
            self.reload()?;
        }
        Ok(is_news && has_settled)
    }

    pub(super) fn reload(&self) -> Result<(), CertificateError> {
        let mut looks = self.looks.lock().unwrap_or_else(PoisonError::into_inner);
        looks.tried = None;
        let contents = looks.tried.insert(self.files.read()?);
        let certified = self.files.parse(contents, &self.provider)?;
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(certified);
        Ok(())
    }
}

impl ResolvesServerCert for Certificate {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(Arc::clone(
            &self.current.read().unwrap_or_else(PoisonError::into_inner),
        ))
    }
}

/// Omits the key.
impl fmt::Debug for Certificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Certificate")
            .field("files", &self.files)
            .finish_non_exhaustive()
    }
}

impl Files {
    fn read(&self) -> Result<Contents, CertificateError> {
        Ok(Contents {
            chain: read(&self.chain)?,
            key: read(&self.key)?,
        })
    }

    fn parse(
        &self,
        contents: &Contents,
        provider: &CryptoProvider,
    ) -> Result<CertifiedKey, CertificateError> {
        let chain: Vec<_> = CertificateDer::pem_slice_iter(&contents.chain)
            .collect::<Result<_, _>>()
            .map_err(|reason| malformed(&self.chain, reason))?;
        if chain.is_empty() {
            let path = self.chain.clone();
            return Err(CertificateError::NoCertificate { path });
        }
        let key = PrivateKeyDer::from_pem_slice(&contents.key).map_err(|reason| match reason {
            pem::Error::NoItemsFound => CertificateError::NoKey {
                path: self.key.clone(),
            },
            reason => malformed(&self.key, reason),
        })?;
        CertifiedKey::from_der(chain, key, provider).map_err(|reason| CertificateError::Unusable {
            chain: self.chain.clone(),
            key: self.key.clone(),
            reason,
        })
    }
}

fn read(path: &Path) -> Result<Vec<u8>, CertificateError> {
    fs::read(path).map_err(|source| CertificateError::Unreadable {
        path: path.to_owned(),
        source,
    })
}

fn malformed(path: &Path, reason: pem::Error) -> CertificateError {
    CertificateError::Malformed {
        path: path.to_owned(),
        reason,
    }
}

#[cfg(test)]
mod tests;
