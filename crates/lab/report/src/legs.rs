//! A run in legs: stretches of time, each under one load as far as that was steady. Figures by load come from them.
//!
//! A leg keeps the samples of all durations with the precision of the whole run's histograms, so a percentile of a leg,
//! or of several legs together, is that of its samples. A second whose load is that of the leg before it joins that
//! leg: a load that is held costs one leg, however long it is held, and a ramp one per second. If there are too many, the
//! shortest neighbours are merged.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use plimsoll_load::{
    histogram::Histogram,
    metrics::{Contains, MetricSet, Value},
    run::Stretch,
};

mod offered;
mod samples;

pub use self::offered::Offered;
use self::samples::Samples;

/// The least share of a load's peak that is the same load. Reason: it forgives one user of a hundred that leaves or comes
/// later, and no ramp that is seen as one.
pub(crate) const STEADY: f64 = 0.99;

/// The least share of a load's peak in the first stretch of a run. Reason: the users of one load start within some
/// milliseconds, on a busy machine within some dozens.
const STEADY_AT_FIRST: f64 = 0.95;

/// The most legs. Reason: a minute of a ramp has 60, and bands of users need some dozens.
const MAX_LEGS: usize = 256;

/// Legs that are kept even if their samples take more than [`MAX_BYTES`]. Reason: eight bands of three legs.
const LEAST_LEGS: usize = 24;

/// The most bytes of all samples. Beyond it, legs are merged early. Reason: as much as a timeline takes.
const MAX_BYTES: usize = 4_000_000;

/// A stretch that is shorter has no load of its own: it holds what the last iterations of a run reported.
const LEAST_TIME: Duration = Duration::from_millis(250);

/// Takes stretches of a run as they come. Its memory is bounded: samples take at most 4 MB.
#[derive(Clone, Debug, Default)]
pub struct Legs {
    /// The load of a run whose iterations start on schedule. `None` if users are the load.
    offered: Option<Offered>,
    legs: Vec<Leg>,
    /// Trends that are no longer kept.
    dropped: BTreeSet<Box<str>>,
    /// The end of the last stretch.
    until: Duration,
}

/// A stretch of time with its load and its samples.
#[derive(Clone, Debug, Default)]
pub(crate) struct Leg {
    /// The first second, since the start of the run.
    pub(crate) start: Duration,
    /// The end.
    pub(crate) end: Duration,
    /// The lowest and the highest load. Of a steady second, both are its most users.
    pub(crate) range: (f64, f64),
    /// The loads of the first and of the last second.
    pub(crate) ends: (f64, f64),
    /// The load on average.
    pub(crate) mean: f64,
    /// Whether the load was the same all the time.
    pub(crate) is_steady: bool,
    /// What happened.
    pub(crate) events: Events,
    trends: BTreeMap<Box<str>, Samples>,
}

/// Events of a leg, and those among them that failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Events {
    pub(crate) iterations: u64,
    pub(crate) failed_iterations: u64,
    pub(crate) checks: u64,
    pub(crate) failed_checks: u64,
    pub(crate) requests: u64,
    pub(crate) failed_requests: u64,
}

impl Legs {
    /// The legs of a run that has not started. `offered` is its load, if that is not the number of its users.
    pub(crate) fn new(offered: Option<Offered>) -> Self {
        Self {
            offered,
            ..Self::default()
        }
    }

    /// Whether the load is iterations per second, not users.
    pub(crate) fn are_of_rates(&self) -> bool {
        self.offered.is_some()
    }

    /// The legs, in the order of time.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Leg> {
        self.legs.iter()
    }

    /// Takes a stretch. One that begins before the end of the last stretch holds late samples: they belong to the leg of
    /// its second.
    pub(crate) fn add(&mut self, stretch: &Stretch) {
        let mut leg = Leg::of(stretch, self.offered.as_ref());
        leg.trends.retain(|name, _| !self.dropped.contains(name));
        let is_late = stretch.start < self.until;
        let is_short = stretch.end.saturating_sub(stretch.start) < LEAST_TIME;
        self.until = self.until.max(stretch.end);
        if is_late || is_short {
            let n_begun = self.legs.partition_point(|leg| leg.start <= stretch.start);
            if let Some(known) = self.legs.get_mut(n_begun.saturating_sub(1)) {
                known.take_samples(leg);
                return self.shrink();
            }
        }
        match self.legs.last_mut() {
            Some(last) if last.is_as_loaded_as(&leg) => last.append(leg),
            _ => self.legs.push(leg),
        }
        self.shrink();
    }

    /// Merges the shortest neighbours until everything fits; then drops the trends with the fewest samples.
    fn shrink(&mut self) {
        while self.legs.len() > MAX_LEGS || (self.legs.len() > LEAST_LEGS && self.n_bytes() > MAX_BYTES) {
            let time = |at: &usize| self.legs[at + 1].end.saturating_sub(self.legs[*at].start);
            let Some(at) = (0..self.legs.len() - 1).min_by_key(time) else {
                return;
            };
            let next = self.legs.remove(at + 1);
            self.legs[at].append(next);
        }
        while self.n_bytes() > MAX_BYTES {
            let Some(name) = self.rarest() else { return };
            self.legs
                .iter_mut()
                .for_each(|leg| drop(leg.trends.remove(&name)));
            self.dropped.insert(name);
        }
    }

    pub(crate) fn n_bytes(&self) -> usize {
        let samples = self.legs.iter().flat_map(|leg| leg.trends.values());
        samples.map(Samples::n_bytes).sum()
    }

    /// The trend with the fewest samples; `None` if there is only one.
    fn rarest(&self) -> Option<Box<str>> {
        let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
        for (name, samples) in self.legs.iter().flat_map(|leg| &leg.trends) {
            *counts.entry(name).or_default() += samples.n();
        }
        let (name, _) = counts.iter().min_by_key(|(_, n)| **n)?;
        (counts.len() > 1).then(|| (*name).into())
    }
}

