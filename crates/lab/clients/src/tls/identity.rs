//! Client certificates (k6's `tlsAuth`).

use rustls::pki_types::{
    CertificateDer, PrivateKeyDer,
    pem::{Error, PemObject},
};

use super::TlsError;
use crate::dial::HostPattern;

/// A certificate, its key, and the hosts for which it is used.
#[derive(Clone)]
pub struct Identity {
    /// The hosts that it is for, with a leading `*.` for all below; empty is every host.
    pub domains: Vec<HostPattern>,
    /// The certificate and the intermediate ones, in PEM.
    pub certificates: String,
    /// The private key in PEM, not encrypted.
    pub key: String,
}

impl Identity {
    /// Whether it is shown to `host`.
    pub(super) fn is_for(&self, host: &str) -> bool {
        self.domains.is_empty() || self.domains.iter().any(|pattern| pattern.matches(host))
    }

    pub(super) fn read(&self) -> Result<(Vec<CertificateDer<'static>>, PrivateKeyDer<'static>), TlsError> {
        let bad = |what| {
            move |error: Error| TlsError::Identity {
                what,
                reason: error.to_string(),
            }
        };
        let certificates: Vec<_> = CertificateDer::pem_slice_iter(self.certificates.as_bytes())
            .collect::<Result<_, _>>()
            .map_err(bad("the certificate is not in PEM format"))?;
        if certificates.is_empty() {
            return Err(TlsError::Identity {
                what: "the certificate is not in PEM format",
                reason: "no CERTIFICATE block".to_owned(),
            });
        }
        if self.key.contains("ENCRYPTED") {
            return Err(TlsError::Identity {
                what: "the key is encrypted, which is not supported",
                reason: "decrypt it first, for example with `openssl pkey`".to_owned(),
            });
        }
        let key = PrivateKeyDer::from_pem_slice(self.key.as_bytes())
            .map_err(bad("the key is not in PEM format"))?;
        Ok((certificates, key))
    }
}

/// Without the key.
impl std::fmt::Debug for Identity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Identity")
            .field("domains", &self.domains)
            .finish_non_exhaustive()
    }
}
