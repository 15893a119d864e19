//! `--cacert` and `--insecure`, and how connections are secured with them and without.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use clap::{Args, ValueHint};
use plimsoll_clients::tls::{Believe, Tls, TlsOptions};
use plimsoll_conformance::Server;
use plimsoll_trust::Authorities;
use rustls::ClientConfig;

use crate::exit::Failure;

/// Schemes of URLs that ask for TLS.
const SECURE: [&str; 3] = ["wss", "https", "rediss"];

/// The certificate authorities that a command trusts.
#[derive(Debug, Args)]
pub(crate) struct Trust {
    /// Trust only servers whose certificate is in this PEM file, or signed by one that is. Default: the system's
    /// authorities.
    #[arg(long, value_name = "FILE", conflicts_with = "insecure", value_hint = ValueHint::FilePath)]
    cacert: Option<PathBuf>,
    #[command(flatten)]
    insecure: Insecure,
}

/// The flag that turns verification off.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct Insecure {
    /// Do not verify TLS certificates.
    #[arg(long)]
    insecure: bool,
}

impl Insecure {
    /// The flag of another process.
    pub(crate) fn new(insecure: bool) -> Self {
        Self { insecure }
    }

    /// Whether it is given.
    pub(crate) fn is_set(self) -> bool {
        self.insecure
    }

    /// The trusted certificates: all, or those that the system's authorities have signed.
    pub(crate) fn believe(self) -> Believe {
        if self.insecure {
            Believe::Anybody
        } else {
            Believe::System
        }
    }

    /// TLS without verification, for all connections of a run. None for the default, which clients have themselves.
    pub(crate) fn tls(self) -> Option<Arc<Tls>> {
        let unverified = || {
            let options = TlsOptions {
                believe: self.believe(),
                ..TlsOptions::default()
            };
            Arc::new(Tls::new(options).expect("the defaults exclude nothing"))
        };
        self.insecure.then(unverified)
    }
}

impl Trust {
    /// The server that a URL names.
    ///
    /// # Errors
    /// When the URL is none, or there are no authorities that could be believed.
    pub(crate) fn server(&self, url: &str) -> Result<Server, Failure> {
        Server::parse(url, self.tls(url)?).map_err(|error| Failure::Usage(error.to_string()))
    }

    /// The trusted certificates, for clients that decide later whether they need TLS.
    ///
    /// # Errors
    /// The file of `--cacert` holds no certificates.
    pub(crate) fn believe(&self) -> Result<Believe, Failure> {
        Ok(match &self.cacert {
            Some(path) => Believe::Authorities(authorities_of(path)?),
            None => self.insecure.believe(),
        })
    }

    /// The TLS configuration for connections to a URL; `None` without TLS.
    ///
    /// # Errors
    /// When there are no authorities that could be believed.
    pub(crate) fn tls(&self, url: &str) -> Result<Option<Arc<ClientConfig>>, Failure> {
        let scheme = url.split(':').next().unwrap_or_default();
        if !SECURE.iter().any(|secure| scheme.eq_ignore_ascii_case(secure)) {
            return Ok(None);
        }
        let tls = match (&self.cacert, self.insecure.insecure) {
            (Some(path), _) => plimsoll_trust::believing(authorities_of(path)?),
            (None, true) => plimsoll_trust::believing_anybody(),
            (None, false) => {
                let authorities = plimsoll_trust::system_authorities();
                plimsoll_trust::believing(authorities.map_err(|error| {
                    Failure::Runtime(format!("{error} or name a file with --cacert").into())
                })?)
            }
        };
        Ok(Some(Arc::new(tls.with_no_client_auth())))
    }
}

fn authorities_of(path: &Path) -> Result<Authorities, Failure> {
    let wrong = |reason: String| {
        let path = path.display();
        Failure::Usage(format!(
            "--cacert {path}: {reason}; expected a PEM file with -----BEGIN CERTIFICATE-----"
        ))
    };
    let pem = fs::read(path).map_err(|error| wrong(format!("cannot read it: {error}")))?;
    Authorities::in_pem(&pem).map_err(|error| wrong(error.to_string()))
}
