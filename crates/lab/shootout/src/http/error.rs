//! Why a run of `http` could not be done.

use plimsoll_clients::{
    http::{HttpError, Url},
    tls::TlsError,
};

use super::trouble::hint;
use crate::{fleet::WorkerLost, run::RunError};

/// The run could not be done. Exit code 1.
#[derive(Debug, thiserror::Error)]
pub enum HttpRunError {
    /// The request cannot be made.
    #[error("{0}{hint}", hint = hint(.0, .1))]
    Request(HttpError, Box<Url>),
    /// TLS cannot be used.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// No response was complete.
    #[error("{host} answered no request: {reason} ({n_failed} failed)")]
    NoAnswer {
        /// The server that was asked.
        host: String,
        /// The reason why the run ended, and what to do.
        reason: String,
        /// The number of failed requests.
        n_failed: u64,
    },
    /// An error that all workloads share.
    #[error(transparent)]
    Run(#[from] RunError),
}

impl From<WorkerLost> for HttpRunError {
    fn from(error: WorkerLost) -> Self {
        Self::Run(error.into())
    }
}
