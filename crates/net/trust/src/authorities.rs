//! The certificates that a client trusts: authorities, and single certificates of servers.

use rustls::{
    RootCertStore,
    pki_types::{CertificateDer, pem::PemObject},
};

/// Trusted certificates.
#[derive(Debug, Clone)]
pub struct Authorities {
    /// The authorities that may sign certificates.
    pub(crate) roots: RootCertStore,
    /// Certificates of servers. A server that presents one of them is trusted without an authority.
    pub(crate) known: Vec<CertificateDer<'static>>,
}

/// A text without a usable certificate authority.
#[derive(Debug, thiserror::Error)]
#[error("it holds no usable certificate ({reason})")]
pub struct NoCertificate {
    /// The fault.
    reason: String,
}

impl Authorities {
    /// The certificates of a file that a user names. A server is trusted if one of them signed its certificate, or if it
    /// has one of them itself.
    ///
    /// # Errors
    /// A certificate cannot be read.
    pub fn of(certificates: Vec<CertificateDer<'static>>) -> Result<Self, rustls::Error> {
        let mut roots = RootCertStore::empty();
        for certificate in &certificates {
            roots.add(certificate.clone())?;
        }
        Ok(Self {
            roots,
            known: certificates,
        })
    }

    /// The certificates of a text in PEM, all of them. Other blocks, such as a key, are skipped.
    ///
    /// # Errors
    /// There is no certificate, or one cannot be read.
    pub fn in_pem(pem: &[u8]) -> Result<Self, NoCertificate> {
        let wrong = |reason: String| NoCertificate { reason };
        let found = CertificateDer::pem_slice_iter(pem).collect::<Result<Vec<_>, _>>();
        let found = found.map_err(|error| wrong(error.to_string()))?;
        if found.is_empty() {
            return Err(wrong("there is none in it".to_owned()));
        }
        Self::of(found).map_err(|error| wrong(error.to_string()))
    }

    /// Trusts the others as well.
    pub fn extend(&mut self, others: Self) {
        self.roots.extend(others.roots.roots);
        self.known.extend(others.known);
    }
}

impl From<RootCertStore> for Authorities {
    fn from(roots: RootCertStore) -> Self {
        Self {
            roots,
            known: Vec::new(),
        }
    }
}
