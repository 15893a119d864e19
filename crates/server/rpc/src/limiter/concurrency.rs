//! How many calls an application gets, as options say it.

use std::num::NonZeroUsize;

/// How many calls an application gets at the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Concurrency {
    /// Always this many.
    Fixed(NonZeroUsize),
    /// As many as the application turns out to work on.
    Adaptive(Bounds),
}

/// Where a limit that adapts begins and how far it goes; `min <= initial <= max`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// The first limit.
    pub initial: NonZeroUsize,
    /// The least.
    pub min: NonZeroUsize,
    /// The most.
    pub max: NonZeroUsize,
}

impl Concurrency {
    /// The most calls that can ever be under way.
    pub(crate) fn max(self) -> usize {
        match self {
            Self::Fixed(limit) => limit.get(),
            Self::Adaptive(bounds) => bounds.max.get(),
        }
    }
}
