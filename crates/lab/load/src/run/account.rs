//! One worker's counts since its last report.

use std::{
    cell::{Cell, RefCell},
    sync::atomic::Ordering::Relaxed,
    time::Duration,
};

use super::{Failures, Iterations, RunHandle};
use crate::{
    metrics::{MetricSet, Recorder, built_in::Execution},
    vu::IterationError,
};

/// The part of a worker's account that is sent to the run loop.
#[derive(Debug)]
pub(super) struct Delta {
    pub(super) metrics: MetricSet,
    pub(super) iterations: Iterations,
    pub(super) failures: Failures,
}

/// Shared by the virtual users of one worker. Stays on its thread.
pub(super) struct Account {
    recorder: Recorder,
    execution: Execution,
    run: RunHandle,
    iterations: Cell<Iterations>,
    failures: RefCell<Failures>,
}

impl Account {
    pub(super) fn new(recorder: Recorder, execution: Execution, run: RunHandle) -> Self {
        Self {
            recorder,
            execution,
            run,
            iterations: Cell::default(),
            failures: RefCell::default(),
        }
    }

    /// A handle of the worker's metrics, without tags.
    pub(super) fn recorder(&self) -> Recorder {
        self.recorder.clone()
    }

    /// Counts a virtual user as active until the guard is dropped.
    pub(super) fn activate(&self) -> impl Drop {
        self.run.enter();
        OnDrop(|| self.run.leave())
    }

    /// Counts an iteration as interrupted, unless it is completed before its guard is dropped.
    pub(super) fn begin_iteration(&self) -> OpenIteration<'_> {
        OpenIteration {
            account: self,
            is_complete: false,
        }
    }

    pub(super) fn fail(&self, reason: &str) {
        self.failures.borrow_mut().add(reason, 1, self.run.elapsed());
    }

    /// All that was counted since the last call.
    pub(super) fn take(&self) -> Delta {
        Delta {
            metrics: self.recorder.take(),
            iterations: self.iterations.take(),
            failures: self.failures.take(),
        }
    }
}

/// An iteration in progress.
pub(super) struct OpenIteration<'a> {
    account: &'a Account,
    is_complete: bool,
}

/// The duration of an iteration.
#[derive(Clone, Copy, Debug)]
pub(super) struct Timing {
    /// From its actual start.
    pub(super) duration: Duration,
    /// How late its start was, if it was scheduled.
    pub(super) lateness: Option<Duration>,
}

impl OpenIteration<'_> {
    /// The iteration ran to its end; failed ones count as complete, as in k6. `recorder` has its tags.
    pub(super) fn complete(
        mut self,
        timing: Timing,
        result: Result<(), IterationError>,
        recorder: &Recorder,
    ) {
        let failure = match result {
            Ok(()) => None,
            Err(IterationError::Failed { reason }) => Some(reason),
            Err(IterationError::Interrupted) => return,
        };
        self.is_complete = true;
        let Account { execution, .. } = self.account;
        recorder.count(execution.iterations, 1);
        recorder.record(execution.iteration_duration, timing.duration);
        if let Some(lateness) = timing.lateness {
            recorder.record(execution.iteration_lateness, lateness);
            recorder.record(execution.iteration_duration_scheduled, lateness + timing.duration);
        }
        if let Some(reason) = failure {
            self.account.fail(&reason);
        }
    }
}

impl Drop for OpenIteration<'_> {
    fn drop(&mut self) {
        self.account.iterations.update(|iterations| Iterations {
            n_complete: iterations.n_complete + u64::from(self.is_complete),
            n_interrupted: iterations.n_interrupted + u64::from(!self.is_complete),
        });
        let counts = self.account.run.counts();
        let count = if self.is_complete {
            &counts.n_complete
        } else {
            &counts.n_interrupted
        };
        count.fetch_add(1, Relaxed);
    }
}

struct OnDrop<F: Fn()>(F);

impl<F: Fn()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}
