//! The coordinator of a run: it starts the workers, turns events into records, and closes the books.

mod ending;
mod error;
mod events;
mod preflight;
mod record;
pub(crate) mod servers;
mod start;
mod steps;
mod survey;

use std::{
    future::pending,
    pin::pin,
    time::{Duration, Instant},
};

use plimsoll_load::{causes::Causes, pacer::Pacer};
use plimsoll_report::summary::Plan;
use tokio::time::sleep_until;

pub use self::error::RunError;
use self::survey::Survey;
pub(crate) use self::{preflight::Preflight, record::StepRecord, survey::Surveyed};
use crate::{
    fleet::{Fleet, WorkerLost},
    interrupt::Interrupt,
    journal::Journal,
    limit::{self, Limit},
    measures::{Measures, Singles},
    meter::{Meter, Period},
    onlooker::{LAG, SoFar},
    options::Pacing,
    outcome::{Setting, Workload},
    pause::BetweenSteps,
    remote::Hub,
    sink::Sink,
    wire::Command,
    worker::{Failing, Opening},
};

/// The interval between reports of workers: a timeline has seconds.
const COLLECT_EVERY: Duration = Duration::from_secs(1);

/// The coordinator's state during a run.
pub(crate) struct Run<'a> {
    pub(crate) fleet: Fleet,
    pub(crate) meter: Meter,
    pub(crate) interrupt: Interrupt,
    pub(crate) sink: &'a mut dyn Sink,
    pub(crate) setting: Setting,
    pub(crate) started: Instant,
    workload: Workload,
    plan: Plan,
    journal: Journal,
    measures: Measures,
    /// The single samples; `None` when no output takes them.
    singles: Option<Singles>,
    /// The end of the current second.
    collect_at: Instant,
    /// The time of the next update of the view.
    show_at: Instant,
    /// The limits of this machine; `None` if agents have the clients.
    preflight: Option<Preflight>,
    /// Why a part of the load is missing; `None` if nothing is.
    missing: Option<String>,
    pacing: Pacing,
    limits: Vec<Limit>,
    steps: Vec<StepRecord>,
    drops: Causes,
    messages: Vec<String>,
    survey: Survey,
    /// Whether the server speaks Action Cable, although its type is another one.
    speaks_cable: bool,
}

/// The next event.
pub(crate) enum Turn {
    /// A client is ready.
    Opened(Opening),
    /// A client did not get ready.
    OpenFailed(Failing),
    /// A message that was awaited has been answered or never will be.
    Settled,
    /// All workers have told how many deliveries of the newest step have arrived.
    Surveyed(Surveyed),
    /// Another event, which has been recorded.
    Recorded,
    /// The given instant has come.
    Due,
    /// The user wants to end.
    Interrupted,
}

