//! One target, sampled once per second on a thread of its own.
//!
//! The thread sleeps between samples and shares only the machine with the load. Its cost is measured with the thread's
//! own clock and reported in the [`Account`]. Samples are due at full seconds since the start of the load. A late one
//! counts for the second in which it was due; if it is more than a second late, it is skipped.

use std::{
    sync::mpsc::{Receiver, RecvTimeoutError, SyncSender},
    time::{Duration, Instant},
};

use super::{
    OpenPage, Place, Record, Target, WatchError,
    cgroup::Cgroup,
    endpoint::Endpoint,
    figure::Reading,
    latest::{Latest, LatestCell},
    tree::{ProcessTree, Root},
};
use crate::cpu_clock;

/// The number of consecutive misses, up to the end, after which a page of metrics counts as ended. Reason: a server
/// under load may miss one or two.
const MISSED_IN_A_ROW: u64 = 3;

/// The results of a target when the load is over.
#[derive(Clone, Debug)]
pub struct Account {
    /// The name for people: as typed, or the program's own.
    pub name: String,
    /// What was watched: `process 123`, `port 8080`, `cgroup a/b`, `metrics http://localhost:9090/metrics`.
    pub what: String,
    /// What it did.
    pub record: Record,
    /// Whether it was gone before the load was over.
    pub ended: Option<Ended>,
    /// CPU time that watching it took of this program.
    pub cpu: Duration,
    /// Looks at which a page of metrics did not come.
    pub n_missed: u64,
    /// Series of a page beyond the limit.
    pub n_left_out: usize,
}

/// The end of a target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// The time since the start of the load at which it was noticed: up to a second late.
    pub after: Duration,
    /// How that is known.
    pub reason: String,
}

/// An order to a sampler.
#[derive(Debug)]
pub(super) enum Order {
    /// Read the state before the load, and confirm.
    Prepare(SyncSender<()>),
    /// The load began then.
    Start(Instant),
    /// Give the account up to now.
    Tell(SyncSender<Account>),
    /// Read a last time, and give the account.
    Finish(SyncSender<Account>),
}

/// What is looked at.
enum Source {
    Tree(ProcessTree),
    Cgroup(Cgroup),
    Page(Endpoint),
}

/// What a thread holds.
pub(super) struct Sampler {
    name: String,
    what: String,
    source: Source,
    /// The newest reading before the load.
    base: Reading,
    /// The newest reading of all.
    newest: Reading,
    latest: LatestCell,
    started: Option<Instant>,
    record: Record,
    ended: Option<Ended>,
    n_missed: u64,
    missing: Option<Missing>,
}

/// Looks in a row at which a page did not come.
struct Missing {
    n: u64,
    since: Duration,
    reason: String,
}

impl Sampler {
    /// Finds the target, and takes one sample.
    pub(super) fn attach(target: &Target, open: &OpenPage) -> Result<Self, WatchError> {
        let mut source = Source::attach(&target.place, open)?;
        let base = source.read()?;
        let what = target.place.to_string();
        Ok(Self {
            name: target
                .name
                .clone()
                .or_else(|| source.name())
                .unwrap_or_else(|| what.clone()),
            what,
            source,
            newest: base.clone(),
            base,
            latest: LatestCell::default(),
            started: None,
            record: Record::default(),
            ended: None,
            n_missed: 0,
            missing: None,
        })
    }

