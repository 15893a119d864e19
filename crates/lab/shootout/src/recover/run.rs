//! The coordinator: starts the workers, publishes the messages, leads the run through its stages, and puts the accounts
//! together.

use std::{
    rc::Rc,
    sync::{Arc, OnceLock, atomic::Ordering::SeqCst},
    thread::JoinHandle,
    time::{Duration, Instant, SystemTime},
};

use plimsoll_clients::{tls::TlsError, websocket};
use plimsoll_load::generator::Monitor;
use plimsoll_report::percentile;
use tokio::{
    sync::{mpsc, watch},
    task::JoinSet,
    time::{MissedTickBehavior, interval},
};

use super::{
    board::Board,
    cost::CostWatch,
    measures::{Measures, Singles},
    options::RecoverOptions,
    outcome::RecoverOutcome,
    progress::Progress,
    publisher::{Published, Publisher},
    shared::{Setup, Stage},
    tally::Tally,
    worker::{self, Recent},
};
use crate::{
    execute::Company,
    fleet::WorkerLost,
    interrupt::Interrupt,
    journal::Journal,
    limit::judge,
    meter::Meter,
    onlooker::{Onlooker, SoFar},
    run::{Preflight, RunError},
};

/// The interval between looks at the clients' progress.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// The interval between reports of broadcasts: the timeline has seconds.
const TELL_EVERY: Duration = Duration::from_secs(1);

/// The capacity of the queue of workers' reports. When it is full, the next report contains more.
const N_RECENT: usize = 256;

/// The silence that ends the waiting once a person has ended the run.
const INTERRUPTED_QUIET: Duration = Duration::from_secs(1);

/// Why the run could not be done. Exit code 1.
#[derive(Debug, thiserror::Error)]
pub enum RecoverError {
    /// TLS cannot be used for broadcasts.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// An error that all workloads share.
    #[error(transparent)]
    Run(#[from] RunError),
}

/// A run in progress.
struct Run<'a> {
    setup: Arc<Setup>,
    journal: Journal,
    meter: Meter,
    interrupt: Interrupt,
    onlooker: Option<&'a dyn Onlooker>,
    singles: Option<Singles>,
    tally: Tally,
    published: Published,
    publisher: Option<Rc<Publisher>>,
    lanes: JoinSet<()>,
    stop: watch::Sender<bool>,
    told_at: Instant,
    /// The number of arrivals at the last look, and since when it is the same.
    arrived: (u64, Instant),
    drains_since: Option<Instant>,
    costs: CostWatch,
}

/// Runs the workload. An order to stop ends it early with the results so far.
pub(crate) async fn run(
    options: &RecoverOptions,
    company: Company<'_>,
    progress: &mut Progress<'_>,
) -> Result<RecoverOutcome, RecoverError> {
    let began = SystemTime::now();
    let Company {
        mut interrupt,
        onlooker,
        samples,
        sampling,
        agents: _,
    } = company;
    let addresses = tokio::select! {
        biased;
        () = interrupt.next() => return Err(RunError::Interrupted.into()),
        addresses = options.target.resolve() => addresses.map_err(RunError::from)?,
    };
    let address = addresses[0];
    let preflight = Preflight::new(address.ip(), &options.local_addresses);
    preflight.check(options.n_all() + options.n_streams)?;
    let monitor = Monitor::new();
    let mut meter = Meter::attach(monitor.clone(), &[address], &options.watched, sampling)?;
    let (measures, metrics) = Measures::new();
    let singles = Singles::new((measures, &metrics), samples.clone(), &options.target.to_string());
    meter.prepare();
    let started = Instant::now();
    meter.start(started);
    // The reading that the cost of the run counts from.
    meter.lap();
    let mut websocket = websocket::Options::new(options.target.clone(), addresses);
    websocket.origin = Some(options.origin.clone());
    websocket.headers = options.headers.clone();
    websocket.tls = options.tls.clone();
    websocket.deadline = options.connect_timeout;
    websocket.max_message_bytes += options.n_padding_bytes;
    let costs = CostWatch::begin(&options.watched).map_err(RunError::from)?;
    let mut setup = Setup {
        routes: Vec::new(),
        board: Arc::new(Board::new(options.n_streams)),
        stage: watch::Sender::new(Stage::Opening),
        begin: OnceLock::new(),
        started,
        monitor: monitor.clone(),
        measures: (measures, metrics.clone()),
        options: options.clone(),
    };
    setup.routes = preflight.routes(&websocket, Some(options.n_all()));
    let setup = Arc::new(setup);
    let (sender, recent) = mpsc::channel(N_RECENT);
    let n_workers = options.n_workers.min(options.n_all());
    let workers: Vec<_> = (0..n_workers)
        .map(|idx| {
            let clients = (idx..options.n_all()).step_by(n_workers).collect();
            let width = options.connect_width.div_ceil(n_workers);
            worker::spawn(
                idx,
                clients,
                width,
                Arc::clone(&setup),
                samples.clone(),
                sender.clone(),
            )
        })
        .collect::<Result<_, _>>()
        .map_err(RunError::Start)?;
    drop(sender);
    let mut run = Run {
        journal: Journal::new(metrics, monitor),
        meter,
        interrupt,
        onlooker,
        singles,
        tally: Tally::default(),
        published: Published::default(),
        publisher: None,
        lanes: JoinSet::new(),
        stop: watch::Sender::new(false),
        told_at: started,
        arrived: (0, started),
        drains_since: None,
        costs,
        setup,
    };
    run.lead(recent, progress).await?;
    run.finish(workers, n_workers, began)
}

