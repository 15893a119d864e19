//! `--insecure`, and how connections are secured without it.

use std::sync::Arc;

use clap::Args;
use plimsoll_conformance::Server;
use rustls::ClientConfig;

use crate::exit::Failure;

/// Schemes of URLs that ask for TLS.
const SECURE: [&str; 3] = ["wss:", "https:", "rediss:"];

/// Whom the tester believes.
#[derive(Debug, Args)]
pub(super) struct Trust {
    /// Take servers that speak TLS for whoever they say they are. Without it, SSL_CERT_FILE=ca.pem names an authority.
    #[arg(long)]
    insecure: bool,
}

impl Trust {
    /// The server that a URL names.
    ///
    /// # Errors
    /// When the URL is none, or the system has no authorities that could be believed.
    pub(super) fn server(&self, url: &str) -> Result<Server, Failure> {
        Server::parse(url, self.tls(url)?).map_err(|error| Failure::Usage(error.to_string()))
    }

    /// How connections to a URL are secured, if it asks for that.
    ///
    /// # Errors
    /// When the system has no authorities that could be believed.
    pub(super) fn tls(&self, url: &str) -> Result<Option<Arc<ClientConfig>>, Failure> {
        if !SECURE.iter().any(|scheme| url.starts_with(scheme)) {
            return Ok(None);
        }
        let tls = match self.insecure {
            true => plimsoll_trust::believing_anybody(),
            false => {
                let authorities = plimsoll_trust::system_authorities();
                plimsoll_trust::believing(authorities.map_err(|error| Failure::Runtime(error.into()))?)
            }
        };
        Ok(Some(Arc::new(tls.with_no_client_auth())))
    }
}
