//! The client's side of TLS: whose certificates are believed.
//!
//! The server is a client of others (an application, Redis, an identity provider), and the load side is one of what it
//! measures. They are all believed, or not, by the same rules. What of this is wanted, and from which files, is said by
//! the settings of each.

mod any_certificate;
mod offer;

use rustls::{
    ClientConfig, ConfigBuilder, RootCertStore,
    client::WantsClientCert,
    pki_types::{CertificateDer, pem::PemObject},
};

pub use self::offer::Offer;

/// The system has no list of authorities.
#[derive(Debug, thiserror::Error)]
#[error("no certificate authorities were found on this system ({reasons}); install ca-certificates")]
pub struct NoAuthorities {
    /// What the search said.
    reasons: String,
}

/// A text holds no authorities that could be believed.
#[derive(Debug, thiserror::Error)]
#[error("it holds no usable certificate ({reason})")]
pub struct NoCertificate {
    /// What is wrong with it.
    reason: String,
}

/// The authorities of a text in PEM: all of its certificates. Whatever else is in it, such as a key, is passed over.
///
/// # Errors
/// When there are none, or one of them cannot be read.
pub fn authorities_in(pem: &[u8]) -> Result<RootCertStore, NoCertificate> {
    let wrong = |reason: String| NoCertificate { reason };
    let mut authorities = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(pem) {
        let certificate = certificate.map_err(|error| wrong(error.to_string()))?;
        authorities
            .add(certificate)
            .map_err(|error| wrong(error.to_string()))?;
    }
    if authorities.is_empty() {
        Err(wrong("there is none in it".to_owned()))
    } else {
        Ok(authorities)
    }
}

/// Those whom the system believes.
///
/// # Errors
/// When there are none.
pub fn system_authorities() -> Result<RootCertStore, NoAuthorities> {
    let found = rustls_native_certs::load_native_certs();
    let mut authorities = RootCertStore::empty();
    // Systems have certificates that are too old for rustls; the others will do.
    let (n_added, _n_ignored) = authorities.add_parsable_certificates(found.certs);
    if n_added > 0 {
        return Ok(authorities);
    }
    let reasons: Vec<_> = found.errors.iter().map(ToString::to_string).collect();
    let reasons = reasons.join(", ");
    Err(NoAuthorities { reasons })
}

/// TLS 1.2 and 1.3 with servers that one of these authorities vouches for.
pub fn believing(authorities: RootCertStore) -> ConfigBuilder<ClientConfig, WantsClientCert> {
    Offer::default()
        .believing(authorities)
        .expect("ring has the cipher suites of TLS 1.2 and 1.3")
}

/// TLS 1.2 and 1.3 with servers that are taken for whoever they say they are.
pub fn believing_anybody() -> ConfigBuilder<ClientConfig, WantsClientCert> {
    Offer::default()
        .believing_anybody()
        .expect("ring has the cipher suites of TLS 1.2 and 1.3")
}
