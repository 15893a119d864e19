//! All targets of a run, looked at beside the load.
//!
//! ```text
//! attach ──► every target is there, or the run does not begin
//! prepare ─► the state before the load has been read
//! start ───► a look per target and second, each on its own thread
//! finish ──► one account per target, in the order of the command line
//! ```
//!
//! Nothing that a target does or suffers ends a run.

use std::{
    io,
    sync::mpsc::{Sender, SyncSender, channel, sync_channel},
    thread,
    time::{Duration, Instant},
};

use super::{
    Account, Latest, OpenPage, Target, WatchError,
    latest::LatestCell,
    sampler::{Order, Sampler},
};

/// Targets of one run. Reason: the report has room for their series; see [`super::MAX_SERIES`].
pub const MAX_TARGETS: usize = 8;

/// So long is waited for the state before the load. Reason: processes are read in milliseconds; a page of metrics that
/// takes longer has the one of the moment when it was found.
const PREPARE_WITHIN: Duration = Duration::from_secs(1);

/// So long is waited for the account of a target while the load goes on. Reason: nobody misses what comes a second later.
const TELL_WITHIN: Duration = Duration::from_millis(50);

/// So long is waited for the account of a target. Reason: a page may be under way and is fetched once more, within
/// seconds each.
const FINISH_WITHIN: Duration = Duration::from_secs(15);

/// Looks at targets beside a run.
#[derive(Debug)]
pub struct Sampling {
    targets: Vec<Attached>,
}

#[derive(Debug)]
struct Attached {
    name: String,
    what: String,
    latest: LatestCell,
    /// Holds the three orders of a run, and those to tell, of which there is one per second.
    orders: Sender<Order>,
}

/// Why a run that is to be watched does not begin.
#[derive(Debug, thiserror::Error)]
pub enum SamplingError {
    /// A target is not there.
    #[error("--watch {what}: {error}")]
    Target {
        /// Which one, in words.
        what: String,
        /// Why not.
        error: WatchError,
    },
    /// There are more than can be shown.
    #[error("--watch: {n} targets, and a report has room for {MAX_TARGETS}")]
    TooMany {
        /// How many there are.
        n: usize,
    },
    /// The system gives no thread.
    #[error("--watch: cannot start a thread: {0}")]
    Thread(#[from] io::Error),
}

impl Sampling {
    /// Finds all targets and looks at each once; `open` is for their pages of metrics.
    ///
    /// # Errors
    /// When one is not there, or they are too many.
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

    /// Reads the state before the load. To be called right before it starts; blocks for the milliseconds that it takes
    /// to look at processes, and at most a second.
    pub fn prepare(&self) {
        self.ask(PREPARE_WITHIN, Order::Prepare).for_each(drop);
    }

    /// The load began at this instant.
    pub fn start(&self, at: Instant) {
        for target in &self.targets {
            // A sampler that is gone gives no account either.
            let _ = target.orders.send(Order::Start(at));
        }
    }

    /// What each target did up to now, in the order in which they were given; those that are just looked at, and take long,
    /// are left out.
    pub fn so_far(&self) -> Vec<Account> {
        self.accounts(TELL_WITHIN, Order::Tell)
    }

    /// Looks a last time, and says what each target did, in the order in which they were given.
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

    /// Orders something of all samplers at once, and waits for their answers; `None` for one that does not answer.
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

    /// The names of all targets.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.targets.iter().map(|target| target.name.as_str())
    }
}

impl Attached {
    /// Starts the thread of a target, and waits until it was found.
    fn start(target: &Target, open: &OpenPage) -> Result<Self, SamplingError> {
        let what = target.place.to_string();
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
                latest,
                orders,
            }),
            Err(error) => Err(SamplingError::Target { what, error }),
        }
    }
}

#[cfg(test)]
mod tests;
