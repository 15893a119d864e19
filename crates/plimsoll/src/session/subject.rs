//! The subject of a run: what every view, report and output calls it.

use plimsoll_load::plan::Plan;
use plimsoll_report::summary::Kind;

use super::memory_check::Crowd;

/// The subject of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Subject<'a> {
    pub(crate) kind: Kind,
    /// The name of the test, as the user gave it.
    pub(crate) name: &'a str,
    pub(crate) plan: &'a Plan,
    pub(crate) crowd: Crowd,
    /// The metrics that come before all others in the terminal; the first of them that has samples is the main latency.
    pub(crate) leading: &'static [&'static str],
    /// Another page that belongs to the run, with its name.
    pub(crate) link: Option<(&'a str, &'a str)>,
}