impl Leg {
    fn of(stretch: &Stretch, offered: Option<&Offered>) -> Self {
        let (low, mean, high) = match offered {
            Some(offered) => offered.during(stretch.start, stretch.end),
            None => {
                let users = stretch.users;
                (f64::from(users.least), users.mean(), f64::from(users.peak))
            }
        };
        let least = if offered.is_some() { low } else { mean };
        let steady = if stretch.start.is_zero() {
            STEADY_AT_FIRST
        } else {
            STEADY
        };
        let is_steady = least >= steady * high;
        // What was there for a moment is not the load of a second that was steady.
        let low = if is_steady { high } else { low };
        Self {
            start: stretch.start,
            end: stretch.end,
            range: (low, high),
            ends: (high, high),
            mean,
            is_steady,
            events: Events::of(stretch),
            trends: trends(&stretch.metrics),
        }
    }

    /// The length in seconds.
    pub(crate) fn seconds(&self) -> f64 {
        self.end.saturating_sub(self.start).as_secs_f64()
    }

    /// The samples of a trend. `None` without any.
    pub(crate) fn samples(&self, trend: &str) -> Option<Histogram> {
        self.trends.get(trend).map(Samples::histogram)
    }

    fn is_as_loaded_as(&self, next: &Self) -> bool {
        self.is_steady && next.is_steady && {
            let (low, high) = joined(self.range, next.range);
            low >= STEADY * high
        }
    }

    /// Adds the leg that follows.
    fn append(&mut self, next: Self) {
        self.is_steady = self.is_as_loaded_as(&next);
        let (ours, theirs) = (self.seconds(), next.seconds());
        if ours + theirs > 0.0 {
            self.mean = (self.mean * ours + next.mean * theirs) / (ours + theirs);
        }
        self.range = joined(self.range, next.range);
        self.end = next.end;
        self.ends.1 = next.ends.1;
        self.take_samples(next);
    }

    /// Adds what was measured in `other`.
    fn take_samples(&mut self, other: Self) {
        self.events = self.events.plus(other.events);
        for (name, samples) in other.trends {
            match self.trends.get_mut(&name) {
                Some(known) => *known = known.merged(&samples),
                None => drop(self.trends.insert(name, samples)),
            }
        }
    }
}

impl Events {
    fn of(stretch: &Stretch) -> Self {
        let mut events = Self {
            iterations: stretch.iterations.n_complete,
            failed_iterations: stretch.n_failed,
            ..Self::default()
        };
        for (_, check) in stretch.metrics.checks() {
            events.checks += check.passes + check.fails;
            events.failed_checks += check.fails;
        }
        for (definition, value) in stretch.metrics.iter() {
            if let ("http_req_failed", Value::Rate(rate)) = (definition.name.as_str(), value) {
                events.requests = rate.n_total;
                events.failed_requests = rate.n_true;
            }
        }
        events
    }

    pub(crate) fn plus(self, other: Self) -> Self {
        Self {
            iterations: self.iterations + other.iterations,
            failed_iterations: self.failed_iterations + other.failed_iterations,
            checks: self.checks + other.checks,
            failed_checks: self.failed_checks + other.failed_checks,
            requests: self.requests + other.requests,
            failed_requests: self.failed_requests + other.failed_requests,
        }
    }
}

/// All durations of a set, by name.
fn trends(set: &MetricSet) -> BTreeMap<Box<str>, Samples> {
    let registered = set.iter().filter_map(|(definition, value)| match value {
        Value::Trend(histogram) if definition.contains == Contains::Time => {
            Some((definition.name.as_str(), histogram))
        }
        _ => None,
    });
    let emerged = set.distributions();
    let emerged = emerged.filter(|(name, _)| set.distribution_contains(name) == Contains::Time);
    registered
        .chain(emerged)
        .filter(|(_, histogram)| !histogram.is_empty())
        .map(|(name, histogram)| (name.into(), Samples::of(histogram)))
        .collect()
}

fn joined(one: (f64, f64), other: (f64, f64)) -> (f64, f64) {
    (one.0.min(other.0), one.1.max(other.1))
}

#[cfg(test)]
mod tests;