impl Run<'_> {
    /// Leads the workers through the stages of the run, until they have ended.
    async fn lead(
        &mut self,
        mut recent: mpsc::Receiver<Recent>,
        progress: &mut Progress<'_>,
    ) -> Result<(), RecoverError> {
        let mut look = interval(LOOK_EVERY);
        look.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                told = recent.recv() => match told {
                    Some(Recent { at, tally }) => self.hear(at, &tally),
                    // The last worker has ended.
                    None => break,
                },
                _ = look.tick() => {
                    self.step()?;
                    let now = Instant::now();
                    if now.saturating_duration_since(self.told_at) >= TELL_EVERY {
                        self.told_at = now;
                        self.tell();
                        self.show();
                        if let Some(trouble) = self.meter.take_trouble() {
                            progress.note(&format!("{trouble}; its CPU and memory are missing"));
                        }
                    }
                    progress.show(self.setup.stage.borrow().to_owned(), &self.setup.board, &self.published);
                }
                () = self.interrupt.next() => self.interrupted(),
            }
        }
        self.lanes.abort_all();
        self.tell();
        progress.finish();
        Ok(())
    }

    /// Enters the next stage when the current one is over.
    fn step(&mut self) -> Result<(), RecoverError> {
        let (now, board) = (Instant::now(), Arc::clone(&self.setup.board));
        let n_clients = self.setup.options.n_all();
        let elapsed = now.saturating_duration_since(self.setup.started);
        self.journal.users(elapsed, board.n_connected.load(SeqCst));
        let stage = *self.setup.stage.borrow();
        match stage {
            Stage::Opening if board.n_begun.load(SeqCst) < n_clients => {}
            Stage::Opening if board.n_connected.load(SeqCst) == 0 => self.enter(Stage::Over),
            Stage::Opening => {
                self.costs.connected(board.n_connected.load(SeqCst));
                self.begin_publishing(now)?;
            }
            Stage::Publishing => {
                self.look_at_herd(now, &board);
                while self.lanes.try_join_next().is_some() {}
                let end = self
                    .setup
                    .begin
                    .get()
                    .map(|begin| *begin + self.setup.options.schedule.duration());
                if self.lanes.is_empty() && end.is_none_or(|end| now >= end) {
                    self.drain(now);
                }
            }
            Stage::Draining => {
                while self.lanes.try_join_next().is_some() {}
                if self.is_drained(now, &board) {
                    self.enter(Stage::Over);
                }
            }
            Stage::Over => {}
        }
        Ok(())
    }

    fn begin_publishing(&mut self, now: Instant) -> Result<(), RecoverError> {
        let options = Rc::new(self.setup.options.clone());
        let publisher = Rc::new(Publisher::new(&options, now, self.singles.is_some())?);
        for stream in 0..options.n_streams {
            let lane = Rc::clone(&publisher).lane(
                stream,
                Rc::clone(&options),
                Arc::clone(&self.setup.board),
                self.stop.subscribe(),
            );
            self.lanes.spawn_local(lane);
        }
        self.publisher = Some(publisher);
        // It is set only here.
        let _ = self.setup.begin.set(now);
        self.enter(Stage::Publishing);
        Ok(())
    }

    /// Begins the account of a herd's return shortly before it comes, and ends it when all clients are whole.
    fn look_at_herd(&mut self, now: Instant, board: &Board) {
        let options = &self.setup.options;
        let (timetable, herds) = (options.timetable, self.costs.n_herds());
        let cuts = timetable.cuts();
        let Some(begin) = self.setup.begin.get().filter(|_| cuts.is_herd) else {
            return;
        };
        let n_whole = board.n_whole.load(SeqCst);
        if self.costs.is_returning() {
            self.costs.whole(n_whole);
        }
        if herds < cuts.n_cuts && now + 2 * LOOK_EVERY >= *begin + timetable.cut(0, herds) + cuts.away {
            self.costs.herd_comes(board.n_ready.load(SeqCst), n_whole);
        }
    }

    fn drain(&mut self, now: Instant) {
        self.arrived = (self.setup.board.n_arrived.load(SeqCst), now);
        self.drains_since = Some(now);
        self.enter(Stage::Draining);
    }

    /// Whether nothing more is to be waited for.
    fn is_drained(&mut self, now: Instant, board: &Board) -> bool {
        let options = &self.setup.options;
        let n_arrived = board.n_arrived.load(SeqCst);
        if n_arrived != self.arrived.0 {
            self.arrived = (n_arrived, now);
        }
        let is_complete = self.lanes.is_empty() && board.n_complete.load(SeqCst) >= options.n_all();
        let quiet = if self.interrupt.is_requested() {
            INTERRUPTED_QUIET
        } else {
            options.quiet
        };
        let is_silent = now.saturating_duration_since(self.arrived.1) >= quiet;
        let is_late = self
            .drains_since
            .is_some_and(|since| now.saturating_duration_since(since) >= options.drain);
        is_complete || is_silent || is_late
    }

    /// The first order ends the broadcasts, the second one the waiting for what is missing.
    fn interrupted(&mut self) {
        self.stop.send_replace(true);
        let stage = *self.setup.stage.borrow();
        match stage {
            Stage::Publishing if !self.interrupt.is_urgent() => self.drain(Instant::now()),
            _ => self.enter(Stage::Over),
        }
    }

    fn enter(&self, stage: Stage) {
        self.setup.stage.send_replace(stage);
    }

    /// Takes in a worker's report.
    fn hear(&mut self, at: Duration, tally: &Tally) {
        let (measures, _) = &self.setup.measures;
        self.journal.hand_in(at, |second| measures.note(second, tally));
        self.tally.merge(tally);
    }

    /// Takes in what was published.
    fn tell(&mut self) {
        let Some(publisher) = &self.publisher else { return };
        let (recent, rtts) = publisher.take();
        let at = self.setup.started.elapsed();
        let (measures, _) = &self.setup.measures;
        let metrics = self.journal.at(at);
        measures.publish(metrics, &recent);
        for (cause, known) in recent.failures.iter() {
            metrics.faults_of(cause, &known.example, known.span.n, at);
        }
        if let Some(singles) = &self.singles {
            rtts.into_iter().for_each(|rtt| singles.published(rtt));
            singles.end_second(&recent, &Tally::default());
        }
        self.published.merge(&recent);
    }

    /// Shows the last full second.
    fn show(&mut self) {
        let Some(onlooker) = self.onlooker.filter(|it| it.is_looking()) else {
            return;
        };
        self.journal.reach(self.setup.started.elapsed());
        let Some(draft) = self.journal.so_far() else {
            return;
        };
        let options = &self.setup.options;
        onlooker.show(SoFar {
            thresholds: judge(&options.limits, draft.total(), draft.end()),
            plan: options.plan(),
            n_workers: options.n_workers,
            notices: Vec::new(),
            sampling: self.meter.sampling(),
            agents: Vec::new(),
            has_users: false,
            draft,
        });
    }

    fn finish(
        mut self,
        workers: Vec<JoinHandle<Tally>>,
        n_workers: usize,
        began: SystemTime,
    ) -> Result<RecoverOutcome, RecoverError> {
        let elapsed = self.setup.started.elapsed();
        for worker in workers {
            let rest = worker.join().map_err(|_| RunError::from(WorkerLost))?;
            self.hear(elapsed, &rest);
        }
        if self.tally.n_opened + self.tally.n_beside_opened == 0 {
            let error = if self.interrupt.is_requested() {
                RunError::Interrupted
            } else {
                RunError::NobodyReady {
                    n_clients: self.setup.options.n_all(),
                    causes: self.tally.failures,
                }
            };
            return Err(error.into());
        }
        let period = self.meter.lap();
        let chronicle = self.journal.finish(elapsed);
        let options = &self.setup.options;
        Ok(RecoverOutcome {
            health: period.health(Some(percentile(&self.tally.recovery, 95.0))),
            thresholds: judge(&options.limits, &chronicle.metrics, elapsed),
            targets: self.meter.finish(&chronicle.timeline, &[]),
            is_interrupted: self.interrupt.is_requested(),
            options: options.clone(),
            n_workers,
            began,
            elapsed,
            costs: self.costs.costs(),
            tally: self.tally,
            published: self.published,
            chronicle,
            period,
        })
    }
}
