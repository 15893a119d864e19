//! The values of all metrics of one registry: a worker's own, a delta of one second, or the total of a run.

use std::{collections::BTreeMap, mem, sync::Arc, time::Duration};

use super::{
    Check, CheckId, CheckName, Contains, CounterId, Definition, GaugeId, Kind, MetricId, Place, RateId,
    Registry, TrendId, emerging::Emerging,
};
use crate::{causes::Causes, histogram::Histogram};

mod wire;

/// Values for every metric and check of a registry. Its size is fixed by the registry, except that a trend gets
/// its histogram with the first sample, and that a bounded number of names may appear during the run.
#[derive(Clone, Debug)]
pub struct MetricSet {
    registry: Arc<Registry>,
    counters: Vec<Option<f64>>,
    gauges: Vec<Option<Gauge>>,
    rates: Vec<Rate>,
    trends: Vec<Option<Box<Histogram>>>,
    checks: Vec<Check>,
    named_checks: BTreeMap<CheckName, NamedCheck>,
    /// What appeared during the run.
    emerging: Emerging,
    /// What failed without being an iteration.
    faults: Causes,
    /// Connections, of which the failed ones are true.
    connections: Rate,
    /// Paths of groups, with how many appeared before each.
    groups: BTreeMap<String, usize>,
    /// Empty when the registry is not broken down, and in the sets of places themselves.
    places: BTreeMap<Place, MetricSet>,
}

/// A check that appeared during the run.
#[derive(Clone, Copy, Debug)]
struct NamedCheck {
    /// The number of checks that appeared before it.
    position: usize,
    answers: Check,
}

/// The most checks that may appear during a run. Reason: a person does not read more; a name with an id in it must not
/// make memory grow with the run. Answers to further ones count in the rate `checks` and under [`FURTHER_CHECKS`].
const MAX_NAMED_CHECKS: usize = 1_000;

/// The most listed groups. Reason: as for checks; samples of further groups are counted all the same.
const MAX_GROUPS: usize = 1_000;

/// Stands for all checks beyond [`MAX_NAMED_CHECKS`].
const FURTHER_CHECKS: &str = "(further checks)";

/// The latest value of a gauge and the range of all its values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gauge {
    /// The value that was set last. Between workers the order of merging decides.
    pub value: f64,
    /// The lowest value.
    pub min: f64,
    /// The highest value.
    pub max: f64,
}

/// The number of true and of all samples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rate {
    /// Samples that were true.
    pub n_true: u64,
    /// All samples.
    pub n_total: u64,
}

/// The value of a metric of any kind.
#[derive(Clone, Copy, Debug)]
pub enum Value<'a> {
    /// The sum of a counter with at least one sample.
    Counter(f64),
    /// A gauge.
    Gauge(Gauge),
    /// A rate with at least one sample.
    Rate(Rate),
    /// The samples of a trend, at least one.
    Trend(&'a Histogram),
}

impl MetricSet {
    /// All metrics of `registry` without samples.
    pub fn new(registry: Arc<Registry>) -> Self {
        Self {
            counters: vec![None; registry.n_of_kind(Kind::Counter)],
            gauges: vec![None; registry.n_of_kind(Kind::Gauge)],
            rates: vec![Rate::default(); registry.n_of_kind(Kind::Rate)],
            trends: vec![None; registry.n_of_kind(Kind::Trend)],
            checks: vec![Check::default(); registry.checks().len()],
            named_checks: BTreeMap::new(),
            emerging: Emerging::default(),
            faults: Causes::default(),
            connections: Rate::default(),
            groups: BTreeMap::new(),
            places: BTreeMap::new(),
            registry,
        }
    }

    /// What is measured.
    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    pub(crate) fn shared_registry(&self) -> &Arc<Registry> {
        &self.registry
    }

    /// Adds `n` to a counter.
    pub fn count(&mut self, id: CounterId, n: u64) {
        self.add_selected(id, n as f64, &[]);
    }

    /// Sets a gauge.
    pub fn set(&mut self, id: GaugeId, value: f64) {
        self.set_selected(id, value, &[]);
    }

    /// Adds one sample to a rate.
    pub fn rate(&mut self, id: RateId, is_true: bool) {
        self.rate_selected(id, is_true, &[]);
    }

    /// Adds one sample to a trend.
    pub fn record(&mut self, id: TrendId, duration: Duration) {
        self.record_selected(id, duration, &[]);
    }

    /// Adds existing samples to a trend of durations. Its sub-metrics do not get them.
    pub fn record_all(&mut self, id: TrendId, samples: &Histogram) {
        if samples.is_empty() {
            return;
        }
        match &mut self.trends[id.0] {
            Some(known) => known.merge(samples),
            none => *none = Some(Box::new(samples.clone())),
        }
    }

