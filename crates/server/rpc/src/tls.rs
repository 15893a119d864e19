//! TLS to the application: whom to believe.

use std::{fs, io, path::PathBuf};

use plimsoll_trust::{
    NoAuthorities, NoCertificate, authorities_in, believing, believing_anybody, system_authorities,
};
use rustls::{ClientConfig, RootCertStore};

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
    #[error("--rpc_tls_root_ca: {0}; expected is PEM that begins with -----BEGIN CERTIFICATE-----")]
    Pem(#[from] NoCertificate),
    /// A system without authorities.
    #[error("{0} or name a file with --rpc_tls_root_ca")]
    NoSystemRoots(#[from] NoAuthorities),
}

/// The client's side of TLS. Which protocols are offered inside of it is the connector's business.
pub(crate) fn client_config(trust: &Trust) -> Result<ClientConfig, TrustError> {
    let builder = match trust {
        Trust::System => believing(system_authorities()?),
        Trust::RootCa(text_or_path) => believing(authorities_in(&read_roots(text_or_path)?)?),
        Trust::Anything => believing_anybody(),
    };
    Ok(builder.with_no_client_auth())
}

/// For connectors that want a configuration although no connection will use it.
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
