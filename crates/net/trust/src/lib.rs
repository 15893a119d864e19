//! The client's side of TLS: which certificates are trusted.
//!
//! The server is a client of other programs (an application, Redis, an identity provider), and the load side is a
//! client of its target. All of them use these rules. The settings of each program say which authorities it trusts, and
//! from which files they are read.

mod any_certificate;
mod authorities;
mod known_certificate;
mod offer;

use rustls::{ClientConfig, ConfigBuilder, RootCertStore, client::WantsClientCert};

pub use self::{
    authorities::{Authorities, NoCertificate},
    offer::Offer,
};

/// The system has no list of authorities.
#[derive(Debug, thiserror::Error)]
#[error("no certificate authorities were found on this system ({reasons}); install ca-certificates")]
pub struct NoAuthorities {
    /// The errors of the search.
    reasons: String,
}

/// The system's certificate authorities.
///
/// # Errors
/// The system has none.
pub fn system_authorities() -> Result<Authorities, NoAuthorities> {
    let found = rustls_native_certs::load_native_certs();
    let mut authorities = RootCertStore::empty();
    // Some systems have certificates that are too old for rustls. The others suffice.
    let (n_added, _n_ignored) = authorities.add_parsable_certificates(found.certs);
    if n_added > 0 {
        return Ok(authorities.into());
    }
    let reasons: Vec<_> = found.errors.iter().map(ToString::to_string).collect();
    let reasons = reasons.join(", ");
    Err(NoAuthorities { reasons })
}

/// TLS 1.2 and 1.3 with servers whose certificate is trusted by these authorities.
pub fn believing(authorities: impl Into<Authorities>) -> ConfigBuilder<ClientConfig, WantsClientCert> {
    Offer::default()
        .believing(authorities)
        .expect("ring has the cipher suites of TLS 1.2 and 1.3")
}

/// TLS 1.2 and 1.3 with servers whose certificates are not verified.
pub fn believing_anybody() -> ConfigBuilder<ClientConfig, WantsClientCert> {
    Offer::default()
        .believing_anybody()
        .expect("ring has the cipher suites of TLS 1.2 and 1.3")
}
