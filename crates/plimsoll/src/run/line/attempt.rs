//! A run of the load test with one load, before it starts.

use std::sync::Arc;

use plimsoll_line::objective::ERRORS;
use plimsoll_load::{
    metrics::{Contains, Registry, built_in::Execution},
    plan::Plan,
    vu::{Lifecycle, VuFactory},
};

use super::options::Timing;
use crate::{exit::Failure, fleet::Errand};

/// A run with one load that can start.
pub(super) struct Attempt {
    pub(super) plan: Plan,
    pub(super) registry: Registry,
    pub(super) factory: Arc<dyn VuFactory>,
    pub(super) stages: Box<dyn Lifecycle>,
    /// Whether the counter of failed iterations is the search's and not the test's own.
    pub(super) counts_errors: bool,
    /// What a fleet has to do; `None` if the users are in this process.
    pub(super) errand: Option<Errand>,
    /// The timing; `None` without a warm-up, when the whole run counts.
    pub(super) timing: Option<Timing>,
}

/// Adds the metrics of every run to those of a test, and the counter of failed iterations unless the test has a metric
/// of that name. Returns whether the counter was added.
pub(super) fn with_errors(mut registry: Registry) -> Result<(Registry, bool), Failure> {
    Execution::register(&mut registry)?;
    let is_free = registry.find(ERRORS).is_none();
    if is_free {
        registry.counter(ERRORS, Contains::Default)?;
    }
    Ok((registry, is_free))
}
