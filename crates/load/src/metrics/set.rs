//! The values of all metrics of one registry: a worker's own, a delta of one second, or the total of a run.

use std::{mem, sync::Arc};

use super::{Check, CheckId, CounterId, Definition, GaugeId, Kind, RateId, Registry, TrendId};
use crate::histogram::Histogram;

/// Values for every metric and check of a registry. Its size is fixed by the registry, except that a trend gets
/// its histogram with the first sample.
#[derive(Clone, Debug)]
pub struct MetricSet {
    registry: Arc<Registry>,
    counters: Vec<u64>,
    gauges: Vec<Option<Gauge>>,
    rates: Vec<Rate>,
    trends: Vec<Option<Box<Histogram>>>,
    checks: Vec<Check>,
}

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

/// How often something was true.
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
    /// The sum of a counter.
    Counter(u64),
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
            counters: vec![0; registry.n_of_kind(Kind::Counter)],
            gauges: vec![None; registry.n_of_kind(Kind::Gauge)],
            rates: vec![Rate::default(); registry.n_of_kind(Kind::Rate)],
            trends: vec![None; registry.n_of_kind(Kind::Trend)],
            checks: vec![Check::default(); registry.checks().len()],
            registry,
        }
    }

    /// Adds `n` to a counter.
    pub fn count(&mut self, id: CounterId, n: u64) {
        self.counters[id.0] += n;
    }

    /// Sets a gauge.
    pub fn set(&mut self, id: GaugeId, value: f64) {
        Gauge {
            value,
            min: value,
            max: value,
        }
        .merge_into(&mut self.gauges[id.0]);
    }

    /// Adds one sample to a rate.
    pub fn rate(&mut self, id: RateId, is_true: bool) {
        self.rates[id.0].merge(Rate {
            n_true: u64::from(is_true),
            n_total: 1,
        });
    }

    /// Adds one sample to a trend.
    pub fn record(&mut self, id: TrendId, duration: std::time::Duration) {
        self.trends[id.0].get_or_insert_default().record(duration);
    }

    /// Adds one answer to a check.
    pub fn check(&mut self, id: CheckId, passed: bool) {
        self.checks[id.0].add(passed);
    }

    /// Adds all samples of `later`, a set of the same registry. Its gauges are taken as the newer ones.
    pub fn merge(&mut self, later: &Self) {
        for (ours, theirs) in self.counters.iter_mut().zip(&later.counters) {
            *ours += theirs;
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
                ours.get_or_insert_default().merge(theirs);
            }
        }
        for (ours, theirs) in self.checks.iter_mut().zip(&later.checks) {
            ours.merge(*theirs);
        }
    }

    /// All that was recorded since the last call; leaves the set empty.
    pub fn take(&mut self) -> Self {
        let empty = Self::new(Arc::clone(&self.registry));
        mem::replace(self, empty)
    }

    /// The sum of a counter.
    pub fn counter(&self, id: CounterId) -> u64 {
        self.counters[id.0]
    }

    /// The samples of a trend; `None` before the first.
    pub fn trend(&self, id: TrendId) -> Option<&Histogram> {
        self.trends[id.0].as_deref()
    }

    /// The answers to a check.
    pub fn answers(&self, id: CheckId) -> Check {
        self.checks[id.0]
    }

    /// All counters, and those metrics of the other kinds that have samples, in the order of registration.
    pub fn iter(&self) -> impl Iterator<Item = (&Definition, Value<'_>)> {
        let [mut n_counters, mut n_gauges, mut n_rates, mut n_trends] = [0; 4];
        self.registry.definitions().iter().filter_map(move |definition| {
            let value = match definition.kind {
                Kind::Counter => Value::Counter(self.counters[next(&mut n_counters)]),
                Kind::Gauge => Value::Gauge(self.gauges[next(&mut n_gauges)]?),
                Kind::Rate => {
                    Value::Rate(Some(self.rates[next(&mut n_rates)]).filter(|rate| rate.n_total > 0)?)
                }
                Kind::Trend => Value::Trend(self.trends[next(&mut n_trends)].as_deref()?),
            };
            Some((definition, value))
        })
    }

    /// All checks with their answers, in the order of registration.
    pub fn checks(&self) -> impl Iterator<Item = (&str, Check)> {
        self.registry
            .checks()
            .iter()
            .map(String::as_str)
            .zip(self.checks.iter().copied())
    }
}

/// The position to read, one further each time.
fn next(position: &mut usize) -> usize {
    *position += 1;
    *position - 1
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
    /// True samples as a share (0 to 1) of all; zero when there are none.
    pub fn share(&self) -> f64 {
        if self.n_total == 0 {
            0.0
        } else {
            self.n_true as f64 / self.n_total as f64
        }
    }

    fn merge(&mut self, other: Self) {
        self.n_true += other.n_true;
        self.n_total += other.n_total;
    }
}

#[cfg(test)]
mod tests;
