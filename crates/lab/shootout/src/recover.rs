//! The workload `recover`: clients are cut and come back, and the bench counts which messages of their streams they lost,
//! got twice or in the wrong order, and how long they needed until they were whole again.
//!
//! A worker carries the clients of one thread. Each client keeps an [`account`] of its stream, in which every message has a
//! number. The coordinator publishes over HTTP and leads the run through its stages.

mod account;
mod board;
mod client;
mod cost;
mod execute;
mod measures;
mod message;
mod options;
mod outcome;
mod progress;
mod publisher;
mod ranges;
mod report;
mod run;
mod shared;
mod tally;
mod timetable;
mod worker;

use std::fmt::Display;

use self::measures::Measures;
pub(crate) use self::{execute::execute, run::RecoverError};
pub use self::{
    options::{Protocol, RecoverOptions},
    outcome::RecoverOutcome,
    timetable::{Cuts, Timetable, TooManyCuts},
};
use crate::limit::Limit;

/// The title of a run for people.
pub(crate) fn name(target: impl Display) -> String {
    format!("bench recover {target}")
}

/// Checks that the workload measures the metric of a threshold, and that the metric has the aggregation.
///
/// # Errors
/// The reason, for people.
pub fn check(limit: &Limit) -> Result<(), String> {
    let (_, metrics) = Measures::new();
    limit.check_among("recover", &Measures::names(), &metrics)
}
