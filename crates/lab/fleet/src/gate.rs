//! The functions around the run of one agent: where an agent waits for the others.
//!
//! The engine calls them when all virtual users exist, and when the last iteration has ended. In a fleet the function
//! before the run is run by one agent, all begin at the same moment, and the function after the run is run by one agent
//! when all have ended.

use std::time::Duration;

use plimsoll_load::{
    metrics::Recorder,
    run::{RunHandle, StageFailure},
    vu::{Lifecycle, StageFuture},
};
use tokio::time::{Instant, sleep_until, timeout};

use crate::{Duty, message::Told};

/// The stages of an agent, around those of its test.
pub(crate) struct Gate<'a, S> {
    pub(crate) stages: &'a mut S,
    pub(crate) duty: Duty,
    pub(crate) setup_timeout: Duration,
    pub(crate) teardown_timeout: Duration,
    /// Virtual users that exist when the gate is reached.
    pub(crate) planned_vus: u32,
    pub(crate) has_teardown: bool,
    /// The common start, once it is known.
    pub(crate) start: Option<Instant>,
}

/// How long before the start the engine gets ready for it.
const READY_BEFORE: Duration = Duration::from_millis(200);

/// Why an agent that does not begin says so. The coordinator knows the true reason.
const NOT_BEGUN: &str = "the run was ended before it began";

impl<S: Lifecycle> Lifecycle for Gate<'_, S> {
    fn setup(&mut self, metrics: Recorder, run: RunHandle) -> StageFuture<'_> {
        Box::pin(async move {
            self.duty
                .tell(Told::Ready {
                    vus: self.planned_vus,
                })
                .await;
            let sets_up = |orders: &crate::duty::Orders| {
                let begins = orders.start.is_some() || orders.is_stopped;
                (orders.sets_up || begins).then_some(orders.sets_up)
            };
            if self.duty.until(sets_up).await == Some(true) {
                self.set_up(metrics, run.clone()).await?;
            }
            let start = self.duty.until(|orders| {
                let stopped = orders.is_stopped.then_some(None);
                stopped.or_else(|| orders.start.map(|start| Some((start, orders.data.clone()))))
            });
            let Some(Some((start, data))) = start.await else {
                return Err(NOT_BEGUN.to_owned());
            };
            if let Some(data) = data {
                self.stages.share(data);
            }
            self.start = Some(start);
            let duty = self.duty.clone();
            tokio::task::spawn_local(async move {
                let at_ns = duty.timepiece.at(run.begun().await);
                duty.tell(Told::Began { at_ns }).await;
            });
            tokio::select! {
                () = sleep_until(start - READY_BEFORE) => Ok(()),
                () = self.duty.stopped() => Err(NOT_BEGUN.to_owned()),
            }
        })
    }

    fn start(&self) -> Option<Instant> {
        self.start
    }

    fn teardown(&mut self, metrics: Recorder, run: RunHandle) -> StageFuture<'_> {
        Box::pin(async move {
            let aborted = run.abort_reason();
            self.duty.tell(Told::Idle { aborted }).await;
            let tears_down = self.duty.until(|orders| orders.finish).await;
            if tears_down != Some(true) || !self.has_teardown {
                return Ok(());
            }
            match timeout(self.teardown_timeout, self.stages.teardown(metrics, run)).await {
                Ok(torn_down) => torn_down,
                Err(_) => Err(StageFailure::TimedOut {
                    limit: self.teardown_timeout,
                }
                .to_string()),
            }
        })
    }
}

impl<S: Lifecycle> Gate<'_, S> {
    async fn set_up(&mut self, metrics: Recorder, run: RunHandle) -> Result<(), String> {
        let set_up = timeout(self.setup_timeout, self.stages.setup(metrics, run)).await;
        let failure = match set_up {
            Ok(Ok(())) => {
                let data = self.stages.shared().map(|data| data.to_string());
                self.duty.tell(Told::SetUp(data)).await;
                return Ok(());
            }
            Ok(Err(reason)) => StageFailure::Failed(reason),
            Err(_) => StageFailure::TimedOut {
                limit: self.setup_timeout,
            },
        };
        let reason = failure.to_string();
        self.duty.tell(Told::SetupFailed(failure)).await;
        Err(reason)
    }
}
