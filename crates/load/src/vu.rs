//! The seam between *when* and *what*: a virtual user, whose iterations the run loop starts, times and ends.
//!
//! Native scenarios, scripts and scenario files all implement [`Vu`]. A virtual user lives on one worker
//! thread for its whole life, so it needs neither `Send` nor locks.

use std::{fmt, future::Future, pin::Pin};

use crate::metrics::Recorder;

/// The number of a virtual user in the whole run, from 1 (k6's `__VU`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct VuId(u32);

impl VuId {
    /// The id of the virtual user at `index`, which counts from 0.
    pub(crate) fn from_index(index: u32) -> Self {
        Self(index.saturating_add(1))
    }

    /// The number, from 1.
    pub fn get(self) -> u32 {
        self.0
    }
}

impl fmt::Display for VuId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// What an iteration may know and use.
#[derive(Clone, Debug)]
pub struct IterationContext {
    /// Who runs it.
    pub vu: VuId,
    /// How many iterations this virtual user began before (k6's `__ITER`).
    pub iteration: u64,
    /// Where it records metrics. Clone it for tasks of its own.
    pub metrics: Recorder,
}

/// An iteration that ended early by failure (k6's `fail()` or an exception). It still counts as complete.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct IterationError {
    /// What failed, for people. Keep it free of ids and times, so that equal failures can be counted together.
    pub reason: String,
}

impl IterationError {
    /// A failure with this reason.
    pub fn new(reason: impl Into<String>) -> Self {
        Self {
            reason: reason.into(),
        }
    }
}

/// One iteration under way.
pub type Iteration<'a> = Pin<Box<dyn Future<Output = Result<(), IterationError>> + 'a>>;

/// One virtual user.
pub trait Vu {
    /// Runs the scenario once.
    ///
    /// Cancellation: when the user has to stop (ramp-down and its grace are over, end of the run, interrupt by a
    /// person), the future is dropped at its current `await`, and the user is dropped with it or gets another
    /// call later. Whatever must not outlive the iteration (sockets, tasks) belongs to the future and ends in
    /// its drop. A future that never awaits cannot be interrupted and holds up all users of its worker.
    fn iterate<'a>(&'a mut self, context: &'a mut IterationContext) -> Iteration<'a>;
}

/// Makes the virtual users of a run; shared by all workers.
pub trait VuFactory: Send + Sync {
    /// Makes the user `vu` on the worker that it will stay on, before the run starts.
    ///
    /// # Errors
    /// The reason, for people. The run then does not start.
    fn create(&self, vu: VuId) -> Result<Box<dyn Vu>, String>;
}
