//! Samples summed up and sent to a database again and again.
//!
//! Pushes carry sums since the start of the run, so nothing has to wait in a queue: the next push includes what a
//! failed one did not deliver. At most one push is in progress; samples are received meanwhile.

use std::{future::Future, pin::Pin, time::Duration};

use plimsoll_load::metrics::SampleReceiver;
use tokio::time::{Instant, MissedTickBehavior, interval_at, sleep, timeout_at};

use crate::{Outcome, post::Refusal, series::SeriesStore};

/// A database, and its form of figures.
pub(crate) trait Database {
    /// What is sent at once.
    type Payload;

    /// The given series in the database's form, in portions of an acceptable size.
    fn encode(&self, store: &SeriesStore, positions: &[usize]) -> Vec<Self::Payload>;

    /// The messages after the last sample.
    fn farewell(&self, store: &SeriesStore) -> Vec<Self::Payload>;

    /// Sends one portion.
    fn send(&self, payload: &Self::Payload) -> impl Future<Output = Result<(), Refusal>>;
}

/// Attempts of one portion. If all fail, the next push brings newer figures.
const ATTEMPTS: u32 = 4;

/// The pause after the first failed attempt. It doubles with each further one.
const FIRST_PAUSE: Duration = Duration::from_millis(500);

/// The longest pause, even if the server asks for a longer one.
const LONGEST_PAUSE: Duration = Duration::from_secs(10);

/// How long everything after the end of the run may take. A person waits.
const LAST_WORDS: Duration = Duration::from_secs(30);

/// Sends all changes every `period` until the queue ends; then the rest.
pub(crate) async fn push<D: Database>(
    mut receiver: SampleReceiver,
    mut store: SeriesStore,
    database: D,
    period: Duration,
) -> Outcome {
    let database = &database;
    let mut ledger = Ledger::default();
    let mut ticks = interval_at(Instant::now() + period, period);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut under_way: Option<Push<'_>> = None;
    loop {
        tokio::select! {
            batch = receiver.recv() => match batch {
                Some(batch) => store.add(&batch),
                None => break,
            },
            _ = ticks.tick(), if under_way.is_none() => under_way = Push::begin(database, &mut store),
            result = Push::end(&mut under_way) => ledger.note(result, under_way.take(), &mut store),
        }
    }
    let deadline = Instant::now() + LAST_WORDS;
    if under_way.is_some() {
        let result = in_time(deadline, Push::end(&mut under_way)).await;
        ledger.note(result, under_way, &mut store);
    }
    let mut last = Push::begin(database, &mut store);
    if last.is_some() {
        let result = in_time(deadline, Push::end(&mut last)).await;
        ledger.note(result, last, &mut store);
    }
    let farewell = deliver(database, database.farewell(&store));
    if let Err(reason) = in_time(deadline, farewell).await {
        ledger.fail(reason);
    }
    ledger.conclude(&store, receiver.n_dropped())
}

/// One push in progress.
struct Push<'a> {
    delivery: Pin<Box<dyn Future<Output = Result<(), String>> + 'a>>,
    positions: Vec<usize>,
    /// The total of samples in the database after this delivery.
    n_samples: u64,
}

impl<'a> Push<'a> {
    /// `None` if there is nothing new.
    fn begin<D: Database>(database: &'a D, store: &mut SeriesStore) -> Option<Self> {
        let positions = store.take_fresh();
        let payloads = database.encode(store, &positions);
        (!positions.is_empty()).then(|| Self {
            delivery: Box::pin(deliver(database, payloads)),
            n_samples: store.n_samples(),
            positions,
        })
    }

    /// Waits for the delivery. Never returns without one.
    async fn end(push: &mut Option<Self>) -> Result<(), String> {
        match push {
            Some(push) => push.delivery.as_mut().await,
            None => std::future::pending().await,
        }
    }
}

async fn in_time(
    deadline: Instant,
    delivery: impl Future<Output = Result<(), String>>,
) -> Result<(), String> {
    let late = |_| Err(format!("the end of the run was {LAST_WORDS:?} ago"));
    timeout_at(deadline, delivery).await.unwrap_or_else(late)
}

/// Sends all portions. One that is refused for good does not hold up the others.
async fn deliver<D: Database>(database: &D, payloads: Vec<D::Payload>) -> Result<(), String> {
    let mut result = Ok(());
    for payload in payloads {
        match insist(database, &payload).await {
            Ok(()) => {}
            Err(refusal) if refusal.is_temporary => return Err(refusal.reason),
            Err(refusal) => result = Err(refusal.reason),
        }
    }
    result
}

/// Sends one portion, with retries if they may help.
async fn insist<D: Database>(database: &D, payload: &D::Payload) -> Result<(), Refusal> {
    let mut pause = FIRST_PAUSE;
    let mut n_left = ATTEMPTS;
    loop {
        let refusal = match database.send(payload).await {
            Ok(()) => return Ok(()),
            Err(refusal) => refusal,
        };
        n_left -= 1;
        if n_left == 0 || !refusal.is_temporary {
            return Err(refusal);
        }
        tracing::debug!(reason = refusal.reason, "An output tries again.");
        sleep(refusal.retry_after.unwrap_or(pause).min(LONGEST_PAUSE)).await;
        pause *= 2;
    }
}

/// The results of pushes so far.
#[derive(Default)]
struct Ledger {
    n_written: u64,
    /// The error of the last push, if it failed.
    error: Option<String>,
}

impl Ledger {
    fn note(&mut self, result: Result<(), String>, push: Option<Push<'_>>, store: &mut SeriesStore) {
        let Some(push) = push else { return };
        match result {
            Ok(()) => {
                self.n_written = push.n_samples;
                if self.error.take().is_some() {
                    tracing::info!("An output can write again; nothing is lost.");
                }
            }
            Err(reason) => {
                store.put_back(&push.positions);
                self.fail(reason);
            }
        }
    }

    /// Logs a reason, but not twice in a row.
    fn fail(&mut self, reason: String) {
        if self.error.as_ref() != Some(&reason) {
            tracing::error!(reason, "An output cannot write. The run goes on.");
        }
        self.error = Some(reason);
    }

    fn conclude(self, store: &SeriesStore, n_dropped: u64) -> Outcome {
        Outcome {
            n_written: self.n_written,
            n_dropped,
            n_failed: store.n_samples() - self.n_written,
            n_beyond: store.n_beyond(),
            error: self.error,
        }
    }
}

#[cfg(test)]
mod tests;