    /// Adds existing samples to a rate. Its sub-metrics do not get them.
    pub fn rate_all(&mut self, id: RateId, samples: Rate) {
        self.rates[id.0].merge(samples);
    }

    /// Adds one answer to a check, and to the rate over all checks.
    pub fn check(&mut self, id: CheckId, passed: bool) {
        self.check_selected(id, passed, &[]);
    }

    // The methods below also record to the selected sub-metrics, given by their positions.

    pub(super) fn add_selected(&mut self, id: CounterId, amount: f64, selected: &[usize]) {
        for at in affected(&self.registry, Kind::Counter, id.0, selected) {
            *self.counters[at].get_or_insert_default() += amount;
        }
    }

    pub(super) fn set_selected(&mut self, id: GaugeId, value: f64, selected: &[usize]) {
        for at in affected(&self.registry, Kind::Gauge, id.0, selected) {
            let (min, max) = (value, value);
            Gauge { value, min, max }.merge_into(&mut self.gauges[at]);
        }
    }

    pub(super) fn rate_selected(&mut self, id: RateId, is_true: bool, selected: &[usize]) {
        for at in affected(&self.registry, Kind::Rate, id.0, selected) {
            self.rates[at].merge(Rate {
                n_true: u64::from(is_true),
                n_total: 1,
            });
        }
    }

    pub(super) fn record_selected(&mut self, id: TrendId, duration: Duration, selected: &[usize]) {
        for at in affected(&self.registry, Kind::Trend, id.0, selected) {
            self.trend_at(at).record(duration);
        }
    }

    fn trend_at(&mut self, at: usize) -> &mut Histogram {
        self.trends[at].get_or_insert_with(|| {
            let definition = self.registry.trend_definition(at);
            Box::new(match definition.contains {
                Contains::Time => Histogram::new(),
                Contains::Default | Contains::Data => Histogram::of_numbers(),
            })
        })
    }

    pub(super) fn check_selected(&mut self, id: CheckId, passed: bool, selected: &[usize]) {
        self.checks[id.0].add(passed);
        self.rate_of_checks(passed, selected);
    }

    pub(super) fn check_named(&mut self, group: &str, name: &str, passed: bool, selected: &[usize]) {
        let [group, name] = [group, name].map(str::to_owned);
        self.named_check(CheckName { group, name }).add(passed);
        self.rate_of_checks(passed, selected);
    }

    /// Adds `n` to an unregistered counter. The name is any text; beyond 1,000 names all further ones are counted
    /// together.
    pub fn tally(&mut self, name: &str, n: u64) {
        self.emerging.tally(name, n);
    }

    /// Adds `n` to unregistered events, which reports show per second. Names as for [`Self::tally`].
    pub fn event(&mut self, name: &str, n: u64) {
        self.emerging.event(name, n);
    }

    /// Adds a number to an unregistered distribution, at a resolution of 0.001. Negative ones count as zero. The name
    /// is any text; beyond 100 names, samples are only counted, as `(further samples)`.
    pub fn observe(&mut self, name: &str, number: f64) {
        self.emerging.observe(name, number);
    }

    /// Adds a duration to an unregistered distribution; see [`Self::observe`].
    pub fn time(&mut self, name: &str, time: Duration) {
        self.emerging.time(name, time);
    }

    /// Counts a failure that does not end its iteration, such as that of a request, `at` a time since the start of the
    /// run. `example` has more detail than `cause`.
    pub fn fault(&mut self, cause: &str, example: &str, at: Duration) {
        self.faults.add(cause, example, 1, at);
    }

    /// Counts `n` failures of a cause without variable words; see [`Causes::add_as`].
    pub fn faults_of(&mut self, cause: &str, example: &str, n: u64, at: Duration) {
        self.faults.add_as(cause, example, n, at);
    }

    /// Counts an attempt to connect.
    pub fn connection(&mut self, has_failed: bool) {
        self.connections.merge(Rate {
            n_true: u64::from(has_failed),
            n_total: 1,
        });
    }

    /// Counts the failure of a connection that was counted as open before.
    pub fn connection_lost(&mut self) {
        self.connections.n_true = self.connections.n_true.saturating_add(1);
    }

    /// The attempts to connect; true are those that failed, then or later.
    pub fn failed_connections(&self) -> Rate {
        self.connections
    }

    /// What failed so.
    pub fn faults(&self) -> &Causes {
        &self.faults
    }

    /// Lists a group, with its path: `::outer::inner`.
    pub(super) fn group(&mut self, path: &str) {
        if self.groups.len() < MAX_GROUPS && !self.groups.contains_key(path) {
            self.groups.insert(path.to_owned(), self.groups.len());
        }
    }

