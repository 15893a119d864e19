//! The client's side of TLS: whose certificates are believed.
//!
//! The server is a client of others (an application, Redis, an identity provider), which are all believed, or not, by
//! the same rules. What of this is wanted, and from which files, is said by the settings of each.

mod any_certificate;

use std::sync::Arc;

use rustls::{ClientConfig, ConfigBuilder, RootCertStore, client::WantsClientCert, crypto::ring};

use crate::any_certificate::AnyCertificate;

/// The system has no list of authorities.
#[derive(Debug, thiserror::Error)]
#[error("no certificate authorities were found on this system ({reasons}); install ca-certificates")]
pub struct NoAuthorities {
    /// What the search said.
    reasons: String,
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
    builder().with_root_certificates(authorities)
}

/// TLS 1.2 and 1.3 with servers that are taken for whoever they say they are.
pub fn believing_anybody() -> ConfigBuilder<ClientConfig, WantsClientCert> {
    let builder = builder();
    let verifier = Arc::new(AnyCertificate(Arc::clone(builder.crypto_provider())));
    builder.dangerous().with_custom_certificate_verifier(verifier)
}

fn builder() -> ConfigBuilder<ClientConfig, rustls::WantsVerifier> {
    ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("ring has the cipher suites of TLS 1.2 and 1.3")
}
