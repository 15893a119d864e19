//! Why a run failed.

use std::io;

use crate::{metrics::RegisterError, threshold::ThresholdError, vu::VuId};

/// Why a run failed.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// A metric of the caller has the name of a built-in one.
    #[error(transparent)]
    Metric(#[from] RegisterError),
    /// A threshold cannot be evaluated.
    #[error(transparent)]
    Threshold(#[from] ThresholdError),
    /// The system refused a thread or an event loop.
    #[error("cannot start a worker: {0}")]
    Worker(#[from] io::Error),
    /// A virtual user could not be created.
    #[error("cannot create virtual user {vu}: {reason}")]
    Vu {
        /// Which one.
        vu: VuId,
        /// The factory's reason.
        reason: String,
    },
    /// A worker ended with a panic: a bug of this program.
    #[error("a worker panicked, so the figures of this run are incomplete")]
    WorkerPanicked,
}
