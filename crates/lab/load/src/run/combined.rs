//! One run that several instances make together: their parts are merged into the progress and the result that one
//! instance with all users would have.
//!
//! Pure: the caller brings the parts and says when a second is over. Counts are added and histograms merged, so nothing
//! is averaged. A second is settled as soon as every instance that still runs has told of it.

use std::{
    collections::VecDeque,
    sync::Arc,
    time::{Duration, SystemTime},
};

use super::{
    Failures, Iterations, LastPart, Part, Progress, RunEnd, RunError, RunResult, ScenarioProgress, Standing,
    Stretch, register_expected_responses, total::MAX_NOTICES,
};
use crate::{
    attempts::Attempts,
    executor::Executor,
    generator::{Evidence, Glance, Schedule},
    metrics::{MetricSet, Outgoing, Registry, SampleSender, Tags, built_in::Execution, wire::WireError},
    plan::Plan,
    threshold::{EVALUATE_EVERY, Finding, Thresholds},
};

/// The run of all instances.
#[derive(Debug)]
pub struct Combined {
    plan: Arc<Plan>,
    execution: Execution,
    thresholds: Thresholds,
    metrics: MetricSet,
    instances: Vec<Instance>,
    settled_until: Duration,
    next_evaluation: Duration,
    iterations: Iterations,
    n_failed: u64,
    /// Merged from the standings of all instances.
    failures: Failures,
    notices: Vec<String>,
    /// The samples that only the whole run has. `None`: no output takes them.
    outgoing: Option<Outgoing>,
    /// The tags of these samples.
    tags: Arc<Tags>,
}

/// One instance, as far as it has told.
#[derive(Debug)]
struct Instance {
    plan: Plan,
    /// Parts that are not settled.
    waiting: VecDeque<Part>,
    /// The end of the latest part.
    until: Duration,
    standing: Standing,
    iterations: Iterations,
    state: State,
}

#[derive(Debug)]
enum State {
    Running,
    Ended(Box<LastPart>),
    Lost,
}

/// An instance whose parts do not add up to what it says of its whole run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// The instance, from 0.
    pub instance: usize,
    /// The iterations of its parts.
    pub of_parts: Iterations,
    /// The iterations of its whole run.
    pub of_run: Iterations,
}

impl Combined {
    /// A run of `plan` that has not started. `segments` are the plans of the instances, in their order.
    ///
    /// # Errors
    /// A metric of the caller has the name of a built-in one, or a threshold cannot be evaluated.
    pub fn new(plan: Plan, segments: Vec<Plan>, mut registry: Registry) -> Result<Self, RunError> {
        let execution = Execution::register(&mut registry)?;
        register_expected_responses(&plan, &mut registry);
        let thresholds = Thresholds::new(&plan.thresholds, &mut registry)?;
        let instances = segments.into_iter().map(|plan| Instance {
            plan,
            waiting: VecDeque::new(),
            until: Duration::ZERO,
            standing: Standing::default(),
            iterations: Iterations::default(),
            state: State::Running,
        });
        Ok(Self {
            metrics: MetricSet::new(Arc::new(registry)),
            execution,
            thresholds,
            instances: instances.collect(),
            settled_until: Duration::ZERO,
            next_evaluation: EVALUATE_EVERY,
            iterations: Iterations::default(),
            n_failed: 0,
            failures: Failures::default(),
            notices: Vec::new(),
            outgoing: None,
            tags: Arc::new(plan.tags.clone()),
            plan: Arc::new(plan),
        })
    }

    /// Lets outputs have the samples that only the whole run has: those of the gauges of users, and of the arrivals of lost
    /// instances.
    #[must_use]
    pub fn with_outputs(self, outputs: Vec<SampleSender>) -> Self {
        Self {
            outgoing: Outgoing::of(&self.metrics, outputs),
            ..self
        }
    }

    /// All metrics.
    pub fn registry(&self) -> &Arc<Registry> {
        self.metrics.shared_registry()
    }

