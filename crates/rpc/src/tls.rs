//! TLS to the application: whom to believe.

use std::{fs, io, path::PathBuf, sync::Arc};

use rustls::{
    ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme,
    client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
    crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature},
    pki_types::{CertificateDer, ServerName, UnixTime, pem::PemObject},
};

/// Which certificates of an application are believed.
#[derive(Debug, Clone, Default)]
pub enum Trust {
    /// Those of the system's certificate authorities.
    #[default]
    System,
    /// Those of these authorities only: a file in PEM, or its text.
    RootCa(String),
    /// Any, whoever made it and for whatever name: for development.
    Anything,
}

/// Why nobody can be believed.
#[derive(Debug, thiserror::Error)]
pub enum TrustError {
    /// The file of authorities.
    #[error("--rpc_tls_root_ca: cannot read {path:?}: {error}; it is a file in PEM, or the PEM text itself")]
    Read {
        /// Its path.
        path: PathBuf,
        /// Why not.
        error: io::Error,
    },
    /// Not PEM, not a certificate, or none.
    #[error(
        "--rpc_tls_root_ca holds no usable certificate ({reason}); \
         expected is PEM that begins with -----BEGIN CERTIFICATE-----"
    )]
    Pem {
        /// What is wrong.
        reason: String,
    },
    /// A system without authorities.
    #[error(
        "no certificate authorities were found on this system ({reason}); \
         install ca-certificates or name a file with --rpc_tls_root_ca"
    )]
    NoSystemRoots {
        /// What the search said.
        reason: String,
    },
}

/// The client's side of TLS. Which protocols are offered inside of it is the connector's business.
pub(crate) fn client_config(trust: &Trust) -> Result<ClientConfig, TrustError> {
    let roots = match trust {
        Trust::System => system_roots()?,
        Trust::RootCa(text_or_path) => parse_roots(&read_roots(text_or_path)?)?,
        Trust::Anything => {
            let mut config = with_roots(RootCertStore::empty());
            let verifier = Arc::new(AnyCertificate(Arc::clone(config.crypto_provider())));
            config.dangerous().set_certificate_verifier(verifier);
            return Ok(config);
        }
    };
    Ok(with_roots(roots))
}

/// For connectors that want a configuration although no connection will use it.
pub(crate) fn unused_config() -> ClientConfig {
    with_roots(RootCertStore::empty())
}

fn with_roots(roots: RootCertStore) -> ClientConfig {
    ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("ring has the cipher suites of TLS 1.2 and 1.3")
        .with_root_certificates(roots)
        .with_no_client_auth()
}

fn system_roots() -> Result<RootCertStore, TrustError> {
    let found = rustls_native_certs::load_native_certs();
    let mut roots = RootCertStore::empty();
    // Systems have certificates that are too old for rustls; the others will do.
    let (n_added, _n_ignored) = roots.add_parsable_certificates(found.certs);
    if n_added == 0 {
        let reasons: Vec<_> = found.errors.iter().map(ToString::to_string).collect();
        let reason = reasons.join(", ");
        return Err(TrustError::NoSystemRoots { reason });
    }
    Ok(roots)
}

fn read_roots(text_or_path: &str) -> Result<Vec<u8>, TrustError> {
    if text_or_path.trim_start().starts_with("-----BEGIN") {
        return Ok(text_or_path.as_bytes().to_vec());
    }
    fs::read(text_or_path).map_err(|error| TrustError::Read {
        path: text_or_path.into(),
        error,
    })
}

fn parse_roots(pem: &[u8]) -> Result<RootCertStore, TrustError> {
    let wrong = |reason: String| TrustError::Pem { reason };
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(pem) {
        let certificate = certificate.map_err(|error| wrong(error.to_string()))?;
        roots.add(certificate).map_err(|error| wrong(error.to_string()))?;
    }
    match roots.is_empty() {
        true => Err(wrong("there is none in it".to_owned())),
        false => Ok(roots),
    }
}

/// Believes every certificate, but still checks that the peer has its key.
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
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(
            message,
            certificate,
            signed,
            &self.0.signature_verification_algorithms,
        )
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(
            message,
            certificate,
            signed,
            &self.0.signature_verification_algorithms,
        )
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(root_ca: &str, expected: &str) {
        let error = client_config(&Trust::RootCa(root_ca.to_owned())).expect_err(root_ca);
        assert!(error.to_string().contains(expected), "{error}");
    }

    #[test]
    fn authorities_that_cannot_be_used_are_named() {
        check(
            "/nonexistent/ca.pem",
            r#"cannot read "/nonexistent/ca.pem": No such file"#,
        );
        check(
            "-----BEGIN NOTHING-----\n-----END NOTHING-----\n",
            "there is none in it",
        );
        check(
            "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
            "holds no usable certificate",
        );
    }
}