    /// The metrics that get the samples of a place. `None` if there are too many scenarios.
    pub(super) fn at(&mut self, place: &Place) -> Option<&mut Self> {
        if self.places.contains_key(place) {
            return self.places.get_mut(place);
        }
        let admitted = self.registry.admit(place)?;
        let empty = || Self::new(Arc::clone(&self.registry));
        Some(self.places.entry(admitted).or_insert_with(empty))
    }

    fn rate_of_checks(&mut self, passed: bool, selected: &[usize]) {
        if let Some(checks) = self.registry.checks_rate() {
            self.rate_selected(checks, passed, selected);
        }
    }

    fn named_check(&mut self, name: CheckName) -> &mut Check {
        let further = CheckName {
            group: String::new(),
            name: FURTHER_CHECKS.to_owned(),
        };
        let n_further = usize::from(self.named_checks.contains_key(&further));
        let is_full = self.named_checks.len() >= MAX_NAMED_CHECKS + n_further;
        let name = if is_full && !self.named_checks.contains_key(&name) {
            further
        } else {
            name
        };
        let position = self.named_checks.len();
        let new = NamedCheck {
            position,
            answers: Check::default(),
        };
        &mut self.named_checks.entry(name).or_insert(new).answers
    }

    /// Adds all samples of `later`, a set of the same registry, whose gauges are newer.
    pub fn merge(&mut self, later: &Self) {
        for (ours, theirs) in self.counters.iter_mut().zip(&later.counters) {
            if let Some(theirs) = theirs {
                *ours.get_or_insert_default() += theirs;
            }
        }
        for (ours, theirs) in self.gauges.iter_mut().zip(&later.gauges) {
            if let Some(theirs) = theirs {
                theirs.merge_into(ours);
            }
        }
        for (ours, theirs) in self.rates.iter_mut().zip(&later.rates) {
            ours.merge(*theirs);
        }
        for (ours, theirs) in self.trends.iter_mut().zip(&later.trends) {
            if let Some(theirs) = theirs {
                match ours {
                    Some(ours) => ours.merge(theirs),
                    None => *ours = Some(theirs.clone()),
                }
            }
        }
        for (ours, theirs) in self.checks.iter_mut().zip(&later.checks) {
            ours.merge(*theirs);
        }
        for (name, theirs) in later.named_checks_in_order() {
            self.named_check(name.clone()).merge(theirs);
        }
        self.emerging.merge(&later.emerging);
        self.faults.merge(&later.faults);
        self.connections.merge(later.connections);
        for path in later.groups() {
            self.group(path);
        }
        for (place, theirs) in &later.places {
            if let Some(ours) = self.at(place) {
                ours.merge(theirs);
            }
        }
    }

    /// All that was recorded since the last call; leaves the set empty.
    pub fn take(&mut self) -> Self {
        mem::replace(self, self.empty())
    }

    /// A set of the same metrics without samples.
    #[must_use]
    pub fn empty(&self) -> Self {
        Self::new(Arc::clone(&self.registry))
    }

