//! The requested document, as the first response shows it.

use plimsoll_clients::http::{Details, TlsFacts};
use serde::{Deserialize, Serialize};

/// The first response. The lengths of all others are compared with its.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Document {
    /// Length of the body, with its content codings.
    pub n_bytes: u64,
    /// The `Server` field; empty without one.
    pub server_software: String,
    /// The parameters of TLS; `None` without TLS.
    pub tls: Option<TlsFacts>,
}

/// The largest length of a server's name in a report.
const MAX_NAME_CHARS: usize = 100;

impl Document {
    pub(crate) fn new(n_bytes: u64, details: Option<&Details>) -> Self {
        let server = details.and_then(|details| details.headers.text("server"));
        Self {
            n_bytes,
            server_software: printable(server.unwrap_or_default()),
            tls: details.and_then(|details| details.tls.clone()),
        }
    }

    /// A document that another machine tells of, for a report.
    #[must_use]
    pub(crate) fn made_printable(mut self) -> Self {
        self.server_software = printable(&self.server_software);
        if let Some(tls) = &mut self.tls {
            tls.cipher_suite = printable(&tls.cipher_suite);
        }
        self
    }
}

fn printable(name: &str) -> String {
    name.chars()
        .filter(|c| !c.is_control())
        .take(MAX_NAME_CHARS)
        .collect()
}
