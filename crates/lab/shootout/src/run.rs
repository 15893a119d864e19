//! The coordinator of a run: it starts the workers, turns events into records, and closes the books.

mod error;
mod preflight;
mod record;
mod servers;
mod survey;

use std::{
    future::pending,
    pin::pin,
    sync::Arc,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use plimsoll_load::{causes::Causes, generator::Monitor, pacer::Pacer};
use plimsoll_report::summary::Plan;
use tokio::time::sleep_until;

pub use self::error::RunError;
use self::survey::Survey;
pub(crate) use self::{preflight::Preflight, record::StepRecord, survey::Surveyed};
use crate::{
    fleet::{Fleet, WorkerLost},
    interrupt::Interrupt,
    journal::{Chronicle, Journal},
    ledger::{Harvest, SendTable},
    limit::{self, Limit},
    measures::{Measures, Singles},
    meter::Meter,
    onlooker::{LAG, SoFar},
    options::{Common, Model, Pacing, Steps},
    outcome::{Outcome, Setting, Step, Workload},
    pause::BetweenSteps,
    sink::Sink,
    wire::{self, Command, Wire},
    worker::{Event, Opening, Report, Setup, Unready},
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
    preflight: Preflight,
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
    OpenFailed(Unready),
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

impl<'a> Run<'a> {
    /// Makes all checks that need no connection, and starts the workers.
    pub(crate) async fn start(
        (workload, plan): (Workload, Plan),
        common: &Common,
        steps: &Steps,
        (n_padding_bytes, model): (usize, Option<&Model>),
        mut interrupt: Interrupt,
        sink: &'a mut dyn Sink,
    ) -> Result<Self, RunError> {
        let servers = tokio::select! {
            biased;
            () = interrupt.next() => return Err(RunError::Interrupted),
            servers = servers::resolve(common) => servers?,
        };
        let addresses: Vec<_> = servers.iter().map(|(_, addresses)| addresses[0]).collect();
        // The limits towards the first server stand for all: they are of this machine.
        let preflight = Preflight::new(addresses[0].ip(), &common.local_addresses);
        preflight.check(steps.n_clients().unwrap_or(steps.n_first))?;
        let routes = servers::routes(servers, common, steps.n_clients(), n_padding_bytes);
        let monitor = Monitor::new();
        let meter = Meter::attach(monitor.clone(), &addresses, &common.watched, sink.sampling())?;
        let wire = Wire::new(
            common.server_type,
            common.dialect,
            &common.channel,
            n_padding_bytes,
            wire_run(SystemTime::now()),
        );
        let (measures, metrics) = Measures::new();
        let target = common.target.to_string();
        let singles = Singles::new(measures, &metrics, sink.samples(), workload, &target);
        let setup = Setup {
            wire: Arc::new(wire),
            routes,
            subscribe_limit: common.connect_timeout,
            monitor: monitor.clone(),
        };
        let fleet = Fleet::start(common.n_workers, &Arc::new(setup), common.seed).map_err(RunError::Start)?;
        meter.prepare();
        let started = Instant::now();
        meter.start(started);
        Ok(Self {
            workload,
            plan,
            journal: Journal::new(metrics, monitor),
            measures,
            singles,
            collect_at: started + COLLECT_EVERY,
            show_at: started + COLLECT_EVERY + LAG,
            fleet,
            meter,
            interrupt,
            sink,
            setting: Setting {
                target,
                nodes: common.nodes.iter().map(ToString::to_string).collect(),
                server_type: common.server_type,
                n_workers: common.n_workers,
                seed: common.seed,
                model: model.cloned(),
            },
            started,
            preflight,
            pacing: common.pacing,
            limits: common.limits.clone(),
            steps: Vec::new(),
            drops: Causes::default(),
            messages: Vec::new(),
            survey: Survey::default(),
            speaks_cable: false,
        })
    }

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
                has_users: true,
            });
        }
    }

    /// The step numbered `step_idx` begins.
    pub(crate) fn begin_step(&mut self, step_idx: usize) {
        if let Some(singles) = &mut self.singles {
            singles.begin_step(step_idx + 1);
        }
        self.meter.lap();
    }

    /// A client of the ramp got ready.
    pub(crate) fn note_opening(&mut self, opening: &Opening) {
        let now = self.started.elapsed();
        let second = self.journal.at(now);
        second.connection(false);
        self.measures.opened(second, opening);
        if let Some(singles) = &self.singles {
            singles.opened(opening);
        }
        if self.workload == Workload::Connect {
            self.journal.complete(now, 1);
        }
    }

    /// A client of the ramp did not.
    pub(crate) fn note_failed_opening(&mut self, unready: &Unready) {
        let now = self.started.elapsed();
        self.journal.at(now).connection(true);
        let cause = format!("client not ready: {}", unready.cause.described());
        self.journal.fail(now, &cause, &unready.example, 1);
        if self.workload == Workload::Connect {
            self.journal.complete(now, 1);
        }
    }

    /// Whether the next command gets the delay.
    pub(crate) fn is_delayed(&mut self) -> bool {
        self.fleet.chance(self.pacing.chance_percent)
    }

    /// The delay of commands that get it.
    pub(crate) fn command_delay(&self) -> Duration {
        self.pacing.delay
    }

    /// Begins a step of at most `n_messages` messages. Returns its number, from 0.
    pub(crate) async fn open_step(
        &mut self,
        command: Command,
        n_messages: usize,
    ) -> Result<usize, WorkerLost> {
        let first_id = self.steps.last().map_or(1, |step| step.messages.ids().end);
        let floor = self.steps.last().map_or(0, |step| step.messages.floor());
        let table = Arc::new(SendTable::new(self.started, first_id, n_messages));
        self.fleet.open_step(&table).await?;
        self.steps.push(StepRecord::new(command, table, floor));
        Ok(self.steps.len() - 1)
    }

    /// Makes a client send one more message of the newest step, whose times count from `due`, or without that from the
    /// send. Returns the message's id, or `None` when no client is connected to the first server.
    pub(crate) async fn send(&mut self, due: Option<Instant>) -> Result<Option<u64>, WorkerLost> {
        let Some(step) = self.steps.last_mut().filter(|_| self.fleet.can_send()) else {
            return Ok(None);
        };
        let n_shares = match step.command {
            Command::Broadcast => self.fleet.n_workers_connected(),
            Command::Echo => 0,
        };
        let (id, floor) = step.messages.issue(n_shares);
        self.measures.sent(self.journal.at(self.started.elapsed()));
        if let Some(singles) = &self.singles {
            singles.sent();
        }
        self.fleet.send_from_anyone(step.command, id, floor, due).await?;
        Ok(Some(id))
    }

    /// The record of the step numbered `step_idx`.
    pub(crate) fn step(&mut self, step_idx: usize) -> &mut StepRecord {
        &mut self.steps[step_idx]
    }

    /// The workers' account of the step numbered `step_idx`.
    pub(crate) async fn report(&mut self, step_idx: usize) -> Result<Report, WorkerLost> {
        let mut events = Vec::new();
        let report = self.fleet.report(step_idx, |event| events.push(event)).await?;
        events.into_iter().for_each(|event| drop(self.record(event)));
        self.deliver(step_idx, self.started.elapsed(), &report.tally.harvest);
        Ok(report)
    }

    /// Waits no longer for deliveries of the step numbered `step_idx`. Missing ones are lost, and count with the time that
    /// was waited for them, at least with `at_least`. Returns the workers' account.
    pub(crate) async fn close_step(
        &mut self,
        step_idx: usize,
        at_least: Duration,
    ) -> Result<Report, WorkerLost> {
        let at = Instant::now();
        let mut events = Vec::new();
        let on_event = |event| events.push(event);
        let report = self.fleet.close_step(step_idx, (at, at_least), on_event).await?;
        events.into_iter().for_each(|event| drop(self.record(event)));
        self.deliver(step_idx, self.started.elapsed(), &report.tally.harvest);
        let step = &mut self.steps[step_idx];
        step.close(at, at_least);
        let now = self.started.elapsed();
        for waited in step.missing_times() {
            self.measures.reached_all(self.journal.at(now), waited);
            if let Some(singles) = &self.singles {
                singles.missed(waited);
            }
        }
        if step.command == Command::Broadcast {
            self.level(0, 0);
        }
        Ok(report)
    }

    /// Workers have told of deliveries of a step that came about `at` this time.
    fn deliver(&mut self, step_idx: usize, at: Duration, harvest: &Harvest) {
        if let Some(step) = self.steps.get_mut(step_idx) {
            step.deliver(harvest);
        }
        if let Some(singles) = &self.singles {
            singles.delivered(harvest.n_delivered);
        }
        let measures = self.measures;
        self.journal.hand_in(at, |second| {
            measures.delivered(&mut second.metrics, harvest);
        });
    }

    /// So many deliveries and broadcasts are on their way now.
    fn level(&mut self, n_deliveries: u64, n_broadcasts: usize) {
        let now = self.started.elapsed();
        self.measures
            .in_flight(self.journal.at(now), n_deliveries, n_broadcasts);
        if let Some(singles) = &self.singles {
            singles.in_flight(n_deliveries, n_broadcasts);
        }
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
        if let Err(error) = self.preflight.check(self.fleet.n_connected() + n_more) {
            self.note(format!("no further step: {error}"));
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

    /// Closes all connections and puts the result together. `report` is the workers' last one.
    pub(crate) async fn finish(mut self, steps: Vec<Step>, report: &Report) -> Outcome {
        let elapsed = self.started.elapsed();
        if let Some(singles) = &self.singles {
            singles.end_second(self.fleet.n_connected());
        }
        let chronicle = self.close_journal(elapsed);
        let targets = self.meter.finish(&chronicle.timeline, &chronicle.timeline.vus);
        let mut outcome = Outcome {
            workload: self.workload,
            plan: self.plan.clone(),
            setting: self.setting.clone(),
            steps,
            messages: Vec::new(),
            elapsed,
            thresholds: limit::judge(&self.limits, &chronicle.metrics, elapsed),
            chronicle,
            generator: self.meter.whole().clone(),
            targets,
            is_interrupted: self.interrupt.is_requested(),
            n_foreign: report.n_foreign,
            n_stray_answers: report.n_stray_answers,
            n_altered: report.n_altered,
        };
        outcome.remarks().into_iter().for_each(|remark| self.note(remark));
        outcome.messages = self.messages;
        outcome.learn();
        self.fleet.finish(self.interrupt).await;
        outcome
    }

    fn close_journal(&mut self, elapsed: Duration) -> Chronicle {
        for step in &self.steps {
            for given_up_at in step.messages.unanswered() {
                let at = given_up_at.map_or(elapsed, |at| at.saturating_duration_since(self.started));
                self.journal
                    .hand_in(at, |second| second.iterations.n_complete += 1);
                let cause =
                    "message without an answer: is --server-type right, and does the server answer in time?";
                self.journal.fail(at, cause, cause, 1);
            }
        }
        self.journal.finish(elapsed)
    }

    /// Records a remark about the figures: prints it now and keeps it for the result.
    pub(crate) fn note(&mut self, message: String) {
        self.sink.note(&message);
        self.messages.push(message);
    }

    fn record(&mut self, event: Event) -> Turn {
        let now = self.started.elapsed();
        if matches!(event, Event::Opened { .. } | Event::Dropped { .. }) {
            self.journal.users(now, self.fleet.n_connected());
        }
        match event {
            Event::Opened { opening, .. } => return Turn::Opened(opening),
            Event::OpenFailed(unready) => return Turn::OpenFailed(unready),
            Event::Dropped { cause, .. } => {
                self.journal.at(now).connection_lost();
                let text = format!("client lost its connection: {}", cause.described());
                self.journal.fail(now, &text, &text, 1);
                let cause = cause.to_string();
                self.drops.add_as(&cause, &cause, 1, now);
            }
            Event::Answered { id, latency } => {
                let was_awaited = self.step_of(id).map(|step| step.messages.answer(id, latency));
                if let Some(was_awaited) = was_awaited {
                    self.measures.answered(self.journal.at(now), latency);
                    if let Some(singles) = &self.singles {
                        singles.answered(latency);
                    }
                    self.journal.complete(now, 1);
                    if was_awaited {
                        return Turn::Settled;
                    }
                }
            }
            Event::Unanswerable { id } => {
                let at = self.started + now;
                if self.step_of(id).is_some_and(|step| step.abandon(id, at)) {
                    return Turn::Settled;
                }
            }
            Event::Completed(completion) => {
                let time = self
                    .step_of(completion.id)
                    .and_then(|step| step.complete(completion));
                if let Some(time) = time {
                    self.measures.reached_all(self.journal.at(now), time);
                    if let Some(singles) = &self.singles {
                        singles.reached_all(time);
                    }
                }
            }
            Event::Collected {
                step_idx,
                at,
                harvest,
            } => self.deliver(step_idx, at, &harvest),
            Event::Surveyed(standing) => {
                if let Some(surveyed) = self.survey.add(&standing) {
                    let n_broadcasts = self.steps.last().map_or(0, |step| step.messages.n_spreading());
                    if self.steps.last().is_some_and(|step| !step.is_closed()) {
                        self.level(surveyed.standing.n_missing(), n_broadcasts);
                    }
                    return Turn::Surveyed(surveyed);
                }
            }
            Event::SpeaksCable => {
                if !std::mem::replace(&mut self.speaks_cable, true) && self.workload == Workload::Connect {
                    self.note(
                        "the target speaks Action Cable: it sends a welcome. Clients count as ready before that; with \
                         --server-type actioncable-connect they count as ready when they are subscribed"
                            .to_owned(),
                    );
                }
            }
            Event::Reported(_) => {}
        }
        Turn::Recorded
    }

    fn step_of(&mut self, id: u64) -> Option<&mut StepRecord> {
        self.steps
            .iter_mut()
            .rev()
            .find(|step| step.messages.ids().contains(&id))
    }
}

/// A token and a start that no other run on the same channel has.
fn wire_run(now: SystemTime) -> wire::Run {
    let start = now.duration_since(UNIX_EPOCH).unwrap_or_default();
    wire::Run {
        token: fastrand::u32(..),
        start_ns: i64::try_from(start.as_nanos()).unwrap_or_default(),
    }
}
