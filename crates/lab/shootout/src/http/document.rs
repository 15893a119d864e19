//! The requested document, as the first response shows it.

use plimsoll_clients::http::{Details, TlsFacts};

/// The first response. The lengths of all others are compared with its.
#[derive(Debug, Clone, PartialEq, Eq)]
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
        let is_printable = |c: &char| !c.is_control();
        Self {
            n_bytes,
            server_software: server
                .unwrap_or_default()
                .chars()
                .filter(is_printable)
                .take(MAX_NAME_CHARS)
                .collect(),
            tls: details.and_then(|details| details.tls.clone()),
        }
    }
}