    /// The samples after `earlier`, an older state of this set: counters, rates, trends and unregistered metrics.
    /// Gauges keep their latest value; checks, faults, connections, groups and places are omitted.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let mut later = self.empty();
        for (at, (now, before)) in self.counters.iter().zip(&earlier.counters).enumerate() {
            let grown = now.map(|now| now - before.unwrap_or_default());
            later.counters[at] = grown.filter(|&grown| grown != 0.0);
        }
        later.gauges.clone_from(&self.gauges);
        for (at, (now, before)) in self.rates.iter().zip(&earlier.rates).enumerate() {
            later.rates[at] = Rate {
                n_true: now.n_true - before.n_true,
                n_total: now.n_total - before.n_total,
            };
        }
        for (at, (now, before)) in self.trends.iter().zip(&earlier.trends).enumerate() {
            later.trends[at] = match (now, before) {
                (Some(now), Some(before)) => {
                    Some(Box::new(now.since(before))).filter(|grown| !grown.is_empty())
                }
                (now, _) => now.clone(),
            };
        }
        later.emerging = self.emerging.since(&earlier.emerging);
        later
    }

    /// The counters that appeared during the run, in the order of their names.
    pub fn tallies(&self) -> impl Iterator<Item = (&str, u64)> {
        self.emerging.tallies()
    }

    /// The events that appeared during the run, in the order of their names.
    pub fn events(&self) -> impl Iterator<Item = (&str, u64)> {
        self.emerging.events()
    }

    /// The distributions that appeared during the run, in the order of their names. Plain numbers are milliseconds.
    pub fn distributions(&self) -> impl Iterator<Item = (&str, &Histogram)> {
        self.emerging.distributions()
    }

    /// What the numbers of a distribution mean that appeared during the run.
    pub fn distribution_contains(&self, name: &str) -> Contains {
        if self.emerging.is_time(name) {
            Contains::Time
        } else {
            Contains::Default
        }
    }

    /// The sum of a counter, without its fraction.
    pub fn counter(&self, id: CounterId) -> u64 {
        // The conversion saturates, so any sum fits.
        self.counters[id.0].unwrap_or_default() as u64
    }

    /// The samples of a trend; `None` before the first.
    pub fn trend(&self, id: TrendId) -> Option<&Histogram> {
        self.trends[id.0].as_deref()
    }

    /// The answers to a check.
    pub fn answers(&self, id: CheckId) -> Check {
        self.checks[id.0]
    }

    /// All metrics that have samples, in the order of registration.
    pub fn iter(&self) -> impl Iterator<Item = (&Definition, Value<'_>)> {
        let definitions = self.registry.definitions().iter();
        definitions.filter_map(|definition| Some((definition, self.value_of(definition)?)))
    }

    /// The value of any metric; `None` before its first sample.
    pub fn value(&self, id: MetricId) -> Option<Value<'_>> {
        self.value_of(self.registry.definition(id))
    }

    fn value_of(&self, definition: &Definition) -> Option<Value<'_>> {
        let at = definition.of_kind;
        Some(match definition.kind {
            Kind::Counter => Value::Counter(self.counters[at]?),
            Kind::Gauge => Value::Gauge(self.gauges[at]?),
            Kind::Rate => Value::Rate(Some(self.rates[at]).filter(|rate| rate.n_total > 0)?),
            Kind::Trend => Value::Trend(self.trends[at].as_deref()?),
        })
    }

    /// All checks with their answers: registered ones in their order, then the others as they appeared.
    pub fn checks(&self) -> impl Iterator<Item = (&CheckName, Check)> {
        let registered = self.registry.checks().iter().zip(self.checks.iter().copied());
        registered.chain(self.named_checks_in_order())
    }

    /// The paths of all entered groups, in the order in which they appeared.
    pub fn groups(&self) -> impl Iterator<Item = &str> {
        let mut groups: Vec<_> = self.groups.iter().collect();
        groups.sort_by_key(|&(_, position)| position);
        groups.into_iter().map(|(path, _)| path.as_str())
    }

    /// The metrics of each place, if the registry is [broken down](Registry::break_down).
    pub fn places(&self) -> impl Iterator<Item = (&Place, &Self)> {
        self.places.iter()
    }

    fn named_checks_in_order(&self) -> impl Iterator<Item = (&CheckName, Check)> {
        let mut named: Vec<_> = self.named_checks.iter().collect();
        named.sort_by_key(|(_, check)| check.position);
        named.into_iter().map(|(name, check)| (name, check.answers))
    }
}

/// Positions of the metric itself and of its sub-metrics that are selected.
fn affected(
    registry: &Registry,
    kind: Kind,
    of_kind: usize,
    selected: &[usize],
) -> impl Iterator<Item = usize> + use<> {
    // A sample belongs to few sub-metrics, usually to none; then nothing is allocated.
    let parts: Vec<usize> = if selected.is_empty() {
        Vec::new()
    } else {
        let parts = registry.parts(kind, of_kind).iter();
        let chosen = parts.filter(|part| selected.contains(&part.selector));
        chosen.map(|part| part.of_kind).collect()
    };
    std::iter::once(of_kind).chain(parts)
}

impl Value<'_> {
    /// The sum of a counter, 1 for a gauge, the number of samples of the others.
    pub fn n_samples(&self) -> u64 {
        match self {
            Self::Counter(sum) => *sum as u64,
            Self::Gauge(_) => 1,
            Self::Rate(rate) => rate.n_total,
            Self::Trend(histogram) => histogram.count(),
        }
    }
}

impl Gauge {
    fn merge_into(self, older: &mut Option<Self>) {
        let (min, max) = older.map_or((self.min, self.max), |older| (older.min, older.max));
        *older = Some(Self {
            value: self.value,
            min: min.min(self.min),
            max: max.max(self.max),
        });
    }
}

impl Rate {
    /// True samples as a share (0 to 1) of all. Zero without samples.
    pub fn share(&self) -> f64 {
        if self.n_total == 0 {
            0.0
        } else {
            self.n_true as f64 / self.n_total as f64
        }
    }

    fn merge(&mut self, other: Self) {
        // Numbers from other machines may be any.
        self.n_true = self.n_true.saturating_add(other.n_true);
        self.n_total = self.n_total.saturating_add(other.n_total);
    }
}

#[cfg(test)]
mod tests;