    /// Takes the next part of an instance. Parts of an instance come in their order, each once.
    pub fn take(&mut self, instance: usize, part: Part) {
        let instance = &mut self.instances[instance];
        instance.until = part.end;
        instance.standing = part.standing.clone();
        instance.iterations = instance.iterations.and(part.iterations);
        instance.waiting.push_back(part);
    }

    /// An instance has ended.
    pub fn end(&mut self, instance: usize, last: LastPart) {
        self.take(instance, last.rest.clone());
        self.instances[instance].state = State::Ended(Box::new(last));
    }

    /// An instance is gone. What it has told counts.
    pub fn lose(&mut self, instance: usize) {
        let instance = &mut self.instances[instance];
        instance.state = State::Lost;
        instance.standing.active_vus = 0;
        for scene in &mut instance.standing.scenarios {
            scene.n_under_way = 0;
        }
    }

    /// Whether no instance runs any more.
    pub fn is_over(&self) -> bool {
        !self.instances.iter().any(Instance::is_running)
    }

    /// Adds a message for people.
    pub fn notice(&mut self, notice: String) {
        if self.notices.len() < MAX_NOTICES {
            self.notices.push(notice);
        }
    }

    /// The next second that every running instance has told of, merged into the metrics. `None`: there is none yet.
    ///
    /// # Errors
    /// A part has a metric that this test does not have.
    pub fn settle(&mut self) -> Result<Option<Stretch>, WireError> {
        let running = self.instances.iter().filter(|instance| instance.is_running());
        let told = running.map(|instance| instance.until).min();
        let waiting = self.instances.iter().flat_map(|instance| &instance.waiting);
        let Some(next) = waiting.map(|part| full_second(part.end)).min() else {
            return Ok(None);
        };
        if told.is_some_and(|told| next > told) || told.is_none() {
            return Ok(None);
        }
        self.merge_until(next).map(Some)
    }

    fn merge_until(&mut self, end: Duration) -> Result<Stretch, WireError> {
        let mut stretch = Stretch {
            start: self.settled_until,
            end,
            ..Stretch::empty(&self.metrics)
        };
        for instance in &mut self.instances {
            instance.settle_into(&mut stretch)?;
        }
        let active = self.instances.iter().map(|instance| instance.standing.active_vus);
        let (active, most) = (f64::from(active.sum::<u32>()), f64::from(self.max_vus()));
        stretch.metrics.set(self.execution.vus, active);
        stretch.metrics.set(self.execution.vus_max, most);
        if let Some(outgoing) = &self.outgoing {
            outgoing.set(self.execution.vus, active, &self.tags);
            outgoing.set(self.execution.vus_max, most, &self.tags);
            outgoing.flush();
        }
        self.metrics.merge(&stretch.metrics);
        self.iterations = self.iterations.and(stretch.iterations);
        self.n_failed += stretch.n_failed;
        self.settled_until = self.settled_until.max(end);
        self.failures = Failures::default();
        for instance in &self.instances {
            self.failures.merge(&instance.standing.failures);
        }
        Ok(stretch)
    }

    /// Evaluates the thresholds when it is time. Returns true if one of them ends the run.
    pub fn has_crossed(&mut self) -> bool {
        if self.settled_until < self.next_evaluation {
            return false;
        }
        self.next_evaluation = self.settled_until + EVALUATE_EVERY;
        self.thresholds.evaluate(&self.metrics, self.settled_until)
    }

