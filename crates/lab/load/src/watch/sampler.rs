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
    account::{Account, Ended},
    cgroup::Cgroup,
    endpoint::Endpoint,
    figure::Reading,
    latest::{Latest, LatestCell},
    sighting::{Look, Report, Sighting},
    tree::{ProcessTree, Root},
};
use crate::cpu_clock;

/// The number of consecutive misses, up to the end, after which a page of metrics counts as ended. Reason: a server
/// under load may miss one or two.
const MISSED_IN_A_ROW: u64 = 3;

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
    /// Who else is told, and the number of this target there.
    report: Option<(usize, Report)>,
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
            report: None,
        })
    }

    /// Also tells each look, as one at the target number `at`.
    pub(super) fn telling(self, at: usize, report: Report) -> Self {
        Self {
            report: Some((at, report)),
            ..self
        }
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
        self.record.add(None, seconds, &self.base.figures);
        if self.report.is_some() {
            self.tell(Some(Look::new(None, seconds, &self.base.figures)));
        }
    }

    fn tell(&self, look: Option<Look>) {
        if let Some((target, report)) = &self.report {
            report(Sighting {
                target: *target,
                look,
                ended: self.gone(),
                cpu: cpu_clock::this_thread(),
                n_missed: self.n_missed,
                n_left_out: self.n_left_out(),
            });
        }
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
                self.record.add(Some(second), at, &reading.figures);
                let seconds = seconds_since(self.newest.taken_at, reading.taken_at);
                let latest = Latest::between(&self.newest.figures, &reading.figures, seconds);
                self.latest.set(latest);
                if self.report.is_some() {
                    self.tell(Some(Look::new(Some(second), at, &reading.figures)));
                }
                self.newest = reading;
            }
            Err(error) => {
                self.note_absence(error);
                self.tell(None);
            }
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
            self.latest.set(Latest::ended());
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

    /// Whether the target is gone, as far as is known.
    fn gone(&self) -> Option<Ended> {
        let missing = self.missing.as_ref();
        let gone = missing
            .filter(|missing| missing.n >= MISSED_IN_A_ROW)
            .map(|missing| Ended {
                after: missing.since,
                reason: missing.reason.clone(),
            });
        self.ended.clone().or(gone)
    }

    fn n_left_out(&self) -> usize {
        match &self.source {
            Source::Tree(_) | Source::Cgroup(_) => 0,
            Source::Page(endpoint) => endpoint.n_left_out(),
        }
    }

    /// The results so far.
    fn account(&self) -> Account {
        Account {
            name: self.name.clone(),
            what: self.what.clone(),
            record: self.record.clone(),
            ended: self.gone(),
            cpu: cpu_clock::this_thread(),
            n_missed: self.n_missed,
            n_left_out: self.n_left_out(),
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
