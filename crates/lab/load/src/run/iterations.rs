//! The outcomes of a run's iterations.

/// The outcomes of a run's iterations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Iterations {
    /// By themselves, well or with an error.
    pub n_complete: u64,
    /// Dropped by the schedule or by a shutdown; these are in no other metric.
    pub n_interrupted: u64,
}

impl Iterations {
    /// The iterations that ended after `earlier`, an older state of this count.
    pub(super) fn since(self, earlier: Self) -> Self {
        Self {
            n_complete: self.n_complete - earlier.n_complete,
            n_interrupted: self.n_interrupted - earlier.n_interrupted,
        }
    }
}