    /// The state of the run after `recent`, the latest settled stretch.
    pub fn progress<'a>(
        &'a self,
        elapsed: Duration,
        recent: &'a Stretch,
        notices: &'a [String],
    ) -> Progress<'a> {
        let active = self.instances.iter().map(|instance| instance.standing.active_vus);
        Progress {
            elapsed,
            active_vus: active.sum(),
            max_vus: self.max_vus(),
            n_iterations_complete: self.iterations.n_complete,
            n_interrupted: self.iterations.n_interrupted,
            scenarios: self
                .plan
                .scenarios
                .iter()
                .map(|scenario| self.scene(scenario))
                .collect(),
            thresholds: self.findings(),
            metrics: &self.metrics,
            recent,
            notices,
            failures: &self.failures,
            attempts: Attempts::of_run(&self.metrics, self.iterations.n_complete, self.failures.count()),
            schedule: self.schedule(),
            agents: Vec::new(),
        }
    }

    /// The thresholds at their last evaluation.
    pub fn findings(&self) -> Vec<Finding> {
        self.thresholds.findings()
    }

    /// The messages for people so far, each once.
    pub fn notices(&self) -> Vec<String> {
        let mut all = self.notices.clone();
        for instance in &self.instances {
            for notice in &instance.standing.notices {
                if all.len() < MAX_NOTICES && !all.contains(notice) {
                    all.push(notice.clone());
                }
            }
        }
        all
    }

    fn scene<'a>(&self, scenario: &'a crate::plan::Scenario) -> ScenarioProgress<'a> {
        let mut sum = ScenarioProgress {
            scenario,
            vus: 0,
            n_under_way: 0,
            n_complete: 0,
            n_dropped: 0,
        };
        let scenes = self
            .instances
            .iter()
            .flat_map(|instance| &instance.standing.scenarios);
        for scene in scenes.filter(|scene| scene.name == scenario.name) {
            sum.vus += scene.vus;
            sum.n_under_way += scene.n_under_way;
            sum.n_complete += scene.n_complete;
            sum.n_dropped += scene.n_dropped;
        }
        sum
    }

    fn max_vus(&self) -> u32 {
        self.instances
            .iter()
            .map(|instance| instance.standing.max_vus)
            .sum()
    }

    fn schedule(&self) -> Schedule {
        let schedules = self.instances.iter().map(|instance| instance.standing.schedule);
        schedules.fold(Schedule::default(), Schedule::and)
    }

    /// What an instance did until now. `None` before its end.
    pub fn last_part(&self, instance: usize) -> Option<&LastPart> {
        match &self.instances[instance].state {
            State::Ended(last) => Some(last),
            State::Running | State::Lost => None,
        }
    }

    /// How an instance stood when it told last.
    pub fn standing(&self, instance: usize) -> &Standing {
        &self.instances[instance].standing
    }

    /// The iterations of the parts of an instance.
    pub fn iterations_of(&self, instance: usize) -> Iterations {
        self.instances[instance].iterations
    }

    /// The instances whose parts do not add up to their whole run.
    pub fn mismatches(&self) -> Vec<Mismatch> {
        let instances = self.instances.iter().enumerate();
        let found = instances.filter_map(|(at, instance)| {
            let State::Ended(last) = &instance.state else {
                return None;
            };
            (instance.iterations != last.iterations).then_some(Mismatch {
                instance: at,
                of_parts: instance.iterations,
                of_run: last.iterations,
            })
        });
        found.collect()
    }

    /// The result of the run, which ended for this reason. Iterations that lost instances did not begin are dropped.
    ///
    /// # Errors
    /// A part has a metric that this test does not have.
    pub fn finish(mut self, end: RunEnd, started_at: SystemTime) -> Result<RunResult, WireError> {
        let ends = self.instances.iter().map(|instance| instance.until);
        let until = ends.max().unwrap_or_default().max(self.settled_until);
        let n_lost: u64 = self.instances.iter_mut().map(Instance::drop_the_lost).sum();
        let mut rest = self.merge_until(until)?;
        if n_lost > 0 {
            let mut dropped = self.metrics.empty();
            dropped.count(self.execution.dropped_iterations, n_lost);
            if let Some(outgoing) = &self.outgoing {
                outgoing.count(self.execution.dropped_iterations, n_lost, &self.tags);
                outgoing.flush();
            }
            self.metrics.merge(&dropped);
            rest.metrics.merge(&dropped);
        }
        let duration = self.duration().max(until);
        self.thresholds.conclude(&self.metrics, duration);
        let mut evidence = Evidence::nothing();
        for last in self.ended() {
            evidence.beside(&last.evidence);
        }
        let marked_failed = self.ended().find_map(|last| last.marked_failed.clone());
        let teardown_failure = self.ended().find_map(|last| last.teardown_failure.clone());
        Ok(RunResult {
            started_at,
            duration,
            end,
            max_vus: self.max_vus(),
            iterations: self.iterations,
            thresholds: self.findings(),
            marked_failed,
            teardown_failure,
            generator: evidence,
            schedule: self.schedule(),
            notices: self.notices(),
            metrics: self.metrics,
            rest,
            failures: self.failures,
        })
    }

    fn ended(&self) -> impl Iterator<Item = &LastPart> {
        self.instances
            .iter()
            .filter_map(|instance| match &instance.state {
                State::Ended(last) => Some(&**last),
                State::Running | State::Lost => None,
            })
    }

    fn duration(&self) -> Duration {
        self.ended().map(|last| last.duration).max().unwrap_or_default()
    }
}

