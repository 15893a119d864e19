//! The flags of a series, which every load command has.

use clap::Args;

use crate::{comparing::TermsFlags, report::ReportFlags};

/// The most runs of one target. Reason: a page shows twelve runs beside each other.
const MOST: i64 = 12;

/// How many runs are made, and of which targets.
#[derive(Clone, Debug, Args)]
pub(crate) struct RepeatFlags {
    /// Run the test N times, each in a process of its own; with --against, N times on each target.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=MOST))]
    pub(super) repeat: u8,
    /// Compare with the same test of another target, the baseline: run both in turn, print the comparison, and exit with
    /// its verdict (0 equal, 3 worse, 4 inconclusive, 5 better).
    #[arg(long, value_name = "URL")]
    pub(super) against: Option<String>,
    #[command(flatten)]
    pub(super) terms: TermsFlags,
}

impl RepeatFlags {
    /// Whether more than one run is asked for.
    pub(super) fn is_series(&self) -> bool {
        self.repeat > 1 || self.against.is_some()
    }
}

/// The flags of a load command that decide about a series of its runs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SeriesFlags<'a> {
    pub(crate) repeat: &'a RepeatFlags,
    pub(crate) report: &'a ReportFlags,
    /// Whether the result is for programs.
    pub(crate) is_json: bool,
    pub(crate) is_quiet: bool,
    pub(crate) no_color: bool,
    /// Whether each run would wait for a signal at its end.
    pub(crate) lingers: bool,
}
