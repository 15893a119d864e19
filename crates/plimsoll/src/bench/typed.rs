//! What the flags of all workloads come to.

use std::fmt::Display;

use clap::Args;
use plimsoll_shootout::Bench;

/// Flags that say what a bench is to do.
pub(super) trait Typed: Args {
    /// What may be wrong with them.
    type Mistake: Display;

    /// What they mean.
    fn bench(self) -> Result<Bench, Self::Mistake>;
}
