//! Takes one step: a whole run with one load, of which the steady part counts.

use std::{cell::RefCell, time::Duration};

use plimsoll_fleet::{ConductError, FleetError};
use plimsoll_line::{
    objective::{ERRORS, Objective, Samples, rules},
    report::Unit,
    step::{AgentMeasure, Measured, Step},
};
use plimsoll_load::{
    generator::{Monitor, Window},
    metrics::{Contains, CounterId, MetricSet, Value},
    run::{self, Control, Progress, RunConfig, RunEnd, RunResult},
    watch::Place,
};

use super::{
    attempt::Attempt,
    options::Timing,
    recording::{Recording, Steady},
    steady::{Places, SteadyLoad},
    talk::{Present, Talk},
    watched::Watched,
};
use crate::{
    exit::{Failure, TestFailure},
    fleet::{Errand, Field, Undone},
    session,
    signals::Signals,
};

/// The common parameters of all steps of a search.
#[derive(Clone, Copy, Debug)]
pub(super) struct Taker<'a> {
    pub(super) objectives: &'a [Objective],
    pub(super) timing: Timing,
    pub(super) talk: &'a Talk,
    pub(super) signals: &'a Signals,
}

/// A run that is over.
struct Ran {
    result: RunResult,
    /// The agents that made the load. Empty: this process made it.
    agents: Vec<AgentMeasure>,
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
    /// An agent cannot make its part of the load.
    Impossible(String),
    /// The fleet is not whole any more, or never was.
    Lost(String),
    /// A signal ended it.
    Interrupted,
}

impl Taken {
    /// The end of a step whose run on a fleet has no result.
    ///
    /// # Errors
    /// The reason is in the test, so no step can be taken.
    pub(super) fn of_undone(undone: Undone) -> Result<Self, Failure> {
        match undone {
            Undone::Conduct(ConductError::Fleet(error @ FleetError::Agent { .. })) => {
                Ok(Self::Impossible(error.to_string()))
            }
            Undone::Conduct(ConductError::Fleet(error)) => Ok(Self::Lost(error.to_string())),
            Undone::NotBegun(Failure::Test(TestFailure::Interrupted, _)) => Ok(Self::Interrupted),
            Undone::NotBegun(Failure::Test(TestFailure::FleetFailed, reason)) => Ok(Self::Lost(reason)),
            undone => Err(undone.into()),
        }
    }
}

impl Taker<'_> {
    /// The load of a step of this search.
    pub(super) fn steady(&self, load: u64, unit: Unit, places: Places) -> SteadyLoad {
        let metrics = rules(self.objectives).into_keys();
        SteadyLoad {
            load,
            unit,
            timing: self.timing,
            places,
            sub_metrics: metrics.filter(|name| name.contains('{')).collect(),
        }
    }

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
        let timing = attempt.timing.unwrap_or(self.timing);
        let places = watched.places();
        let recording = RefCell::new(Recording::new(timing, watched));
        let observe = |progress: &Progress<'_>| self.observe(present, progress, timing, &recording);
        let ran = match attempt.errand.take() {
            None => self.run_here(attempt, timing, &places, observe).await?,
            Some(mut errand) => {
                if present.number > 1 {
                    errand.wanted = errand.wanted.again();
                }
                self.run_elsewhere(errand, attempt, observe).await?
            }
        };
        let Ran { result, agents } = match ran {
            Ok(ran) => ran,
            Err(taken) => return Ok(taken),
        };
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
        let steady = recording.into_inner().finish(result);
        Ok(self.judge(present.load, steady, &agents, errors))
    }

    async fn run_here(
        &self,
        mut attempt: Attempt,
        timing: Timing,
        targets: &[Place],
        observe: impl Fn(&Progress<'_>),
    ) -> Result<Result<Ran, Taken>, Failure> {
        let monitor = Monitor::new();
        monitor.leave_out(targets);
        let window = RefCell::new(Window::new(monitor.clone(), timing.counted()));
        let observe = |progress: &Progress<'_>| {
            window.borrow_mut().observe(progress.recent.end);
            observe(progress);
        };
        let config = RunConfig {
            monitor,
            ..RunConfig::new(attempt.plan)
        };
        let (registry, factory) = (attempt.registry, attempt.factory);
        let shutdown = self.signals.received(1);
        let result = run::run(config, registry, factory, &mut *attempt.stages, observe, shutdown).await;
        let mut result = result.map_err(|error| session::of_error(&error).because(error))?;
        result.generator = window.into_inner().finish(result.generator);
        Ok(Ok(Ran {
            result,
            agents: Vec::new(),
        }))
    }

    /// Lets a fleet make the load.
    async fn run_elsewhere(
        &self,
        errand: Errand,
        mut attempt: Attempt,
        observe: impl Fn(&Progress<'_>),
    ) -> Result<Result<Ran, Taken>, Failure> {
        let field = Field {
            control: Control::of(&attempt.plan),
            plan: attempt.plan,
            registry: attempt.registry,
            sampling: None,
            samples: Vec::new(),
        };
        let shutdown = self.signals.received(1);
        let outcome = errand.run(field, &mut *attempt.stages, observe, shutdown).await;
        let outcome = match outcome {
            Ok(outcome) => outcome,
            Err(undone) => return Ok(Err(Taken::of_undone(undone)?)),
        };
        if let Some(reason) = outcome.incomplete {
            return Ok(Err(Taken::Lost(reason)));
        }
        let agents = outcome.agents.into_iter().filter_map(|agent| {
            let last = agent.last?;
            Some(AgentMeasure {
                name: agent.agent.name,
                evidence: last.evidence,
                schedule: last.rest.standing.schedule,
            })
        });
        Ok(Ok(Ran {
            result: outcome.result,
            agents: agents.collect(),
        }))
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

    fn judge(
        &self,
        load: u64,
        mut steady: Steady,
        agents: &[AgentMeasure],
        errors: Option<CounterId>,
    ) -> Taken {
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
            agents,
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
