//! How the iterations of a run ended.

/// How the iterations of a run ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Iterations {
    /// By themselves, well or with an error.
    pub n_complete: u64,
    /// Dropped by the schedule or by a shutdown; these are in no other metric.
    pub n_interrupted: u64,
}

impl Iterations {
    /// Those that ended after `earlier`, an older state of this very count.
    pub(super) fn since(self, earlier: Self) -> Self {
        Self {
            n_complete: self.n_complete - earlier.n_complete,
            n_interrupted: self.n_interrupted - earlier.n_interrupted,
        }
    }
}
