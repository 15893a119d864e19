//! A worker: one thread with its share of the lanes, on a runtime of its own.
//!
//! A lane is a place in which one request at a time is under way. It claims the next request of the schedule, waits until
//! that is due, sends it, and records the result. It gets no orders and wakes no other task.

use std::{
    cell::{Cell, RefCell},
    io,
    net::IpAddr,
    rc::Rc,
    sync::{Arc, Mutex, OnceLock, PoisonError, mpsc},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use plimsoll_clients::http::{Attempt, Connections, HttpError, Repeater, Settings, Template};
use plimsoll_load::{generator::Monitor, pacer::Pacer};
use tokio::{
    runtime::{Builder, LocalOptions, LocalRuntime},
    sync::{Notify, watch},
    task::JoinSet,
    time::{Instant as TokioInstant, sleep_until},
};

use super::{
    backoff::Backoff,
    board::Board,
    document::Document,
    measures::{SampledRequest, Singles},
    samples::Samples,
    schedule::{Schedule, Ticket},
    tally::{Ending, Tally},
    transcript::Transcript,
};

/// The interval between reports of a worker: the timeline has seconds.
const TELL_EVERY: Duration = Duration::from_secs(1);

/// The progress of stopping a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Stage {
    /// Requests start.
    Running,
    /// No request starts; requests in progress are completed.
    Finishing,
    /// Requests in progress are abandoned.
    Abandoned,
}

/// The common data of all workers of a run.
#[derive(Debug)]
pub(crate) struct Setup {
    pub(crate) template: Arc<Template>,
    pub(crate) settings: Arc<Settings>,
    pub(crate) source: Option<IpAddr>,
    /// Whether failures of connections leave the run going (`-r`).
    pub(crate) goes_on: bool,
    /// Whether all bodies must have the length of the first (no `-l`).
    pub(crate) compares_lengths: bool,
    pub(crate) keeps_samples: bool,
    /// The first response of this process.
    pub(crate) document: OnceLock<Document>,
    /// The length of the first response of all processes that make the run together; `None`: this one has all requests.
    pub(crate) common_length: Option<OnceLock<u64>>,
    /// Told when there is a first response, or trouble: an agent passes both on.
    pub(crate) news: Arc<Notify>,
    /// Shows the exchanges themselves; `None` in most runs.
    pub(crate) transcript: Option<Transcript>,
    /// The failure that ended the run.
    pub(crate) trouble: Mutex<Option<HttpError>>,
    pub(crate) stage: watch::Sender<Stage>,
    pub(crate) boards: Vec<Board>,
    pub(crate) monitor: Monitor,
    /// The request in single samples.
    pub(crate) request: SampledRequest,
}

impl Setup {
    /// The length that all bodies must have; `None` while it is not known.
    pub(crate) fn expected_length(&self) -> Option<u64> {
        match &self.common_length {
            Some(length) => length.get().copied(),
            None => self.document.get().map(|document| document.n_bytes),
        }
    }
}

/// The coordinator's hold on a worker.
#[derive(Debug)]
pub(crate) struct Handle {
    /// Gives the worker the schedule, with which it begins.
    pub(crate) begin: mpsc::SyncSender<Arc<Schedule>>,
    pub(crate) thread: JoinHandle<Report>,
}

/// A worker's account.
#[derive(Debug, Default)]
pub(crate) struct Report {
    pub(crate) tally: Tally,
    /// The number of requests in progress when the worker was ordered not to wait.
    pub(crate) n_abandoned: u64,
}

/// The work of a worker in a second.
#[derive(Debug)]
pub(crate) struct Recent {
    /// The second, relative to the start of the counted requests.
    pub(crate) at: Duration,
    pub(crate) tally: Tally,
}

