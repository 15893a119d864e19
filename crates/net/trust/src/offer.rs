//! The TLS versions and cipher suites that a client offers.

use std::sync::Arc;

use rustls::{
    ClientConfig, ConfigBuilder, SupportedCipherSuite, SupportedProtocolVersion,
    client::WantsClientCert,
    crypto::{CryptoProvider, ring},
    version::{TLS12, TLS13},
};

use crate::{any_certificate::AnyCertificate, authorities::Authorities, known_certificate::KnownCertificate};

/// Versions and cipher suites. The default is TLS 1.2 and 1.3 with all cipher suites of `ring`.
#[derive(Debug, Clone)]
pub struct Offer {
    /// The versions. Must not be empty.
    pub versions: Vec<&'static SupportedProtocolVersion>,
    /// The cipher suites, the preferred one first; each version needs one.
    pub cipher_suites: Vec<SupportedCipherSuite>,
}

impl Default for Offer {
    fn default() -> Self {
        Self {
            versions: vec![&TLS13, &TLS12],
            cipher_suites: ring::ALL_CIPHER_SUITES.to_vec(),
        }
    }
}

impl Offer {
    /// Settings for servers whose certificate is trusted by these authorities.
    ///
    /// # Errors
    /// A version has no cipher suite, or there is no version.
    pub fn believing(
        &self,
        authorities: impl Into<Authorities>,
    ) -> Result<ConfigBuilder<ClientConfig, WantsClientCert>, rustls::Error> {
        let Authorities { roots, known } = authorities.into();
        let builder = self.builder()?;
        if known.is_empty() {
            return Ok(builder.with_root_certificates(roots));
        }
        let verifier = KnownCertificate::new(roots, known, builder.crypto_provider());
        Ok(builder
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(verifier)))
    }

    /// Settings for servers whose certificates are not verified.
    ///
    /// # Errors
    /// As for [`Self::believing`].
    pub fn believing_anybody(&self) -> Result<ConfigBuilder<ClientConfig, WantsClientCert>, rustls::Error> {
        let builder = self.builder()?;
        let verifier = Arc::new(AnyCertificate(Arc::clone(builder.crypto_provider())));
        Ok(builder.dangerous().with_custom_certificate_verifier(verifier))
    }

    fn builder(&self) -> Result<ConfigBuilder<ClientConfig, rustls::WantsVerifier>, rustls::Error> {
        let provider = CryptoProvider {
            cipher_suites: self.cipher_suites.clone(),
            ..ring::default_provider()
        };
        ClientConfig::builder_with_provider(Arc::new(provider)).with_protocol_versions(&self.versions)
    }
}
