//! The limit of calls in progress, as given by options.

use std::num::NonZeroUsize;

/// The limit of calls that an application gets at the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Concurrency {
    /// Always this many.
    Fixed(NonZeroUsize),
    /// An adaptive limit: as many as the application turns out to work on.
    Adaptive(Bounds),
}

/// The first value and the bounds of an adaptive limit; `min <= initial <= max`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// The first limit.
    pub initial: NonZeroUsize,
    /// The lowest limit.
    pub min: NonZeroUsize,
    /// The highest limit.
    pub max: NonZeroUsize,
}

impl Concurrency {
    /// The most calls that can ever be in progress.
    pub(crate) fn max(self) -> usize {
        match self {
            Self::Fixed(limit) => limit.get(),
            Self::Adaptive(bounds) => bounds.max.get(),
        }
    }
}