/// Starts a worker with a group of so many lanes per connection. It is ready when this returns, and begins when it is
/// given the schedule. Each second it tells through `recent` what it did, and when it has ended, that is dropped.
///
/// # Errors
/// The system gives no thread or no event queue (too many open files).
pub(crate) fn spawn(
    worker_idx: usize,
    groups: Vec<usize>,
    setup: Arc<Setup>,
    recent: tokio::sync::mpsc::Sender<Recent>,
) -> io::Result<Handle> {
    let (begin, schedule) = mpsc::sync_channel(1);
    let (started, has_started) = mpsc::sync_channel(1);
    let thread = thread::Builder::new()
        .name(format!("bench-{worker_idx}"))
        .spawn(move || {
            // The spawner is waiting; if it were not, the worker would end with the schedule that does not come.
            let (made, outcome) =
                event_loop().map_or_else(|error| (None, Err(error)), |it| (Some(it), Ok(())));
            let _ = started.send(outcome);
            match (made, schedule.recv()) {
                (Some((runtime, pacer)), Ok(schedule)) => {
                    let shared = Rc::new(Shared::new(worker_idx, setup, schedule, pacer));
                    runtime.block_on(shared.run(&groups, recent))
                }
                _ => Report::default(),
            }
        })?;
    has_started.recv().map_err(io::Error::other)??;
    Ok(Handle { begin, thread })
}

fn event_loop() -> io::Result<(LocalRuntime, Pacer)> {
    let runtime = Builder::new_current_thread()
        .enable_all()
        .build_local(LocalOptions::default())?;
    let pacer = runtime.block_on(async { Pacer::new() })?;
    Ok((runtime, pacer))
}

/// The common data of all lanes of a worker.
#[derive(Debug)]
struct Shared {
    worker_idx: usize,
    setup: Arc<Setup>,
    schedule: Arc<Schedule>,
    pacer: Pacer,
    connections: Rc<Connections>,
    n_under_way: Cell<u64>,
    tally: RefCell<Tally>,
    /// The single samples; `None` when no output takes them.
    singles: Option<Singles>,
}

impl Shared {
    fn new(worker_idx: usize, setup: Arc<Setup>, schedule: Arc<Schedule>, pacer: Pacer) -> Self {
        let n_workers = setup.boards.len();
        let samples = setup
            .keeps_samples
            .then(|| Samples::new(schedule.counted_from, n_workers));
        Self {
            worker_idx,
            connections: Connections::new(
                Arc::clone(&setup.template),
                Arc::clone(&setup.settings),
                setup.source,
            ),
            singles: setup.request.singles(),
            setup,
            schedule,
            pacer,
            n_under_way: Cell::new(0),
            tally: RefCell::new(Tally {
                samples,
                ..Tally::default()
            }),
        }
    }

    async fn run(self: Rc<Self>, groups: &[usize], recent: tokio::sync::mpsc::Sender<Recent>) -> Report {
        let monitor = self.setup.monitor.clone();
        tokio::task::spawn_local(async move { monitor.watch_worker().await });
        let pacing = Rc::clone(&self);
        tokio::task::spawn_local(async move { pacing.pacer.run().await });
        let warming = Rc::clone(&self);
        tokio::task::spawn_local(async move { warming.forget_warm_up().await });
        let telling = Rc::clone(&self);
        tokio::task::spawn_local(async move { telling.tell(recent).await });
        let mut stage = self.setup.stage.subscribe();
        let mut lanes = JoinSet::new();
        for &n_lanes in groups {
            for repeater in self.connections.repeaters(n_lanes) {
                lanes.spawn_local(Rc::clone(&self).lane(repeater));
            }
        }
        let all_lanes = async { while lanes.join_next().await.is_some() {} };
        let abandoned = async {
            // The sender outlives the workers.
            let _ = stage.wait_for(|stage| *stage >= Stage::Finishing).await;
            self.pacer.stop();
            let _ = stage.wait_for(|stage| *stage == Stage::Abandoned).await;
        };
        tokio::select! {
            () = all_lanes => {}
            () = abandoned => {}
        }
        let rest = self.take_tally();
        let Tally {
            samples, unjudged, ..
        } = self.tally.take();
        Report {
            tally: Tally {
                samples,
                unjudged,
                ..rest
            },
            n_abandoned: self.n_under_way.get(),
        }
    }

    /// Reports at full seconds the work since the last report. When the last report was not taken yet, the next one
    /// has more.
    async fn tell(&self, recent: tokio::sync::mpsc::Sender<Recent>) {
        let mut begin = Duration::ZERO;
        loop {
            let end = begin + TELL_EVERY;
            sleep_until(TokioInstant::from_std(self.schedule.counted_from + end)).await;
            if let Ok(place) = recent.try_reserve() {
                place.send(Recent {
                    at: begin,
                    tally: self.take_tally(),
                });
            }
            // What was too late belongs to the second before this one.
            let elapsed = self.schedule.counted_from.elapsed().as_secs();
            begin = end.max(Duration::from_secs(elapsed));
        }
    }

