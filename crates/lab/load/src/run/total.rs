//! The sum of all workers' reports.

use std::{
    mem,
    sync::{Arc, atomic::Ordering::Relaxed},
    time::Duration,
};

use super::{
    Failures, Iterations, Progress, RunError, RunHandle, Stretch, Users,
    account::Delta,
    scene::Scene,
    shift::{pairs, scene_recorder},
    worker::Report,
};
use crate::{
    attempts::Attempts,
    generator::{Glance, Schedule},
    metrics::{MetricSet, Recorder, SampleSender, built_in::Execution},
    plan::Plan,
    threshold::Finding,
};

pub(super) struct Total {
    pub(super) metrics: MetricSet,
    pub(super) iterations: Iterations,
    pub(super) failures: Failures,
    pub(super) notices: Vec<String>,
    /// Reported samples that `metrics` does not include yet. `None` if there are none.
    arrived: Option<MetricSet>,
    /// The end of the last settled stretch, and the counts at that time.
    settled: Settled,
    execution: Execution,
    run: RunHandle,
    n_not_ready: usize,
    max_vus: u32,
    /// The users of full seconds that are not settled yet. `None` without such a second.
    seconds: Option<Users>,
    scenes: Arc<[Scene]>,
    /// Samples of the run loop itself, which become part of `metrics` with the next progress.
    own: Recorder,
    /// The handle with the tags of the run.
    of_run: Recorder,
    /// By position of the scenario: its handle of `own`, and the number of recorded dropped iterations.
    dropped: Vec<(Recorder, u64)>,
}

/// What stretches so far add up to.
#[derive(Default)]
struct Settled {
    until: Duration,
    iterations: Iterations,
    n_failed: u64,
}

/// The most notices. Reason: a person does not read more.
pub(super) const MAX_NOTICES: usize = 100;

impl Total {
    pub(super) fn new(
        metrics: MetricSet,
        execution: Execution,
        run: RunHandle,
        n_workers: usize,
        plan: &Plan,
        scenes: Arc<[Scene]>,
        samples: Vec<SampleSender>,
    ) -> Self {
        let own = Recorder::with_queues(metrics.clone(), samples);
        let dropped = scenes.iter().map(|scene| (scene_recorder(&own, plan, scene), 0));
        Self {
            metrics,
            iterations: Iterations::default(),
            failures: Failures::default(),
            notices: Vec::new(),
            arrived: None,
            settled: Settled::default(),
            execution,
            run,
            n_not_ready: n_workers,
            max_vus: 0,
            seconds: None,
            dropped: dropped.collect(),
            scenes,
            of_run: own.with_tags(pairs(&plan.tags)),
            own,
        }
    }

    /// A handle for the samples of setup and teardown.
    pub(super) fn recorder(&self) -> Recorder {
        self.own.clone()
    }

    pub(super) fn add(&mut self, report: Report) -> Result<(), RunError> {
        match report {
            Report::Ready => self.n_not_ready = self.n_not_ready.saturating_sub(1),
            Report::Failed(error) => return Err(error),
            Report::Delta(delta) => self.merge(*delta),
        }
        Ok(())
    }

    /// Adds a message for people.
    pub(super) fn notice(&mut self, notice: String) {
        if self.notices.len() < MAX_NOTICES {
            self.notices.push(notice);
        }
    }

    /// Whether every worker has created its virtual users.
    pub(super) fn all_ready(&self) -> bool {
        self.n_not_ready == 0
    }

    /// Virtual users that exist.
    pub(super) fn max_vus(&self) -> u32 {
        self.max_vus
    }

    /// The state `elapsed` after the start, and the latest changes.
    pub(super) fn progress<'a>(
        &'a self,
        elapsed: Duration,
        thresholds: Vec<Finding>,
        recent: &'a Stretch,
    ) -> Progress<'a> {
        let active_vus = self.run.active_vus();
        let schedule = self.schedule();
        Progress {
            elapsed,
            active_vus,
            max_vus: self.max_vus,
            n_iterations_complete: self.iterations.n_complete,
            n_interrupted: self.iterations.n_interrupted,
            scenarios: self.scenes.iter().map(Scene::progress).collect(),
            thresholds,
            metrics: &self.metrics,
            recent,
            notices: &self.notices,
            failures: &self.failures,
            attempts: Attempts::of_run(&self.metrics, self.iterations.n_complete, self.failures.count()),
            schedule,
            agents: Vec::new(),
        }
    }

    /// Samples the gauges of virtual users, at a full second.
    pub(super) fn sample_vus(&mut self) {
        let second = self.run.take_users();
        self.seconds = Some(self.seconds.map_or(second, |before| before.and(second)));
        let active_vus = self.run.active_vus();
        self.of_run.set(self.execution.vus, f64::from(active_vus));
        self.sample_vus_max();
    }

    /// Samples the gauge of existing virtual users.
    pub(super) fn sample_vus_max(&mut self) {
        self.max_vus = self.run.counts().n_vus.load(Relaxed);
        let n_vus = f64::from(self.max_vus);
        self.of_run.set(self.execution.vus_max, n_vus);
    }

    /// What is left of common stores is dropped.
    pub(super) fn drop_rest(&mut self) {
        for scene in self.scenes.iter() {
            scene.drop_rest();
        }
    }

    /// What became of the arrivals of all scenarios together.
    pub(super) fn schedule(&self) -> Schedule {
        let schedules = self.scenes.iter().filter_map(Scene::schedule);
        schedules.fold(Schedule::default(), Schedule::and)
    }

    /// Adds reported samples and those of the run loop to the metrics, and returns them: the stretch since the last
    /// call, up to `end`.
    pub(super) fn settle(&mut self, end: Duration, generator: Glance) -> Stretch {
        for (scene, (recorder, n_recorded)) in self.scenes.iter().zip(&mut self.dropped) {
            let n_dropped = scene.n_dropped();
            if n_dropped > *n_recorded {
                recorder.count(self.execution.dropped_iterations, n_dropped - *n_recorded);
                *n_recorded = n_dropped;
            }
        }
        self.gather(self.own.take());
        let metrics = self.arrived.take().unwrap_or_else(|| self.metrics.empty());
        self.metrics.merge(&metrics);
        let now = Settled {
            until: end,
            iterations: self.iterations,
            n_failed: self.failures.count(),
        };
        let before = mem::replace(&mut self.settled, now);
        Stretch {
            start: before.until,
            end,
            metrics,
            iterations: self.iterations.since(before.iterations),
            n_failed: self.failures.count() - before.n_failed,
            users: self.users(),
            generator,
        }
    }

    /// The users of the full seconds since the last call; a peak after them counts, too. Without a full second, all
    /// users since then.
    fn users(&mut self) -> Users {
        match self.seconds.take() {
            Some(seconds) => seconds.with_peak(self.run.peak_users()),
            None => self.run.take_users(),
        }
    }

    fn merge(&mut self, delta: Delta) {
        self.gather(delta.metrics);
        self.iterations = self.iterations.and(delta.iterations);
        self.failures.merge(&delta.failures);
    }

    /// The first set of a second is used unchanged, so that gathering costs no more than merging each into the total.
    fn gather(&mut self, metrics: MetricSet) {
        match &mut self.arrived {
            Some(arrived) => arrived.merge(&metrics),
            None => self.arrived = Some(metrics),
        }
    }
}
