//! The flags of `plimsoll serve` about its listeners: TLS, and who may connect.

use std::{num::NonZeroUsize, path::PathBuf};

use clap::Args;
use plimsoll_server::{AllowedOrigins, CertificateError, Tls};

/// TLS, and who may connect.
#[derive(Debug, Args)]
#[group(id = "listener")]
pub(super) struct ListenerOptions {
    /// Hosts whose pages may connect; several with commas, *.example.com for all that end so. Default: all.
    #[arg(long, default_value = "", hide_default_value = true, value_name = "HOSTS")]
    pub(super) allowed_origins: AllowedOrigins,
    /// Most connections from one IPv4 address or one IPv6 /64; more are answered 429. 0: no limit, as behind a proxy,
    /// where all come from one address.
    #[arg(long, default_value_t = 0, value_name = "N")]
    max_conn_per_ip: usize,
    /// Certificate chain in PEM; all listeners then speak TLS. It is read again when it changes, and on SIGHUP.
    #[arg(long, value_name = "FILE", requires = "ssl_key")]
    ssl_cert: Option<PathBuf>,
    /// Private key of the certificate, in PEM.
    #[arg(long, value_name = "FILE", requires = "ssl_cert")]
    ssl_key: Option<PathBuf>,
}

impl ListenerOptions {
    pub(super) fn max_connections_per_address(&self) -> Option<NonZeroUsize> {
        NonZeroUsize::new(self.max_conn_per_ip)
    }

    /// What the listeners need to speak TLS, if they shall.
    pub(super) fn tls(&self) -> Result<Option<Tls>, CertificateError> {
        match (&self.ssl_cert, &self.ssl_key) {
            (Some(chain), Some(key)) => Tls::load(chain.clone(), key.clone()).map(Some),
            _ => Ok(None),
        }
    }
}
