//! Why the calling of an application cannot begin.

use std::io;

use crate::tls::TrustError;

/// Why an application cannot be called at all.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// No thread, or no runtime.
    #[error("cannot start the thread that calls the application: {0}")]
    Thread(#[from] io::Error),
    /// The options for TLS.
    #[error(transparent)]
    Trust(#[from] TrustError),
    /// A secret that does not fit into a header.
    #[error(
        "the secret for the application has characters that no HTTP header can have; use letters and digits"
    )]
    Secret,
}