impl Run<'_> {
    /// Waits for the next event, for `due`, or for the user.
    ///
    /// # Errors
    /// A worker is lost, or the server turned out to speak Action Cable.
    pub(crate) async fn turn(&mut self, due: Option<Instant>) -> Result<Turn, RunError> {
        let timer = async {
            match due {
                Some(due) => sleep_until(due.into()).await,
                None => pending().await,
            }
        };
        self.turn_before(timer).await
    }

    /// As [`Self::turn`], with a `due` that is kept to the microsecond.
    pub(crate) async fn turn_on_time(&mut self, due: Instant, pacer: &Pacer) -> Result<Turn, RunError> {
        let timer = async {
            tokio::select! {
                _ = pacer.until(due) => {}
                () = pacer.run() => {}
            }
        };
        self.turn_before(timer).await
    }

    async fn turn_before(&mut self, timer: impl Future<Output = ()>) -> Result<Turn, RunError> {
        let turn = self.next_turn(timer).await?;
        if self.speaks_cable && self.workload != Workload::Connect {
            return Err(RunError::SpeaksCable);
        }
        Ok(turn)
    }

    async fn next_turn(&mut self, timer: impl Future<Output = ()>) -> Result<Turn, WorkerLost> {
        let second = sleep_until(self.collect_at.into());
        let show = sleep_until(self.show_at.into());
        tokio::select! {
            event = self.fleet.next_event() => Ok(self.record(event?)),
            () = timer => Ok(Turn::Due),
            () = self.interrupt.next() => Ok(Turn::Interrupted),
            () = second => {
                self.collect().await?;
                Ok(Turn::Recorded)
            }
            () = show => {
                self.show();
                Ok(Turn::Recorded)
            }
        }
    }

    /// Makes the workers report the counts of the last second.
    async fn collect(&mut self) -> Result<(), WorkerLost> {
        let now = Instant::now();
        // What was too late is in the second that is over by now.
        let n_over = now.saturating_duration_since(self.started).as_secs().max(1);
        self.collect_at = self.started + COLLECT_EVERY + Duration::from_secs(n_over);
        self.journal.reach(now - self.started);
        if let Some(singles) = &self.singles {
            singles.end_second(self.fleet.n_connected());
        }
        self.fleet.collect(Duration::from_secs(n_over - 1)).await?;
        self.ask_survey().await
    }

    /// Asks the workers how many deliveries of the newest step have arrived, unless they are asked already. The answer is
    /// [`Turn::Surveyed`].
    pub(crate) async fn ask_survey(&mut self) -> Result<(), WorkerLost> {
        let Some((step_idx, step)) = self.steps.iter().enumerate().next_back() else {
            return Ok(());
        };
        let is_wanted = step.command == Command::Broadcast && !step.is_closed();
        if is_wanted && !self.survey.is_under_way() {
            let asked_at = Instant::now();
            let n_answers = self.fleet.survey(step_idx, step.messages.ids().end).await?;
            self.survey.begin(asked_at, n_answers);
        }
        Ok(())
    }

    /// Whether workers still owe answers to [`Self::ask_survey`].
    pub(crate) fn is_surveying(&self) -> bool {
        self.survey.is_under_way()
    }

    /// Shows the run up to the last full second.
    fn show(&mut self) {
        let now = self.started.elapsed();
        self.show_at = self.started + Duration::from_secs(now.as_secs() + 1) + LAG;
        let Some(onlooker) = self.sink.onlooker().filter(|it| it.is_looking()) else {
            return;
        };
        self.journal.reach(now);
        if let Some(draft) = self.journal.so_far() {
            let mut thresholds = limit::judge(&self.limits, draft.total(), draft.end());
            thresholds.retain(|threshold| threshold.value.is_some());
            onlooker.show(SoFar {
                draft,
                plan: self.plan.clone(),
                n_workers: self.setting.n_workers,
                thresholds,
                notices: self.messages.clone(),
                sampling: self.meter.sampling(),
                agents: self.fleet.hub().map_or_else(Vec::new, Hub::agents),
                has_users: true,
            });
        }
    }

    /// The step numbered `step_idx` begins.
    pub(crate) async fn begin_step(&mut self, step_idx: usize) -> Result<(), WorkerLost> {
        if let Some(singles) = &mut self.singles {
            singles.begin_step(step_idx + 1);
        }
        self.lap().await?;
        Ok(())
    }

    /// Whether the next command gets the delay.
    pub(crate) fn is_delayed(&mut self) -> bool {
        self.fleet.chance(self.pacing.chance_percent)
    }

    /// The delay of commands that get it.
    pub(crate) fn command_delay(&self) -> Duration {
        self.pacing.delay
    }

    /// The drops since the last call.
    pub(crate) fn take_drops(&mut self) -> Causes {
        std::mem::take(&mut self.drops)
    }

    /// Reports why the target is no longer watched, if it is not.
    pub(crate) fn tell_trouble(&mut self) {
        if let Some(trouble) = self.meter.take_trouble() {
            self.note(format!("{trouble}; its CPU and memory are missing from here on"));
        }
    }

    /// Whether another step with `n_more` clients can begin; waits as the user wants it between steps.
    pub(crate) async fn may_continue(
        &mut self,
        n_more: usize,
        between_steps: BetweenSteps,
    ) -> Result<bool, WorkerLost> {
        if let Some(obstacle) = self.obstacle(self.fleet.n_connected() + n_more).await? {
            self.note(format!("no further step: {obstacle}"));
            return Ok(false);
        }
        if between_steps.go_ahead.is_some() {
            self.sink
                .note("press Enter for the next step, Ctrl-C to end the run");
        }
        let mut pause = pin!(between_steps.pause());
        loop {
            if self.interrupt.is_requested() {
                return Ok(false);
            }
            tokio::select! {
                () = &mut pause => return Ok(true),
                event = self.fleet.next_event() => drop(self.record(event?)),
                () = self.interrupt.next() => {}
                () = sleep_until(self.collect_at.into()) => self.collect().await?,
                () = sleep_until(self.show_at.into()) => self.show(),
            }
        }
    }

    /// Why there is no room for so many clients, if there is none.
    async fn obstacle(&mut self, n_clients: usize) -> Result<Option<String>, WorkerLost> {
        if let Some(preflight) = &self.preflight {
            return Ok(preflight.check(n_clients).err().map(|error| error.to_string()));
        }
        let mut events = Vec::new();
        let obstacle = self.fleet.obstacle(n_clients, |event| events.push(event)).await?;
        self.record_all(events);
        Ok(obstacle)
    }

    /// The cost of the phase since the last lap. Call it at the beginning and the end of each phase.
    pub(crate) async fn lap(&mut self) -> Result<Period, WorkerLost> {
        if self.fleet.hub().is_none() {
            return Ok(self.meter.lap());
        }
        let asked_at = Instant::now();
        let mut events = Vec::new();
        let told = self.fleet.take_evidence(|event| events.push(event)).await?;
        self.record_all(events);
        Ok(self.meter.lap_of_agents(asked_at, told))
    }

    /// Records a remark about the figures: prints it now and keeps it for the result.
    pub(crate) fn note(&mut self, message: String) {
        self.sink.note(&message);
        self.messages.push(message);
    }
}
