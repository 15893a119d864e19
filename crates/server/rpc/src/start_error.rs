//! Why calls to an application cannot begin.

use std::io;

use crate::tls::TrustError;

/// Why an application cannot be called.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The thread or its runtime cannot be started.
    #[error("cannot start the thread that calls the application: {0}")]
    Thread(#[from] io::Error),
    /// The options for TLS cannot be used.
    #[error(transparent)]
    Trust(#[from] TrustError),
    /// The secret does not fit into a header.
    #[error(
        "the secret for the application has characters that HTTP headers cannot have; use letters and digits"
    )]
    Secret,
}