    /// Takes the counts since the last call, except samples for a plot, and lengths that cannot be judged yet.
    fn take_tally(&self) -> Tally {
        let mut tally = self.tally.borrow_mut();
        if let Some(length) = self.setup.expected_length() {
            tally.judge_lengths(length);
        }
        let samples = tally.samples.take();
        let unjudged = std::mem::take(&mut tally.unjudged);
        let recent = std::mem::replace(
            &mut *tally,
            Tally {
                samples,
                unjudged,
                ..Tally::default()
            },
        );
        let (n_bytes_sent, n_bytes_received) = self.connections.take_traffic();
        if let Some(singles) = &self.singles {
            singles.end_second(n_bytes_sent, n_bytes_received);
        }
        Tally {
            n_bytes_sent,
            n_bytes_received,
            ..recent
        }
    }

    /// Bytes of the warm-up do not count.
    async fn forget_warm_up(&self) {
        if self.schedule.counted_from > Instant::now() {
            sleep_until(TokioInstant::from_std(self.schedule.counted_from)).await;
            self.connections.take_traffic();
        }
    }

    async fn lane(self: Rc<Self>, repeater: Repeater) {
        // Agents begin together.
        if self.schedule.started > Instant::now() && !self.pacer.until(self.schedule.started).await {
            return;
        }
        let mut backoff = Backoff::default();
        while let Some(ticket) = self.schedule.claim(Instant::now()) {
            if let Some(due) = ticket.due
                && !self.pacer.until(due).await
            {
                return;
            }
            self.n_under_way.set(self.n_under_way.get() + 1);
            let transcript = self.setup.transcript.as_ref();
            let wants_details = transcript.is_some() || self.setup.document.get().is_none();
            let attempt = repeater.send(wants_details).await;
            self.n_under_way.set(self.n_under_way.get() - 1);
            if let Some(transcript) = transcript {
                // Rare and large.
                Box::pin(transcript.show(&attempt)).await;
            }
            let next = backoff.note(attempt.outcome.is_err(), attempt.timings.started);
            self.note(ticket, attempt);
            if let (Some(next), Some(end)) = (next, self.schedule.only_end()) {
                // Rare and large.
                Box::pin(self.hold_back(next.min(end))).await;
            }
        }
    }

    /// Waits until `next`, or until nothing starts any more.
    async fn hold_back(&self, next: Instant) {
        self.tally.borrow_mut().n_held_back += u64::from(next > Instant::now());
        let mut stage = self.setup.stage.subscribe();
        tokio::select! {
            () = sleep_until(next.into()) => {}
            // The sender outlives the workers.
            _ = stage.wait_for(|stage| *stage >= Stage::Finishing) => {}
        }
    }

    fn note(&self, ticket: Ticket, attempt: Attempt) {
        let setup = &*self.setup;
        if let Ok(reply) = &attempt.outcome
            && setup.document.get().is_none()
        {
            // Another lane may have been faster; then its response is the first.
            let _ = setup
                .document
                .set(Document::new(reply.n_body_bytes, reply.details.as_deref()));
            setup.news.notify_one();
        }
        let board = &setup.boards[self.worker_idx];
        let mut tally = self.tally.borrow_mut();
        if ticket.counts {
            let expected = setup.expected_length().filter(|_| setup.compares_lengths);
            if let Some(singles) = &self.singles {
                singles.note(ticket, &attempt, expected);
            }
            match tally.record(ticket, &attempt, expected) {
                Ending::Complete(time) => {
                    if let (true, None, Ok(reply)) = (setup.compares_lengths, expected, &attempt.outcome) {
                        tally.unjudged.add(reply.n_body_bytes);
                    }
                    board.complete(time);
                }
                Ending::Failed => board.failed(),
            }
        } else {
            tally.record_warm_up(&attempt);
            board.warm_up();
        }
        if let Err(error) = attempt.outcome {
            self.failed(error);
        }
    }

    /// Ends the run, unless failures are expected.
    fn failed(&self, error: HttpError) {
        let setup = &*self.setup;
        if setup.goes_on {
            return;
        }
        self.schedule.stop(Instant::now());
        setup
            .trouble
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get_or_insert(error);
        setup.stage.send_if_modified(|stage| {
            let is_running = *stage == Stage::Running;
            *stage = Stage::Finishing.max(*stage);
            is_running
        });
        setup.news.notify_one();
    }
}
