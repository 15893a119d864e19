//! TLS to the application: which certificates to trust.

use std::{fs, io, path::PathBuf};

use plimsoll_trust::{
    Authorities, NoAuthorities, NoCertificate, believing, believing_anybody, system_authorities,
};
use rustls::{ClientConfig, RootCertStore};

/// The certificate authorities that may sign the application's certificate.
#[derive(Debug, Clone, Default)]
pub enum Trust {
    /// The system's certificate authorities.
    #[default]
    System,
    /// These authorities and servers only: a file in PEM, or its text.
    RootCa(String),
    /// Any certificate, for any name. For development.
    Anything,
}

/// Why no certificate can be trusted.
#[derive(Debug, thiserror::Error)]
pub enum TrustError {
    /// The file of authorities cannot be read.
    #[error("--rpc_tls_root_ca: cannot read {path:?}: {error}; expected a PEM file, or the PEM text itself")]
    Read {
        /// Its path.
        path: PathBuf,
        /// The cause.
        error: io::Error,
    },
    /// The text is not PEM, or has no valid certificate.
    #[error("--rpc_tls_root_ca: {0}; expected PEM that begins with -----BEGIN CERTIFICATE-----")]
    Pem(#[from] NoCertificate),
    /// The system has no list of authorities.
    #[error("{0} or name a file with --rpc_tls_root_ca")]
    NoSystemRoots(#[from] NoAuthorities),
}

/// The TLS settings of the client. The connector chooses the protocols to offer.
pub(crate) fn client_config(trust: &Trust) -> Result<ClientConfig, TrustError> {
    let builder = match trust {
        Trust::System => believing(system_authorities()?),
        Trust::RootCa(text_or_path) => believing(Authorities::in_pem(&read_roots(text_or_path)?)?),
        Trust::Anything => believing_anybody(),
    };
    Ok(builder.with_no_client_auth())
}

/// A TLS configuration for connectors that require one although no connection uses it.
pub(crate) fn unused_config() -> ClientConfig {
    believing(RootCertStore::empty()).with_no_client_auth()
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