    /// Carries out orders until the sender is dropped.
    pub(super) fn serve(mut self, orders: &Receiver<Order>) {
        let mut next_due = 1;
        loop {
            let started = self.started.filter(|_| self.ended.is_none());
            let due = started.map(|started| started + Duration::from_secs(next_due));
            let order = match due {
                None => orders.recv().map_err(|_| RecvTimeoutError::Disconnected),
                Some(due) => orders.recv_timeout(due.saturating_duration_since(Instant::now())),
            };
            match order {
                Ok(Order::Prepare(done)) => {
                    self.source.hurry();
                    if let Ok(reading) = self.source.read() {
                        self.base = reading;
                    }
                    // The sender may have stopped waiting.
                    let _ = done.try_send(());
                }
                Ok(Order::Start(at)) => self.start(at),
                Ok(Order::Tell(reply)) => {
                    let _ = reply.try_send(self.account());
                }
                Ok(Order::Finish(reply)) => {
                    let _ = reply.try_send(self.finish());
                    return;
                }
                Err(RecvTimeoutError::Timeout) => {
                    self.look(self.elapsed().as_secs().saturating_sub(1));
                    // Samples that became due meanwhile are skipped.
                    next_due = self.elapsed().as_secs() + 1;
                }
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    fn start(&mut self, at: Instant) {
        self.started = Some(at);
        let seconds = seconds_since(at, self.base.taken_at);
        self.record.add(None, seconds, &self.base);
    }

    /// Looks at the target, for the second with this number.
    fn look(&mut self, second: u64) {
        let Some(started) = self.started else {
            return;
        };
        match self.source.read() {
            Ok(reading) => {
                self.missing = None;
                let at = seconds_since(started, reading.taken_at);
                self.record.add(Some(second), at, &reading);
                self.latest.set(Latest::between(&self.newest, &reading));
                self.newest = reading;
            }
            Err(error) => self.note_absence(error),
        }
    }

    fn note_absence(&mut self, error: WatchError) {
        let after = self.elapsed();
        match (&self.source, error) {
            // The page may come back.
            (Source::Page(_), error) => {
                self.n_missed += 1;
                let reason = error.to_string();
                let missing = self.missing.get_or_insert(Missing {
                    n: 0,
                    since: after,
                    reason,
                });
                missing.n += 1;
            }
            (_, WatchError::Ended { reason }) => self.ended = Some(Ended { after, reason }),
            (_, error) => {
                let reason = error.to_string();
                self.ended = Some(Ended { after, reason });
            }
        }
        if self.ended.is_some() {
            self.latest.set(Latest {
                has_ended: true,
                ..Latest::default()
            });
        }
    }

    fn finish(mut self) -> Account {
        if self.ended.is_none() {
            self.source.hurry();
            let second = self.elapsed().as_secs();
            self.look(second);
        }
        self.account()
    }

    /// The results so far.
    fn account(&self) -> Account {
        let missing = self.missing.as_ref();
        let gone = missing
            .filter(|missing| missing.n >= MISSED_IN_A_ROW)
            .map(|missing| Ended {
                after: missing.since,
                reason: missing.reason.clone(),
            });
        Account {
            name: self.name.clone(),
            what: self.what.clone(),
            record: self.record.clone(),
            ended: self.ended.clone().or(gone),
            cpu: cpu_clock::this_thread(),
            n_missed: self.n_missed,
            n_left_out: match &self.source {
                Source::Tree(_) | Source::Cgroup(_) => 0,
                Source::Page(endpoint) => endpoint.n_left_out(),
            },
        }
    }

    fn elapsed(&self) -> Duration {
        self.started.map_or(Duration::ZERO, |started| started.elapsed())
    }

    /// The cell with its newest figures.
    pub(super) fn latest(&self) -> LatestCell {
        self.latest.clone()
    }

    /// For people.
    pub(super) fn name(&self) -> &str {
        &self.name
    }
}

impl Source {
    fn attach(place: &Place, open: &OpenPage) -> Result<Self, WatchError> {
        Ok(match place {
            Place::Process(pid) => Self::Tree(ProcessTree::attach(Root::Process(*pid))?),
            Place::Port(port) => Self::Tree(ProcessTree::attach(Root::Port(*port))?),
            Place::Cgroup(path) => Self::Cgroup(Cgroup::attach(path)?),
            Place::Metrics(page) => Self::Page(Endpoint::attach(page, open)?),
        })
    }

    fn read(&mut self) -> Result<Reading, WatchError> {
        match self {
            Self::Tree(tree) => tree.read(),
            Self::Cgroup(group) => group.read(),
            Self::Page(endpoint) => endpoint.read(),
        }
    }

    /// Takes slow readings without spacing, before and after the load, when they disturb nothing.
    fn hurry(&mut self) {
        if let Self::Tree(tree) = self {
            tree.hurry();
        }
    }

    /// What the target calls itself.
    fn name(&self) -> Option<String> {
        match self {
            Self::Tree(tree) => tree.program(),
            Self::Cgroup(group) => group.name(),
            Self::Page(endpoint) => endpoint.name(),
        }
    }
}

/// Negative for times before the start.
fn seconds_since(start: Instant, at: Instant) -> f64 {
    match at.checked_duration_since(start) {
        Some(after) => after.as_secs_f64(),
        None => -start.duration_since(at).as_secs_f64(),
    }
}
