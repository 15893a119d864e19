//! Targets that other programs sample: what these tell goes into one record for each target, as if it were here.

use std::{
    fmt,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        mpsc::{Receiver, SyncSender, sync_channel},
    },
    thread::JoinHandle,
    time::{Duration, Instant},
};

use tokio::sync::mpsc::{self, error::TrySendError};

use super::{Account, Ended, Latest, Look, Record, Sighting};

/// An order to all programs that sample targets of this run.
#[derive(Debug)]
pub enum RemoteOrder {
    /// Read the state before the load. The sender is dropped when all have.
    Prepare(SyncSender<()>),
    /// The load began then.
    Start(Instant),
    /// Read a last time. The sender is dropped when everything has arrived that will.
    Finish(SyncSender<()>),
}

/// The orders that may wait. Reason: a run has three, and they are taken at once.
pub const MAX_REMOTE_ORDERS: usize = 8;

/// What other programs have told of their targets.
#[derive(Debug, Default)]
pub struct Ledger {
    targets: Vec<Entry>,
    notices: Mutex<Vec<String>>,
}

/// A target that another program samples.
struct Entry {
    name: String,
    what: String,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    record: Record,
    newest: Option<Look>,
    latest: Latest,
    ended: Option<Ended>,
    cpu: Duration,
    n_missed: u64,
    n_left_out: usize,
}

/// The targets of a run that other programs sample, and the way to these.
#[derive(Debug)]
pub struct Remote {
    ledger: Arc<Ledger>,
    /// `None`: no program tells anything.
    orders: Option<mpsc::Sender<RemoteOrder>>,
    /// The thread that talks to the programs. It ends when there is no sender of orders.
    thread: Option<JoinHandle<()>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A panic leaves at worst one reading that is half taken.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Ledger {
    /// A ledger for targets with these names for people, and what they are.
    pub fn new(targets: impl IntoIterator<Item = (String, String)>) -> Self {
        let entry = |(name, what)| Entry {
            name,
            what,
            state: Mutex::default(),
        };
        Self {
            targets: targets.into_iter().map(entry).collect(),
            notices: Mutex::default(),
        }
    }

    /// Takes in what was seen of the target number `at`, in the order in which it was seen.
    pub fn take(&self, at: usize, sighting: Sighting) {
        let Some(entry) = self.targets.get(at) else {
            return;
        };
        let state = &mut *lock(&entry.state);
        (state.cpu, state.n_missed, state.n_left_out) =
            (sighting.cpu, sighting.n_missed, sighting.n_left_out);
        if let Some(look) = sighting.look {
            state.record.add(look.second, look.at, &look.figures);
            if let Some(before) = &state.newest {
                state.latest = Latest::between(&before.figures, &look.figures, look.at - before.at);
            }
            state.newest = Some(look);
        }
        if sighting.ended.is_some() {
            state.latest = Latest::ended();
        }
        state.ended = sighting.ended;
    }

    /// No program tells more of the target number `at`.
    pub fn close(&self, at: usize) {
        if let Some(entry) = self.targets.get(at) {
            lock(&entry.state).latest = Latest::ended();
        }
    }

    /// The full seconds since the start of the load for which there are figures of the target number `at`.
    pub fn n_seconds(&self, at: usize) -> u64 {
        let state = self.targets.get(at).map(|entry| lock(&entry.state));
        let second = state.and_then(|state| state.newest.as_ref()?.second);
        second.map_or(0, |second| second + 1)
    }

    /// The name of the target number `at`.
    pub fn name(&self, at: usize) -> Option<&str> {
        self.targets.get(at).map(|entry| entry.name.as_str())
    }

    /// Notes a sentence for the result.
    pub fn notice(&self, text: String) {
        lock(&self.notices).push(text);
    }

    /// The sentences for the result so far.
    pub(super) fn notices(&self) -> Vec<String> {
        lock(&self.notices).clone()
    }

    pub(super) fn accounts(&self) -> impl Iterator<Item = Account> {
        self.targets.iter().map(|entry| {
            let state = lock(&entry.state);
            Account {
                name: entry.name.clone(),
                what: entry.what.clone(),
                record: state.record.clone(),
                ended: state.ended.clone(),
                cpu: state.cpu,
                n_missed: state.n_missed,
                n_left_out: state.n_left_out,
            }
        })
    }

    pub(super) fn latest(&self) -> impl Iterator<Item = (&str, Latest)> {
        self.targets
            .iter()
            .map(|entry| (entry.name.as_str(), lock(&entry.state).latest.clone()))
    }
}

impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, what, state: _ } = self;
        f.debug_struct("Entry")
            .field("name", name)
            .field("what", what)
            .finish_non_exhaustive()
    }
}

impl Remote {
    /// The targets in `ledger`. The thread carries out orders, and ends when their sender is gone; `None` if no program
    /// tells anything.
    pub fn new(ledger: Arc<Ledger>, service: Option<(mpsc::Sender<RemoteOrder>, JoinHandle<()>)>) -> Self {
        let (orders, thread) = service.unzip();
        Self {
            ledger,
            orders,
            thread,
        }
    }

    pub(super) fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    pub(super) fn start(&self, at: Instant) {
        self.order(RemoteOrder::Start(at));
    }

    /// Gives an order. Its sender is dropped when it has been carried out.
    pub(super) fn ask(&self, order: fn(SyncSender<()>) -> RemoteOrder) -> Receiver<()> {
        let (done, is_done) = sync_channel(0);
        self.order(order(done));
        is_done
    }

    fn order(&self, order: RemoteOrder) {
        match self.orders.as_ref().map(|orders| orders.try_send(order)) {
            // A thread that is gone has told why.
            None | Some(Ok(()) | Err(TrySendError::Closed(_))) => {}
            Some(Err(TrySendError::Full(_))) => self.ledger.notice(
                "an order to the agents that watch was not taken, so figures of their targets may be missing"
                    .to_owned(),
            ),
        }
    }
}

impl Drop for Remote {
    /// Waits until the programs have been let go.
    fn drop(&mut self) {
        drop(self.orders.take());
        if let Some(thread) = self.thread.take() {
            // What panicked there was no part of the load.
            drop(thread.join());
        }
    }
}

#[cfg(test)]
mod tests;
