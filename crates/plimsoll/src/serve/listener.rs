//! The flags of `plimsoll serve` about its listeners: TLS, and who may connect.

use std::path::PathBuf;

use clap::Args;
use plimsoll_server::{AllowedOrigins, CertificateError, Tls};

/// TLS, and who may connect.
#[derive(Debug, Args)]
#[group(id = "listener")]
pub(super) struct ListenerOptions {
    /// Hosts whose pages may connect; several with commas, *.example.com for all that end so. Default: all.
    #[arg(long, default_value = "", hide_default_value = true, value_name = "HOSTS")]
    pub(super) allowed_origins: AllowedOrigins,
    /// Certificate chain in PEM; all listeners then speak TLS. It is read again when it changes, and on SIGHUP.
    #[arg(long, value_name = "FILE", requires = "ssl_key")]
    ssl_cert: Option<PathBuf>,
    /// Private key of the certificate, in PEM.
    #[arg(long, value_name = "FILE", requires = "ssl_cert")]
    ssl_key: Option<PathBuf>,
}

impl ListenerOptions {
    /// What the listeners need to speak TLS, if they shall.
    pub(super) fn tls(&self) -> Result<Option<Tls>, CertificateError> {
        match (&self.ssl_cert, &self.ssl_key) {
            (Some(chain), Some(key)) => Tls::load(chain.clone(), key.clone()).map(Some),
            _ => Ok(None),
        }
    }
}
