//! What one worker has counted since it last reported.

use std::{
    cell::{Cell, RefCell},
    time::Duration,
};

use super::{BuiltIn, Failures, Iterations};
use crate::{
    metrics::{MetricSet, Recorder},
    vu::IterationError,
};

/// The part of a worker's account that is handed to the run loop.
#[derive(Debug)]
pub(super) struct Delta {
    pub(super) worker: usize,
    pub(super) active_vus: u32,
    pub(super) metrics: MetricSet,
    pub(super) iterations: Iterations,
    pub(super) failures: Failures,
}

/// Shared by the virtual users of one worker; stays on its thread.
pub(super) struct Account {
    worker: usize,
    recorder: Recorder,
    built_in: BuiltIn,
    active_vus: Cell<u32>,
    iterations: Cell<Iterations>,
    failures: RefCell<Failures>,
}

impl Account {
    pub(super) fn new(worker: usize, metrics: MetricSet, built_in: BuiltIn) -> Self {
        Self {
            worker,
            recorder: Recorder::new(metrics),
            built_in,
            active_vus: Cell::default(),
            iterations: Cell::default(),
            failures: RefCell::default(),
        }
    }

    pub(super) fn recorder(&self) -> Recorder {
        self.recorder.clone()
    }

    /// Counts a virtual user as active until the guard is dropped.
    pub(super) fn activate(&self) -> impl Drop {
        self.active_vus.update(|n| n + 1);
        OnDrop(|| self.active_vus.update(|n| n - 1))
    }

    /// Counts an iteration as interrupted, unless it is completed before its guard is dropped.
    pub(super) fn begin_iteration(&self) -> OpenIteration<'_> {
        OpenIteration {
            account: self,
            is_complete: false,
        }
    }

    pub(super) fn fail(&self, reason: &str) {
        self.failures.borrow_mut().add(reason, 1);
    }

    /// All that was counted since the last call.
    pub(super) fn take(&self) -> Delta {
        Delta {
            worker: self.worker,
            active_vus: self.active_vus.get(),
            metrics: self.recorder.take(),
            iterations: self.iterations.take(),
            failures: self.failures.take(),
        }
    }
}

/// An iteration under way.
pub(super) struct OpenIteration<'a> {
    account: &'a Account,
    is_complete: bool,
}

impl OpenIteration<'_> {
    /// The iteration ended by itself after `duration`; failed ones count as complete, as in k6.
    pub(super) fn complete(mut self, duration: Duration, result: Result<(), IterationError>) {
        self.is_complete = true;
        let Account {
            recorder, built_in, ..
        } = self.account;
        recorder.count(built_in.iterations, 1);
        recorder.record(built_in.iteration_duration, duration);
        if let Err(error) = result {
            self.account.fail(&error.reason);
        }
    }
}

impl Drop for OpenIteration<'_> {
    fn drop(&mut self) {
        self.account.iterations.update(|iterations| Iterations {
            n_complete: iterations.n_complete + u64::from(self.is_complete),
            n_interrupted: iterations.n_interrupted + u64::from(!self.is_complete),
        });
    }
}

struct OnDrop<F: Fn()>(F);

impl<F: Fn()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}
