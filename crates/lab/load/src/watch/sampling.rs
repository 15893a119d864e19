//! All targets of a run, sampled beside the load.
//!
//! ```text
//! attach ──► every target exists, or the run does not begin
//! prepare ─► the state before the load has been read
//! start ───► a sample per target and second, each on its own thread
//! finish ──► one account per target, in the order of the command line
//! ```
//!
//! Problems of a target never end a run.

use std::{
    io,
    sync::mpsc::{Sender, SyncSender, channel, sync_channel},
    thread,
    time::{Duration, Instant},
};

use super::{
    Account, Latest, OpenPage, Place, Target, WatchError,
    latest::LatestCell,
    sampler::{Order, Sampler},
};

/// The most targets of one run. Reason: the report has room for their series; see [`super::MAX_SERIES`].
pub const MAX_TARGETS: usize = 8;

/// How long to wait for the state before the load. Reason: processes are read in milliseconds; a slower page of metrics
/// keeps the state from when it was found.
const PREPARE_WITHIN: Duration = Duration::from_secs(1);

/// How long to wait for the account of a target during the load. Reason: it may as well come a second later.
const TELL_WITHIN: Duration = Duration::from_millis(50);

/// How long to wait for the final account of a target. Reason: a fetch may be in progress, and the page is fetched once
/// more, within seconds each.
const FINISH_WITHIN: Duration = Duration::from_secs(15);

/// Samples targets beside a run.
#[derive(Debug)]
pub struct Sampling {
    targets: Vec<Attached>,
}

#[derive(Debug)]
struct Attached {
    name: String,
    what: String,
    place: Place,
    latest: LatestCell,
    /// Holds the three orders of a run, and the requests for accounts, one per second.
    orders: Sender<Order>,
}

/// Why a run with targets does not begin.
#[derive(Debug, thiserror::Error)]
pub enum SamplingError {
    /// A target does not exist.
    #[error("--watch {what}: {error}")]
    Target {
        /// The target, in words.
        what: String,
        /// Why not.
        error: WatchError,
    },
    /// There are more than can be shown.
    #[error("--watch: {n} targets are too many; a report has room for {MAX_TARGETS}")]
    TooMany {
        /// The number of targets.
        n: usize,
    },
    /// The system gives no thread.
    #[error("--watch: cannot start a thread: {0}")]
    Thread(#[from] io::Error),
}

impl Sampling {
    /// Finds all targets and takes one sample of each. `open` is for their pages of metrics.
    ///
    /// # Errors
    /// A target does not exist, or there are too many.
    pub fn attach(targets: &[Target], open: &OpenPage) -> Result<Self, SamplingError> {
        if targets.len() > MAX_TARGETS {
            return Err(SamplingError::TooMany { n: targets.len() });
        }
        let mut attached: Vec<Attached> = Vec::new();
        for target in targets {
            let mut one = Attached::start(target, open)?;
            // Two workers of one program, for example.
            if attached.iter().any(|other| other.name == one.name) {
                one.name = format!("{} ({})", one.name, one.what);
            }
            attached.push(one);
        }
        Ok(Self { targets: attached })
    }

    /// Reads the state before the load. Must be called right before it starts. Blocks for the milliseconds that
    /// sampling processes takes, and at most a second.
    pub fn prepare(&self) {
        self.ask(PREPARE_WITHIN, Order::Prepare).for_each(drop);
    }

    /// The load began at this instant.
    pub fn start(&self, at: Instant) {
        for target in &self.targets {
            // A sampler that is gone returns no account either.
            let _ = target.orders.send(Order::Start(at));
        }
    }

    /// The accounts of the targets so far, in their given order. Targets with a slow reading in progress are omitted.
    pub fn so_far(&self) -> Vec<Account> {
        self.accounts(TELL_WITHIN, Order::Tell)
    }

    /// Takes the last sample. Returns the accounts of the targets in their given order.
    pub fn finish(&self) -> Vec<Account> {
        self.accounts(FINISH_WITHIN, Order::Finish)
    }

    fn accounts(&self, within: Duration, order: fn(SyncSender<Account>) -> Order) -> Vec<Account> {
        let accounts = self.ask(within, order).zip(&self.targets);
        let accounts = accounts.filter_map(|(account, target)| {
            let name = target.name.clone();
            account.map(|account| Account { name, ..account })
        });
        accounts.collect()
    }

    /// Sends an order to all samplers at once, and waits for their answers. `None` for one that does not answer.
    fn ask<T>(&self, within: Duration, order: fn(SyncSender<T>) -> Order) -> impl Iterator<Item = Option<T>> {
        let deadline = Instant::now() + within;
        let ask = |target: &Attached| {
            let (reply, answer) = sync_channel(1);
            let _ = target.orders.send(order(reply));
            answer
        };
        let answers: Vec<_> = self.targets.iter().map(ask).collect();
        let left = move || deadline.saturating_duration_since(Instant::now());
        answers
            .into_iter()
            .map(move |answer| answer.recv_timeout(left()).ok())
    }

    /// The name of each target with its newest figures.
    pub fn latest(&self) -> impl Iterator<Item = (&str, Latest)> {
        self.targets
            .iter()
            .map(|target| (target.name.as_str(), target.latest.get()))
    }

    /// The places of all targets.
    pub fn places(&self) -> impl Iterator<Item = &Place> {
        self.targets.iter().map(|target| &target.place)
    }

    /// The names of all targets.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.targets.iter().map(|target| target.name.as_str())
    }
}

impl Attached {
    /// Starts the thread of a target, and waits until it was found.
    fn start(target: &Target, open: &OpenPage) -> Result<Self, SamplingError> {
        let what = target.place.to_string();
        let place = target.place.clone();
        let (orders, receiver) = channel();
        let (report, found) = sync_channel(1);
        let (target, open) = (target.clone(), OpenPage::clone(open));
        thread::Builder::new().name("watch".to_owned()).spawn(move || {
            match Sampler::attach(&target, &open) {
                Ok(sampler) => {
                    let _ = report.try_send(Ok((sampler.name().to_owned(), sampler.latest())));
                    sampler.serve(&receiver);
                }
                Err(error) => {
                    let _ = report.try_send(Err(error));
                }
            }
        })?;
        let found = found.recv().unwrap_or_else(|_| {
            Err(WatchError::Ended {
                reason: "nothing is known of it".to_owned(),
            })
        });
        match found {
            Ok((name, latest)) => Ok(Self {
                name,
                what,
                place,
                latest,
                orders,
            }),
            Err(error) => Err(SamplingError::Target { what, error }),
        }
    }
}

#[cfg(test)]
mod tests;
