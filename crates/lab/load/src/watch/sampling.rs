//! All targets of a run, sampled beside the load.
//!
//! ```text
//! attach ──► every target exists, or the run does not begin
//! prepare ─► the state before the load has been read
//! start ───► a sample per target and second, each on its own thread
//! finish ──► one account per target, in the order of the command line
//! ```
//!
//! Targets that other programs sample ([`Remote`]) are prepared, started and finished together with those of this machine,
//! and follow them.
//!
//! Problems of a target never end a run.

use std::{
    io,
    sync::{
        OnceLock,
        mpsc::{Receiver, Sender, SyncSender, channel, sync_channel},
    },
    thread,
    time::{Duration, Instant},
};

use super::{
    Account, Latest, Ledger, OpenPage, Place, Remote, RemoteOrder, Report, Target, WatchError,
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
#[derive(Debug, Default)]
pub struct Sampling {
    targets: Vec<Attached>,
    /// Those that other programs sample.
    remote: OnceLock<Remote>,
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
            let mut one = Attached::start(target, open, None)?;
            // Two workers of one program, for example.
            if attached.iter().any(|other| other.name == one.name) {
                one.name = format!("{} ({})", one.name, one.what);
            }
            attached.push(one);
        }
        Ok(Self {
            targets: attached,
            remote: OnceLock::new(),
        })
    }

    /// Finds those of the targets that are there, and takes one sample of each. Every look at them is told to `report`
    /// under the target's number. Returns for each target why it is not there.
    pub fn attach_each(
        targets: &[Target],
        open: &OpenPage,
        report: &Report,
    ) -> (Self, Vec<Result<(), SamplingError>>) {
        let mut attached = Vec::new();
        let mut found = Vec::new();
        for (at, target) in targets.iter().enumerate() {
            let report = Some((at, Report::clone(report)));
            found.push(Attached::start(target, open, report).map(|one| attached.push(one)));
        }
        let sampling = Self {
            targets: attached,
            remote: OnceLock::new(),
        };
        (sampling, found)
    }

    /// How many more targets a report has room for.
    pub fn n_free(&self) -> usize {
        MAX_TARGETS.saturating_sub(self.targets.len())
    }

    /// Takes in targets that other programs sample, before [`Self::prepare`]. Of two calls, the first counts.
    pub fn adopt(&self, remote: Remote) {
        drop(self.remote.set(remote));
    }

    /// What the result should say of targets that other programs sample.
    pub fn notices(&self) -> Vec<String> {
        let ledger = self.remote.get().map(Remote::ledger);
        ledger.map(Ledger::notices).unwrap_or_default()
    }

    /// Reads the state before the load. Must be called right before it starts. Blocks for the milliseconds that
    /// sampling processes takes, and at most a second.
    pub fn prepare(&self) {
        let deadline = Instant::now() + PREPARE_WITHIN;
        let elsewhere = self.remote.get().map(|remote| remote.ask(RemoteOrder::Prepare));
        self.ask(PREPARE_WITHIN, Order::Prepare).for_each(drop);
        wait_until(deadline, elsewhere);
    }

    /// The load began at this instant.
    pub fn start(&self, at: Instant) {
        for target in &self.targets {
            // A sampler that is gone returns no account either.
            let _ = target.orders.send(Order::Start(at));
        }
        if let Some(remote) = self.remote.get() {
            remote.start(at);
        }
    }

    /// The accounts of the targets so far, in their given order. Targets with a slow reading in progress are omitted.
    pub fn so_far(&self) -> Vec<Account> {
        let mut accounts = self.accounts(TELL_WITHIN, Order::Tell);
        accounts.extend(self.accounts_elsewhere());
        accounts
    }

    /// Takes the last sample. Returns the accounts of the targets in their given order.
    pub fn finish(&self) -> Vec<Account> {
        let deadline = Instant::now() + FINISH_WITHIN;
        let elsewhere = self.remote.get().map(|remote| remote.ask(RemoteOrder::Finish));
        let mut accounts = self.accounts(FINISH_WITHIN, Order::Finish);
        wait_until(deadline, elsewhere);
        accounts.extend(self.accounts_elsewhere());
        accounts
    }

    /// The accounts of targets that other programs sample.
    fn accounts_elsewhere(&self) -> impl Iterator<Item = Account> {
        let remote = self.remote.get().into_iter();
        remote.flat_map(|remote| remote.ledger().accounts())
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
        let here = self.targets.iter();
        let here = here.map(|target| (target.name.as_str(), target.latest.get()));
        here.chain(
            self.remote
                .get()
                .into_iter()
                .flat_map(|remote| remote.ledger().latest()),
        )
    }

    /// The places of all targets on this machine.
    pub fn places(&self) -> impl Iterator<Item = &Place> {
        self.targets.iter().map(|target| &target.place)
    }

    /// The names of all targets on this machine.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.targets.iter().map(|target| target.name.as_str())
    }
}

/// Waits for what was ordered of other programs, if it was, and at most until then.
fn wait_until(deadline: Instant, is_done: Option<Receiver<()>>) {
    if let Some(is_done) = is_done {
        let _late = is_done.recv_timeout(deadline.saturating_duration_since(Instant::now()));
    }
}

impl Attached {
    /// Starts the thread of a target, and waits until it was found.
    fn start(target: &Target, open: &OpenPage, told: Option<(usize, Report)>) -> Result<Self, SamplingError> {
        let what = target.place.to_string();
        let place = target.place.clone();
        let (orders, receiver) = channel();
        let (report, found) = sync_channel(1);
        let (target, open) = (target.clone(), OpenPage::clone(open));
        thread::Builder::new().name("watch".to_owned()).spawn(move || {
            match Sampler::attach(&target, &open) {
                Ok(sampler) => {
                    let _ = report.try_send(Ok((sampler.name().to_owned(), sampler.latest())));
                    let sampler = match told {
                        Some((at, told)) => sampler.telling(at, told),
                        None => sampler,
                    };
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
