//! Metrics that appear during a run, under unregistered names: a name may hold a status, an error in the server's own
//! words, or be made up by a script.
//!
//! They have no tags and are not sent to outputs as single samples.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use crate::histogram::Histogram;

/// The most names of counters, and of events. Reason: a person does not read more; a name with an id in it must not
/// make memory grow with the run.
pub(super) const MAX_NAMES: usize = 1_000;

/// The most distributions. Reason: as for names, and each takes up to 440 KiB in each worker and in the total.
pub(super) const MAX_DISTRIBUTIONS: usize = 100;

/// Stands for all names beyond [`MAX_NAMES`].
pub(super) const FURTHER: &str = "(further)";

/// Counts the samples of distributions beyond [`MAX_DISTRIBUTIONS`].
pub(super) const FURTHER_SAMPLES: &str = "(further samples)";

/// Counters, events and distributions by their names.
#[derive(Clone, Debug, Default)]
pub(super) struct Emerging {
    tallies: BTreeMap<Box<str>, u64>,
    events: BTreeMap<Box<str>, u64>,
    distributions: BTreeMap<Box<str>, Histogram>,
    /// Distributions of durations. Numbers are stored as that many milliseconds, so both are recorded alike.
    times: BTreeSet<Box<str>>,
}

impl Emerging {
    pub(super) fn tally(&mut self, name: &str, n: u64) {
        add(&mut self.tallies, name, n);
    }

    pub(super) fn event(&mut self, name: &str, n: u64) {
        add(&mut self.events, name, n);
    }

    pub(super) fn observe(&mut self, name: &str, number: f64) {
        // Thousandths, as in histograms of numbers. A number that does not fit into a duration is beyond their range,
        // too.
        let number = Duration::try_from_secs_f64(number.max(0.0) / 1e3).unwrap_or(Duration::MAX);
        match self.distribution(name) {
            Some(distribution) => distribution.record(number),
            None => self.tally(FURTHER_SAMPLES, 1),
        }
    }

    pub(super) fn time(&mut self, name: &str, time: Duration) {
        match self.distribution(name) {
            Some(distribution) => {
                distribution.record(time);
                if !self.times.contains(name) {
                    self.times.insert(name.into());
                }
            }
            None => self.tally(FURTHER_SAMPLES, 1),
        }
    }

    /// Whether a distribution holds durations.
    pub(super) fn is_time(&self, name: &str) -> bool {
        self.times.contains(name)
    }

    /// `None` if there are too many.
    fn distribution(&mut self, name: &str) -> Option<&mut Histogram> {
        if !self.distributions.contains_key(name) {
            if self.distributions.len() >= MAX_DISTRIBUTIONS {
                return None;
            }
            self.distributions.insert(name.into(), Histogram::of_numbers());
        }
        self.distributions.get_mut(name)
    }

    pub(super) fn merge(&mut self, later: &Self) {
        for (name, &n) in &later.tallies {
            self.tally(name, n);
        }
        for (name, &n) in &later.events {
            self.event(name, n);
        }
        for (name, theirs) in &later.distributions {
            self.add_all(name, theirs, later.is_time(name));
        }
    }

    /// Adds existing samples to a distribution, in a histogram of numbers.
    pub(super) fn add_all(&mut self, name: &str, samples: &Histogram, is_time: bool) {
        match self.distribution(name) {
            Some(distribution) => distribution.merge(samples),
            None => return self.tally(FURTHER_SAMPLES, samples.count()),
        }
        if is_time && !self.times.contains(name) {
            self.times.insert(name.into());
        }
    }

    /// The samples after `earlier`, an older state of this value.
    pub(super) fn since(&self, earlier: &Self) -> Self {
        let distributions = self.distributions.iter().map(|(name, now)| {
            let grown = earlier.distributions.get(name).map(|before| now.since(before));
            (name.clone(), grown.unwrap_or_else(|| now.clone()))
        });
        Self {
            tallies: grown(&self.tallies, &earlier.tallies),
            events: grown(&self.events, &earlier.events),
            distributions: distributions.filter(|(_, grown)| !grown.is_empty()).collect(),
            times: self.times.clone(),
        }
    }

    pub(super) fn tallies(&self) -> impl Iterator<Item = (&str, u64)> {
        self.tallies.iter().map(|(name, &n)| (&**name, n))
    }

    pub(super) fn events(&self) -> impl Iterator<Item = (&str, u64)> {
        self.events.iter().map(|(name, &n)| (&**name, n))
    }

    pub(super) fn distributions(&self) -> impl Iterator<Item = (&str, &Histogram)> {
        let all = self.distributions.iter();
        all.map(|(name, distribution)| (&**name, distribution))
    }
}

fn add(counts: &mut BTreeMap<Box<str>, u64>, name: &str, n: u64) {
    if let Some(count) = counts.get_mut(name) {
        *count = count.saturating_add(n);
        return;
    }
    let name = if counts.len() >= MAX_NAMES { FURTHER } else { name };
    let count = counts.entry(name.into()).or_default();
    *count = count.saturating_add(n);
}

fn grown(now: &BTreeMap<Box<str>, u64>, before: &BTreeMap<Box<str>, u64>) -> BTreeMap<Box<str>, u64> {
    let grown = now
        .iter()
        .map(|(name, &n)| (name.clone(), n - before.get(name).copied().unwrap_or_default()));
    grown.filter(|&(_, n)| n > 0).collect()
}
