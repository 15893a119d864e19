//! The side of a run that owns the total: starts the workers together, merges what they report, tells the
//! observer, and stops everything on request.

use std::{
    future::Future,
    time::{Duration, SystemTime},
};

use tokio::{
    sync::{mpsc, watch},
    time::{Instant, Interval, MissedTickBehavior},
};

use super::{
    Progress, RunError, RunResult, Total,
    worker::{Command, REPORT_EVERY, Report},
};
use crate::generator::Monitor;

/// How long after each full second the observer is called. Reason: workers hand in their deltas at the full
/// second, and it takes them a moment.
const OBSERVE_AFTER: Duration = Duration::from_millis(100);

pub(super) struct RunLoop {
    total: Total,
    reports: mpsc::Receiver<Report>,
    commands: watch::Sender<Command>,
    monitor: Monitor,
    /// `None` until all workers are ready.
    started: Option<Started>,
}

struct Started {
    at: Instant,
    wall_clock: SystemTime,
    seconds: Interval,
}

impl RunLoop {
    pub(super) fn new(
        total: Total,
        reports: mpsc::Receiver<Report>,
        commands: watch::Sender<Command>,
        monitor: Monitor,
    ) -> Self {
        Self {
            total,
            reports,
            commands,
            monitor,
            started: None,
        }
    }

    /// Returns when all workers have ended. Returning earlier with an error drops the commands, which ends them.
    pub(super) async fn drive(
        mut self,
        mut observe: impl FnMut(&Progress<'_>),
        shutdown: impl Future<Output = ()>,
    ) -> Result<RunResult, RunError> {
        tokio::pin!(shutdown);
        let mut is_stopping = false;
        loop {
            tokio::select! {
                report = self.reports.recv() => match report {
                    Some(report) => self.total.add(report)?,
                    None => return Ok(self.finish()),
                },
                elapsed = second(&mut self.started) => observe(&self.total.progress(elapsed)),
                () = &mut shutdown, if !is_stopping => {
                    is_stopping = true;
                    self.commands.send_replace(Command::Stop);
                }
            }
            if self.started.is_none() && self.total.all_ready() && !is_stopping {
                self.start();
            }
        }
    }

    fn start(&mut self) {
        // What the generator did to make the virtual users is not part of the run.
        self.monitor.take();
        let at = Instant::now();
        let mut seconds = tokio::time::interval_at(at + REPORT_EVERY + OBSERVE_AFTER, REPORT_EVERY);
        seconds.set_missed_tick_behavior(MissedTickBehavior::Skip);
        self.commands.send_replace(Command::Start(at));
        self.started = Some(Started {
            at,
            wall_clock: SystemTime::now(),
            seconds,
        });
    }

    fn finish(self) -> RunResult {
        let (started_at, duration) = self.started.map_or_else(
            || (SystemTime::now(), Duration::ZERO),
            |started| (started.wall_clock, started.at.elapsed()),
        );
        self.total.into_result(started_at, duration, self.monitor.take())
    }
}

/// Waits for the next second of the run, if it has started, and says how long it has been going.
async fn second(started: &mut Option<Started>) -> Duration {
    match started {
        Some(started) => {
            started.seconds.tick().await;
            started.at.elapsed()
        }
        None => std::future::pending().await,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::{
        metrics::{MetricSet, Registry},
        run::{BuiltIn, Failures, Iterations, account::Delta},
    };

    fn delta(worker: usize, active_vus: u32, n_complete: u64, metrics: &MetricSet) -> Report {
        let iterations = Iterations {
            n_complete,
            n_interrupted: 1,
        };
        let failures = Failures::default();
        Report::Delta(Delta {
            worker,
            active_vus,
            metrics: metrics.clone(),
            iterations,
            failures,
        })
    }

    #[tokio::test(start_paused = true)]
    async fn observers_see_each_second_as_the_workers_reported_it() {
        let mut registry = Registry::new();
        let built_in = BuiltIn::register(&mut registry).unwrap();
        let empty = MetricSet::new(Arc::new(registry));
        let (commands, mut commanded) = watch::channel(Command::Prepare);
        let (reporter, reports) = mpsc::channel(8);
        let total = Total::new(empty.clone(), built_in, 2, 9);
        let run_loop = RunLoop::new(total, reports, commands, Monitor::new());

        let workers = async move {
            reporter.send(Report::Ready).await.unwrap();
            reporter.send(Report::Ready).await.unwrap();
            commanded
                .wait_for(|command| matches!(command, Command::Start(_)))
                .await
                .unwrap();
            for (second, active_vus) in [(1, 3), (2, 2)] {
                tokio::time::sleep(REPORT_EVERY).await;
                reporter.send(delta(0, active_vus, second, &empty)).await.unwrap();
                reporter.send(delta(1, 1, 0, &empty)).await.unwrap();
            }
            tokio::time::sleep(REPORT_EVERY / 2).await;
        };
        let mut seen = Vec::new();
        let observe = |progress: &Progress<'_>| {
            let ms = progress.elapsed.as_millis();
            seen.push((
                ms,
                progress.active_vus,
                progress.n_iterations_complete,
                progress.n_interrupted,
            ));
        };
        let (result, ()) = tokio::join!(run_loop.drive(observe, std::future::pending()), workers);
        let result = result.unwrap();
        assert_eq!(seen, [(1100, 4, 1, 2), (2100, 3, 3, 4)]);
        assert_eq!(result.duration.as_millis(), 2500);
        let gauges: Vec<_> = result
            .metrics
            .iter()
            .map(|(definition, value)| format!("{} {value:?}", definition.name))
            .collect();
        expect_test::expect![[r#"
            iterations Counter(0)
            vus Gauge(Gauge { value: 3.0, min: 3.0, max: 4.0 })
            vus_max Gauge(Gauge { value: 9.0, min: 9.0, max: 9.0 })"#]]
        .assert_eq(&gauges.join("\n"));
    }
}