impl Instance {
    fn is_running(&self) -> bool {
        matches!(self.state, State::Running)
    }

    /// Moves the parts up to the end of the stretch into it. Parts of one instance follow each other, and those of
    /// several stand beside each other.
    fn settle_into(&mut self, stretch: &mut Stretch) -> Result<(), WireError> {
        let (mut users, mut glance) = (None, None);
        while let Some(part) = self.waiting.pop_front_if(|part| part.end <= stretch.end) {
            stretch.metrics.add_wire(&part.metrics)?;
            stretch.iterations = stretch.iterations.and(part.iterations);
            stretch.n_failed += part.n_failed;
            users = Some(match users {
                Some(before) => super::Users::and(before, part.users),
                None => part.users,
            });
            glance = Some(match glance {
                Some(before) => Glance::and(before, part.generator),
                None => part.generator,
            });
        }
        stretch.users = users.into_iter().fold(stretch.users, super::Users::beside);
        stretch.generator = glance.into_iter().fold(stretch.generator, Glance::beside);
        Ok(())
    }

    /// The iterations of a lost instance that no part has, as far as its plan says how many there are: they count as dropped.
    fn drop_the_lost(&mut self) -> u64 {
        if !matches!(self.state, State::Lost) {
            return 0;
        }
        let (mut n_arrivals, mut n_shared) = (0, 0);
        for scenario in &self.plan.scenarios {
            let scene = self
                .standing
                .scenarios
                .iter()
                .find(|scene| scene.name == scenario.name);
            let n_known = scene.map_or(0, |scene| scene.n_complete + scene.n_dropped);
            match &scenario.executor {
                Executor::ConstantArrivalRate(open) | Executor::RampingArrivalRate(open) => {
                    n_arrivals += open.arrivals.n_total().saturating_sub(n_known);
                }
                Executor::SharedIterations { iterations, .. } => {
                    n_shared += iterations.saturating_sub(n_known);
                }
                _ => {}
            }
        }
        // Scenarios are a moment ahead of the parts: their latest iterations are in none.
        let n_complete: u64 = self.standing.scenarios.iter().map(|scene| scene.n_complete).sum();
        let n_untold = n_complete.saturating_sub(self.iterations.n_complete);
        let known = self.standing.schedule;
        if n_arrivals > 0 {
            self.standing.schedule = Schedule {
                n_due: self.arrivals(),
                n_dropped: known.n_dropped + n_arrivals + n_untold,
            };
        }
        match n_arrivals + n_shared {
            0 => 0,
            n_left => n_left + n_untold,
        }
    }

    /// The arrivals of its whole plan.
    fn arrivals(&self) -> u64 {
        let arrivals = self
            .plan
            .scenarios
            .iter()
            .map(|scenario| match &scenario.executor {
                Executor::ConstantArrivalRate(open) | Executor::RampingArrivalRate(open) => {
                    open.arrivals.n_total()
                }
                _ => 0,
            });
        arrivals.sum()
    }
}

/// The first full second that is not before `time`.
fn full_second(time: Duration) -> Duration {
    Duration::from_secs(time.as_secs() + u64::from(time.subsec_nanos() > 0))
}
