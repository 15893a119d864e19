//! The seam between *when* and *what*: a virtual user, whose iterations the run loop starts, times and ends.
//!
//! Native scenarios, scripts and scenario files all implement [`Vu`]. A virtual user lives on one worker thread for its
//! whole life, so it needs neither `Send` nor locks.

use std::{cell::Cell, fmt, future::Future, pin::Pin, rc::Rc, sync::Arc, time::Duration};

use tokio::time::Instant;

use crate::{metrics::Recorder, plan::Scenario, run::RunHandle};

/// The number of a virtual user in the whole run, from 1 (k6's `__VU`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct VuId(u32);

impl VuId {
    /// The first one.
    pub const FIRST: Self = Self(1);

    /// The id of the virtual user at `index`, counted from 0.
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

/// The context of an iteration.
///
/// A virtual user may run iterations of several scenarios, one after another, as in k6. So `scenario` can differ from
/// iteration to iteration, while the user's own state stays.
#[derive(Clone, Debug)]
pub struct IterationContext {
    /// Who runs it.
    pub vu: VuId,
    /// The number of earlier iterations of this virtual user (k6's `__ITER`).
    pub iteration: u64,
    /// The number of those in this scenario.
    pub iteration_in_scenario: u64,
    /// The number of earlier iterations of this scenario by all virtual users: unique in the run.
    pub scenario_iteration: u64,
    /// That number in the whole of a test that is split over several instances; otherwise the same number.
    pub scenario_iteration_in_test: u64,
    /// What it is a part of: the name, the function to call, environment and tags.
    pub scenario: Arc<Scenario>,
    /// The scheduled start. Latency of an open model counts from here.
    pub intended_start: Instant,
    /// When it started.
    pub start: Instant,
    /// Whether it has to end.
    pub cancellation: Cancellation,
    /// The recorder for metrics, with the tags of the run and of the scenario. Clone it for other tasks. The iteration's own
    /// metrics get the tags that it has at the end.
    pub metrics: Recorder,
    /// The run that it is a part of.
    pub run: RunHandle,
}

impl IterationContext {
    /// The delay of the generator itself.
    pub fn lateness(&self) -> Duration {
        self.start.saturating_duration_since(self.intended_start)
    }
}

/// Tells an iteration that it has to end. All clones share one state.
#[derive(Clone, Debug, Default)]
pub struct Cancellation {
    is_cancelled: Rc<Cell<bool>>,
}

impl Cancellation {
    /// Whether the iteration has to end. The poll that sees it is the last one.
    pub fn is_cancelled(&self) -> bool {
        self.is_cancelled.get()
    }

    pub(crate) fn set(&self, is_cancelled: bool) {
        self.is_cancelled.set(is_cancelled);
    }
}

/// Why an iteration failed or was interrupted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IterationError {
    /// It ended early by a failure (k6's `fail()` or an exception). It still counts as complete.
    #[error("{reason}")]
    Failed {
        /// What failed, for people. Keep it free of ids and times, so that equal failures can be counted together.
        reason: String,
    },
    /// It was interrupted, by its cancellation or because it aborted the run. It counts as interrupted.
    #[error("interrupted")]
    Interrupted,
}

impl IterationError {
    /// A failure with this reason.
    pub fn new(reason: impl Into<String>) -> Self {
        Self::Failed {
            reason: reason.into(),
        }
    }
}

/// One iteration in progress.
pub type Iteration<'a> = Pin<Box<dyn Future<Output = Result<(), IterationError>> + 'a>>;

/// One virtual user.
pub trait Vu {
    /// The user is new and will wait before its first iteration, perhaps for long: it may give back memory that only its
    /// creation needed.
    fn rest(&mut self) {}

    /// Runs the scenario once.
    ///
    /// Cancellation: when the user has to stop (its grace is over, the run ends, its controller removes it), the
    /// context's [`Cancellation`] is set. The future is polled once more, so that it can end in its own way, and is
    /// then dropped at its current `await`, whatever that poll returned. The iteration counts as interrupted. The user
    /// is dropped with it or gets another call later. Resources that must not outlive the iteration (sockets, tasks)
    /// belong to the future and end in its drop. A future that never returns from a poll cannot be interrupted and
    /// holds up all users of its worker.
    fn iterate<'a>(&'a mut self, context: &'a mut IterationContext) -> Iteration<'a>;
}

/// Makes the virtual users of a run; shared by all workers.
pub trait VuFactory: Send + Sync {
    /// Creates the user `vu` on the worker where it will stay: before the run starts, or during it when an executor
    /// needs more.
    ///
    /// # Errors
    /// The reason, for people. The run then does not start, or continues without the user.
    fn create(&self, vu: VuId) -> Result<Box<dyn Vu>, String>;
}

/// One of the two functions around a run, in progress.
pub type StageFuture<'a> = Pin<Box<dyn Future<Output = Result<(), String>> + 'a>>;

/// Functions that run once before the first iteration and once after the last one (k6's `setup` and `teardown`). Both
/// run on the thread of the run loop and have the plan's time limits.
pub trait Lifecycle {
    /// Called when all virtual users exist. An error ends the run before it starts.
    fn setup(&mut self, metrics: Recorder, run: RunHandle) -> StageFuture<'_> {
        drop((metrics, run));
        Box::pin(std::future::ready(Ok(())))
    }

    /// Done when all virtual users have ended, also when the run was aborted; not when setup failed.
    fn teardown(&mut self, metrics: Recorder, run: RunHandle) -> StageFuture<'_> {
        drop((metrics, run));
        Box::pin(std::future::ready(Ok(())))
    }

    /// When the load begins, asked after `setup`. `None`: at once.
    fn start(&self) -> Option<Instant> {
        None
    }

    /// What `setup` made for all virtual users, as text. `None`: nothing.
    fn shared(&self) -> Option<Arc<str>> {
        None
    }

    /// Takes what the `setup` of another instance made, before the first iteration.
    fn share(&mut self, data: Arc<str>) {
        drop(data);
    }

    /// What the users of this instance tell those of others during the run. `None`: nothing.
    fn exchange(&self) -> Option<Arc<dyn Exchange>> {
        None
    }

    /// The outcome of this instance's users as far as its metrics do not tell it, as JSON; asked when the run is over.
    fn outcome(&self) -> Option<String> {
        None
    }

    /// Adds the outcome of another instance's users.
    ///
    /// # Errors
    /// It cannot be read; for people.
    fn add_outcome(&mut self, outcome: &str) -> Result<(), String> {
        let _ = outcome;
        Ok(())
    }
}

/// What the users of one instance tell those of others that make the same run. Of each instance only the latest note counts.
pub trait Exchange: Send + Sync {
    /// Waits until this instance has something new to tell, and gives its note.
    fn next_note(&self) -> Pin<Box<dyn Future<Output = String> + Send + '_>>;

    /// Takes the latest notes of all other instances that have told one.
    fn hear(&self, notes: &[String]);
}

/// Nothing is done.
impl Lifecycle for () {}
