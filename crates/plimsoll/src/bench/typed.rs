//! The meaning of the flags of all workloads.

use std::fmt::Display;

use clap::Args;
use plimsoll_load::watch::Target;
use plimsoll_shootout::Bench;

use crate::session::Format;

/// The flags of one workload.
pub(super) trait Typed: Args {
    /// A mistake in them.
    type Mistake: Display;

    /// The short name of `--format`.
    const SHORT_OF_FORMAT: Option<char> = Some('f');

    /// The URL of the server.
    fn url(&self) -> &str;

    /// Replaces the URL of the server.
    fn set_url(&mut self, url: String);

    /// The form of the result, if the workload's own flags name it.
    fn format(&self) -> Option<Format> {
        None
    }

    /// The bench that they ask for, with the form of its result and the targets that are watched.
    fn bench(self, format: Format, watched: &[Target]) -> Result<Bench, Self::Mistake>;
}
