//! `--format` of the benches.

use clap::ValueEnum;
use plimsoll_shootout as shootout;

/// How a bench prints its result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people: lines as the step or the run ends
    Text,
    /// One object, when the run is over
    Json,
}

impl From<Format> for shootout::Format {
    fn from(format: Format) -> Self {
        match format {
            Format::Text => Self::Text,
            Format::Json => Self::Json,
        }
    }
}
