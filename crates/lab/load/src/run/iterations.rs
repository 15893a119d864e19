//! The outcomes of a run's iterations.

use serde::{Deserialize, Serialize};

/// The outcomes of a run's iterations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Iterations {
    /// By themselves, well or with an error.
    pub n_complete: u64,
    /// Dropped by the schedule or by a shutdown; these are in no other metric.
    pub n_interrupted: u64,
}

impl Iterations {
    /// Both together.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            n_complete: self.n_complete.saturating_add(other.n_complete),
            n_interrupted: self.n_interrupted.saturating_add(other.n_interrupted),
        }
    }

    /// The iterations that ended after `earlier`, an older state of this count.
    pub(super) fn since(self, earlier: Self) -> Self {
        Self {
            n_complete: self.n_complete - earlier.n_complete,
            n_interrupted: self.n_interrupted - earlier.n_interrupted,
        }
    }
}
