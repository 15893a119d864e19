//! The side of a run that owns the total: starts the workers together, merges their reports, tells the observer,
//! evaluates thresholds, and stops everything on request.

use std::{
    future::Future,
    pin::Pin,
    sync::{Arc, atomic::AtomicU32},
    time::{Duration, SystemTime},
};

use tokio::{
    sync::{mpsc, watch},
    task::JoinSet,
    time::{Instant, Interval, MissedTickBehavior, timeout},
};

use super::{
    Control, Progress, RunEnd, RunError, RunHandle, RunResult, StageFailure, Total,
    scene::Scene,
    steward::Steward,
    total::MAX_NOTICES,
    worker::{Command, Order, REPORT_EVERY, Report},
};
use crate::{
    generator::Monitor,
    metrics::Recorder,
    plan::Plan,
    threshold::{EVALUATE_EVERY, Thresholds},
    vu::{Lifecycle, StageFuture},
    watch::Sampling,
};

/// How long after each full second the observer is called. Reason: workers report their deltas at the full second, and
/// that takes a moment.
const OBSERVE_AFTER: Duration = Duration::from_millis(100);

pub(super) struct RunLoop {
    pub(super) plan: Arc<Plan>,
    pub(super) scenes: Arc<[Scene]>,
    pub(super) run: RunHandle,
    pub(super) control: Control,
    pub(super) thresholds: Thresholds,
    pub(super) total: Total,
    pub(super) reports: mpsc::Receiver<Report>,
    pub(super) commands: watch::Sender<Command>,
    /// By worker; given away at the start.
    pub(super) orders: Vec<mpsc::Sender<Order>>,
    pub(super) monitor: Monitor,
    pub(super) sampling: Option<Arc<Sampling>>,
}

/// A run that has started.
struct Started {
    at: Instant,
    wall_clock: SystemTime,
    seconds: Interval,
    /// When the number of active virtual users is sampled: at full seconds, as in k6.
    vus_samples: Interval,
    next_evaluation: Duration,
    notices: mpsc::Receiver<String>,
    /// The stewards end with this set.
    stewards: JoinSet<()>,
}

