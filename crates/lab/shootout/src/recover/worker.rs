//! A worker: one thread with its share of the clients, on a runtime of its own. It gets no orders: clients follow the stages
//! of the run.

use std::{
    cell::RefCell,
    io,
    rc::Rc,
    sync::{Arc, mpsc},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use plimsoll_load::metrics::SampleSender;
use tokio::{
    runtime::{Builder, LocalOptions},
    sync::Semaphore,
    task::JoinSet,
    time::sleep_until,
};

use super::{
    client::Client,
    measures::Singles,
    publisher::Published,
    shared::{Setup, Shared},
    tally::Tally,
};

/// The interval between reports of a worker: the timeline has seconds.
const TELL_EVERY: Duration = Duration::from_secs(1);

/// The work of a worker in a second.
#[derive(Debug)]
pub(crate) struct Recent {
    /// The begin of the second, since the start of the run.
    pub(crate) at: Duration,
    pub(crate) tally: Tally,
}

/// Starts a worker for the clients with these numbers. Each second it tells through `recent` what they did, and when they
/// have ended, that is dropped.
///
/// # Errors
/// The system gives no thread or no event queue (too many open files).
pub(crate) fn spawn(
    worker_idx: usize,
    clients: Vec<usize>,
    width: usize,
    setup: Arc<Setup>,
    samples: Vec<SampleSender>,
    recent: tokio::sync::mpsc::Sender<Recent>,
) -> io::Result<JoinHandle<Tally>> {
    let (started, has_started) = mpsc::sync_channel(1);
    let thread = thread::Builder::new()
        .name(format!("bench-{worker_idx}"))
        .spawn(move || {
            let runtime = Builder::new_current_thread()
                .enable_all()
                .build_local(LocalOptions::default());
            let (runtime, outcome) = runtime.map_or_else(|error| (None, Err(error)), |it| (Some(it), Ok(())));
            // The spawner is waiting.
            let _ = started.send(outcome);
            let Some(runtime) = runtime else {
                return Tally::default();
            };
            let (measures, metrics) = &setup.measures;
            let url = setup.options.target.to_string();
            let shared = Shared {
                traffic: Rc::default(),
                opening: Semaphore::new(width.max(1)),
                tally: RefCell::default(),
                singles: Singles::new((*measures, metrics), samples, &url),
                setup,
            };
            runtime.block_on(run(Rc::new(shared), clients, recent))
        })?;
    has_started.recv().map_err(io::Error::other)??;
    Ok(thread)
}

async fn run(shared: Rc<Shared>, clients: Vec<usize>, recent: tokio::sync::mpsc::Sender<Recent>) -> Tally {
    let monitor = shared.setup.monitor.clone();
    tokio::task::spawn_local(async move { monitor.watch_worker().await });
    let telling = tokio::task::spawn_local(tell(Rc::clone(&shared), recent));
    let mut living = JoinSet::new();
    for idx in clients {
        living.spawn_local(Client::new(Rc::clone(&shared), idx).run());
    }
    while living.join_next().await.is_some() {}
    telling.abort();
    take(&shared)
}

/// Reports at full seconds the work since the last report. When the last report was not taken yet, the next one has more.
async fn tell(shared: Rc<Shared>, recent: tokio::sync::mpsc::Sender<Recent>) {
    let started = shared.setup.started;
    let mut begin = Duration::ZERO;
    loop {
        let end = begin + TELL_EVERY;
        sleep_until(Instant::into(started + end)).await;
        if let Ok(place) = recent.try_reserve() {
            place.send(Recent {
                at: begin,
                tally: take(&shared),
            });
        }
        begin = end.max(Duration::from_secs(started.elapsed().as_secs()));
    }
}

fn take(shared: &Shared) -> Tally {
    let tally = shared.tally.take();
    if let Some(singles) = &shared.singles {
        singles.end_second(&Published::default(), &tally);
    }
    tally
}
