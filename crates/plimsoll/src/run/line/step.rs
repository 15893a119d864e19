//! Takes one step: a whole run with one load, of which the steady part counts.

use std::{cell::RefCell, time::Duration};

use plimsoll_line::{
    objective::{ERRORS, Objective, Samples, rules},
    step::{Measured, Step},
};
use plimsoll_load::{
    generator::Monitor,
    metrics::{Contains, CounterId, MetricSet, Value},
    run::{self, Progress, RunConfig, RunEnd},
};

use super::{
    attempt::Attempt,
    options::Timing,
    recording::{Recording, Steady},
    talk::{Present, Talk},
    watched::Watched,
};
use crate::{exit::Failure, session, signals::Signals};

/// The common parameters of all steps of a search.
#[derive(Clone, Copy, Debug)]
pub(super) struct Taker<'a> {
    pub(super) objectives: &'a [Objective],
    pub(super) timing: Timing,
    pub(super) talk: &'a Talk,
    pub(super) signals: &'a Signals,
}

/// The end of a step.
#[derive(Debug)]
pub(super) enum Taken {
    Over {
        step: Box<Step>,
        /// The average duration of an iteration; `None` when none ended.
        iteration: Option<Duration>,
    },
    /// Setup failed, or the script ended the run.
    Unprepared(String),
    /// A signal ended it.
    Interrupted,
}

impl Taker<'_> {
    /// Runs the attempt to its end.
    ///
    /// # Errors
    /// When it cannot be run at all.
    pub(super) async fn take(
        &self,
        present: Present,
        mut attempt: Attempt,
        watched: &mut Watched,
    ) -> Result<Taken, Failure> {
        // A metric of the test's own with this name keeps it.
        let errors = attempt.registry.counter(ERRORS, Contains::Default).ok();
        let errors = errors.filter(|_| attempt.counts_errors);
        attempt.plan.thresholds = rules(self.objectives);
        let monitor = Monitor::new();
        let timing = attempt.timing.unwrap_or(self.timing);
        let recording = RefCell::new(Recording::new(timing, monitor.clone(), watched));
        let observe = |progress: &Progress<'_>| self.observe(present, progress, timing, &recording);
        let config = RunConfig {
            monitor,
            ..RunConfig::new(attempt.plan)
        };
        let (registry, factory) = (attempt.registry, attempt.factory);
        let shutdown = self.signals.received(1);
        let result = run::run(config, registry, factory, &mut *attempt.stages, observe, shutdown).await;
        let result = result.map_err(|error| session::of_error(&error).because(error))?;
        match &result.end {
            RunEnd::Shutdown => return Ok(Taken::Interrupted),
            RunEnd::SetupFailed(failure) => {
                return Ok(Taken::Unprepared(format!("setup() failed: {failure}")));
            }
            RunEnd::Aborted { reason } => return Ok(Taken::Unprepared(reason.clone())),
            RunEnd::Complete | RunEnd::ThresholdsCrossed => {}
        }
        if let Some(failure) = &result.teardown_failure {
            tracing::warn!("teardown() failed: {failure}");
        }
        Ok(self.judge(present.load, recording.into_inner().finish(result), errors))
    }

    fn observe(
        &self,
        present: Present,
        progress: &Progress<'_>,
        timing: Timing,
        recording: &RefCell<Recording<'_>>,
    ) {
        let mut recording = recording.borrow_mut();
        recording.observe(progress);
        self.talk.warn_of_futility(present, progress);
        let so_far = recording.so_far(progress);
        self.talk
            .present(present, progress, timing, so_far.as_ref(), self.objectives);
    }

    fn judge(&self, load: u64, mut steady: Steady, errors: Option<CounterId>) -> Taken {
        let n_failed = steady.failures.iter().map(|failure| failure.count).sum();
        if let Some(errors) = errors {
            steady.all.count(errors, n_failed);
            steady.within.count(errors, steady.n_failed_within);
        }
        let measured = Measured {
            samples: Samples {
                all: &steady.all,
                within: &steady.within,
                elapsed: steady.elapsed,
            },
            generator: &steady.generator,
            schedule: steady.schedule,
            failures: &steady.failures,
            targets: &steady.targets,
        };
        Taken::Over {
            step: Box::new(Step::judge(load, self.objectives, &measured)),
            iteration: mean_iteration(&steady.all),
        }
    }
}

fn mean_iteration(metrics: &MetricSet) -> Option<Duration> {
    let id = metrics.registry().find("iteration_duration")?;
    match metrics.value(id)? {
        Value::Trend(histogram) if !histogram.is_empty() => {
            Some(Duration::from_secs_f64(histogram.mean_us() / 1e6))
        }
        _ => None,
    }
}