impl RunLoop {
    /// Returns when all workers have ended. Returning earlier with an error drops the commands, which ends them.
    pub(super) async fn drive(
        mut self,
        lifecycle: &mut dyn Lifecycle,
        mut observe: impl FnMut(&Progress<'_>),
        shutdown: impl Future<Output = ()>,
    ) -> Result<RunResult, RunError> {
        let run = self.run.clone();
        let early_end = async {
            tokio::select! {
                () = shutdown => RunEnd::Shutdown,
                reason = run.aborted() => RunEnd::Aborted { reason },
            }
        };
        tokio::pin!(early_end);
        let end = match self.prepare(lifecycle, early_end.as_mut()).await? {
            Some(end) => end,
            None => {
                let mut started = self.start(lifecycle.start());
                let end = self.watch(&mut started, &mut observe, early_end).await?;
                drop(started.stewards);
                return self
                    .finish(lifecycle, end, Some((started.at, started.wall_clock)))
                    .await;
            }
        };
        self.stop_workers().await?;
        self.finish(lifecycle, end, None).await
    }

    /// Waits for the workers, then for a person to resume, then for setup. Returns why the run ends before it starts,
    /// if so.
    async fn prepare(
        &mut self,
        lifecycle: &mut dyn Lifecycle,
        mut early_end: Pin<&mut impl Future<Output = RunEnd>>,
    ) -> Result<Option<RunEnd>, RunError> {
        while !self.total.all_ready() {
            tokio::select! {
                end = &mut early_end => return Ok(Some(end)),
                report = self.reports.recv() => match report {
                    Some(report) => self.total.add(report)?,
                    // A worker that panicked has reported nothing.
                    None => return Err(RunError::WorkerPanicked),
                },
            }
        }
        let control = self.control.clone();
        let setup = async {
            control.resumed().await;
            if !self.plan.has_setup {
                return None;
            }
            let (recorder, run) = (
                stage_recorder(&self.total, &self.plan, "::setup"),
                self.run.clone(),
            );
            within(self.plan.setup_timeout, lifecycle.setup(recorder, run)).await
        };
        let end = tokio::select! {
            end = early_end => Some(end),
            failure = setup => failure.map(RunEnd::SetupFailed),
        };
        // A setup that ends the run fails at the same moment.
        Ok(end.map(|end| self.aborted().unwrap_or(end)))
    }

    /// Starts the workers: their load begins at `planned`, or now.
    fn start(&mut self, planned: Option<Instant>) -> Started {
        self.sampling.iter().for_each(|sampling| sampling.prepare());
        let targets = self.sampling.iter().flat_map(|sampling| sampling.places());
        self.monitor.leave_out(&targets.cloned().collect::<Vec<_>>());
        // The generator's work to create the virtual users and in setup is not part of the run.
        self.monitor.take();
        self.monitor.glance();
        let now = Instant::now();
        let at = planned.map_or(now, |planned| planned.max(now));
        let every_second = |first| {
            let mut seconds = tokio::time::interval_at(first, REPORT_EVERY);
            seconds.set_missed_tick_behavior(MissedTickBehavior::Skip);
            seconds
        };
        self.sampling
            .iter()
            .for_each(|sampling| sampling.start(at.into_std()));
        self.run.set_start(at);
        self.control.begin(at);
        self.commands.send_replace(Command::Start(at));
        let (notice_sender, notices) = mpsc::channel(MAX_NOTICES);
        let orders = std::mem::take(&mut self.orders);
        let next_index = Arc::new(AtomicU32::new(self.run.initialized_vus()));
        let mut stewards = JoinSet::new();
        for scene in (0..self.scenes.len()).filter(|&scene| self.scenes[scene].may_change()) {
            let steward = Steward {
                scene,
                scenes: Arc::clone(&self.scenes),
                start: at,
                orders: orders.clone(),
                next_index: Arc::clone(&next_index),
                notices: notice_sender.clone(),
            };
            stewards.spawn(steward.attend());
        }
        Started {
            at,
            wall_clock: SystemTime::now() + at.saturating_duration_since(now),
            seconds: every_second(at + REPORT_EVERY + OBSERVE_AFTER),
            vus_samples: every_second(at + REPORT_EVERY),
            next_evaluation: EVALUATE_EVERY,
            notices,
            stewards,
        }
    }

    /// Continues until all workers have ended. Returns why.
    async fn watch(
        &mut self,
        started: &mut Started,
        observe: &mut impl FnMut(&Progress<'_>),
        mut early_end: Pin<&mut impl Future<Output = RunEnd>>,
    ) -> Result<RunEnd, RunError> {
        let mut end = RunEnd::Complete;
        loop {
            let is_running = end == RunEnd::Complete;
            tokio::select! {
                report = self.reports.recv() => match report {
                    Some(report) => self.total.add(report)?,
                    None => {
                        while let Ok(notice) = started.notices.try_recv() {
                            self.total.notice(notice);
                        }
                        // Workers see an abort themselves, and may have ended before it is seen here.
                        return Ok(match end {
                            RunEnd::Complete => self.aborted().unwrap_or(end),
                            _ => end,
                        });
                    }
                },
                Some(notice) = started.notices.recv() => self.total.notice(notice),
                _ = started.vus_samples.tick() => self.total.sample_vus(),
                _ = started.seconds.tick() => {
                    let elapsed = started.at.elapsed();
                    // What workers recorded up to the last full second.
                    let until = Duration::from_secs(elapsed.as_secs());
                    let recent = self.total.settle(until, self.monitor.glance());
                    observe(&self.total.progress(elapsed, self.thresholds.findings(), &recent));
                    if is_running && self.has_crossed(started, elapsed) {
                        end = RunEnd::ThresholdsCrossed;
                        self.commands.send_replace(Command::Stop);
                    }
                }
                reason = &mut early_end, if is_running => {
                    end = reason;
                    self.commands.send_replace(Command::Stop);
                }
            }
        }
    }

    /// Evaluates the thresholds when it is time. Returns true if one of them ends the run.
    fn has_crossed(&mut self, started: &mut Started, elapsed: Duration) -> bool {
        if elapsed < started.next_evaluation {
            return false;
        }
        started.next_evaluation += EVALUATE_EVERY;
        self.thresholds.evaluate(&self.total.metrics, elapsed)
    }

    /// Ends workers that have not started.
    async fn stop_workers(&mut self) -> Result<(), RunError> {
        self.orders.clear();
        self.commands.send_replace(Command::Stop);
        while let Some(report) = self.reports.recv().await {
            self.total.add(report)?;
        }
        Ok(())
    }

    async fn finish(
        mut self,
        lifecycle: &mut dyn Lifecycle,
        end: RunEnd,
        started: Option<(Instant, SystemTime)>,
    ) -> Result<RunResult, RunError> {
        let (started_at, duration) = started.map_or_else(
            || (SystemTime::now(), Duration::ZERO),
            |(at, wall_clock)| (wall_clock, at.elapsed()),
        );
        let glance = self.monitor.glance();
        let generator = self.monitor.take();
        let (mut end, mut teardown_failure) = (end, None);
        // What was not set up is not torn down, as in k6.
        if started.is_some() {
            teardown_failure = self.tear_down(lifecycle).await;
        }
        // A run that was ended drops nothing, as in k6.
        if end == RunEnd::Complete {
            self.total.drop_rest();
        }
        if end == RunEnd::Complete
            && teardown_failure.is_some()
            && let Some(aborted) = self.aborted()
        {
            (end, teardown_failure) = (aborted, None);
        }
        self.total.sample_vus_max();
        let rest = self.total.settle(duration, glance);
        self.thresholds.conclude(&self.total.metrics, duration);
        Ok(RunResult {
            started_at,
            duration,
            end,
            max_vus: self.total.max_vus(),
            iterations: self.total.iterations,
            thresholds: self.thresholds.findings(),
            marked_failed: self.run.marked_failed(),
            teardown_failure,
            generator,
            schedule: self.total.schedule(),
            metrics: self.total.metrics,
            rest,
            failures: self.total.failures,
            notices: self.total.notices,
        })
    }

    /// The end that a virtual user, setup or teardown ordered.
    fn aborted(&self) -> Option<RunEnd> {
        self.run.abort_reason().map(|reason| RunEnd::Aborted { reason })
    }

    async fn tear_down(&self, lifecycle: &mut dyn Lifecycle) -> Option<StageFailure> {
        if !self.plan.has_teardown {
            return None;
        }
        let recorder = stage_recorder(&self.total, &self.plan, "::teardown");
        within(
            self.plan.teardown_timeout,
            lifecycle.teardown(recorder, self.run.clone()),
        )
        .await
    }
}

/// A handle for the samples of setup or teardown.
fn stage_recorder(total: &Total, plan: &Plan, group: &str) -> Recorder {
    let tags = plan
        .tags
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()));
    let group = plan.system_tags.contains("group").then_some(("group", group));
    total.recorder().with_tags(tags).with_tags(group)
}

/// Why `stage` failed, if it did.
async fn within(limit: Duration, stage: StageFuture<'_>) -> Option<StageFailure> {
    match timeout(limit, stage).await {
        Ok(result) => result.err().map(StageFailure::Failed),
        Err(_) => Some(StageFailure::TimedOut { limit }),
    }
}

#[cfg(test)]
mod tests;
