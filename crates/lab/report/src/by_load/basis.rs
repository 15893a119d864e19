//! What figures by load are computed from.

use crate::{legs::Legs, summary::Target, timeline::Timeline};

/// What the levels of a run are made from.
#[derive(Debug)]
pub(crate) struct Basis<'a> {
    pub(crate) legs: &'a Legs,
    /// The main trend.
    pub(crate) latency: Option<&'a str>,
    /// The length of the run.
    pub(crate) seconds: f64,
    pub(crate) timeline: &'a Timeline,
    pub(crate) targets: &'a [Target],
}
