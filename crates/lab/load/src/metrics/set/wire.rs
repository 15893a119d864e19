//! Metric sets that go to another machine, and are added there.

use std::collections::BTreeMap;

use super::{Check, CheckName, Contains, Gauge, Kind, MetricSet, Place, Rate, Value};
use crate::{
    histogram::{MAX_COUNT, Packed, UnpackError},
    metrics::wire::{Metrics, Number, WireError},
};

impl MetricSet {
    /// All samples, for a set of a registry with the same definitions on another machine.
    pub fn to_wire(&self) -> Metrics {
        let mut sent = Metrics {
            checks: self.registered_answers(),
            named_checks: self.named_answers(),
            tallies: owned(self.tallies()),
            events: owned(self.events()),
            faults: self.faults.clone(),
            connections: self.connections.to_wire(),
            groups: self.groups().map(str::to_owned).collect(),
            places: self.places_to_wire(),
            ..Metrics::default()
        };
        for (definition, value) in self.iter() {
            let name = definition.name.clone();
            match value {
                Value::Counter(sum) => drop(sent.counters.insert(name, Number(sum))),
                Value::Gauge(gauge) => drop(sent.gauges.insert(name, gauge.to_wire())),
                Value::Rate(rate) => drop(sent.rates.insert(name, rate.to_wire())),
                Value::Trend(histogram) => drop(sent.trends.insert(name, Packed::of(histogram))),
            }
        }
        for (name, histogram) in self.distributions() {
            let of_its_kind = match self.distribution_contains(name) {
                Contains::Time => &mut sent.times,
                Contains::Default | Contains::Data => &mut sent.distributions,
            };
            of_its_kind.insert(name.to_owned(), Packed::of(histogram));
        }
        sent
    }

    fn registered_answers(&self) -> BTreeMap<String, [u64; 2]> {
        let registered = self.registry.checks().iter().zip(&self.checks);
        let answered = registered.filter(|&(_, &answers)| answers != Check::default());
        answered
            .map(|(check, answers)| (check.name.clone(), [answers.passes, answers.fails]))
            .collect()
    }

    fn named_answers(&self) -> Vec<(String, String, u64, u64)> {
        self.named_checks_in_order()
            .map(|(name, answers)| {
                let CheckName { group, name } = name.clone();
                (group, name, answers.passes, answers.fails)
            })
            .collect()
    }

    fn places_to_wire(&self) -> Vec<(String, String, Metrics)> {
        self.places()
            .map(|(place, metrics)| {
                let Place { scenario, group } = place.clone();
                (scenario, group, metrics.to_wire())
            })
            .collect()
    }

    /// Adds all samples of another machine's set. Its gauges count as newer. The limits on names hold: what exceeds
    /// them is counted together, as in [`Self::merge`].
    ///
    /// # Errors
    /// The sender's registry has other definitions, or the values are invalid. The set is then unchanged.
    pub fn add_wire(&mut self, sent: &Metrics) -> Result<(), WireError> {
        let mut received = self.empty();
        received.fill(sent)?;
        received.fill_places(sent)?;
        self.merge(&received);
        Ok(())
    }

    /// Adds everything but the places.
    fn fill(&mut self, sent: &Metrics) -> Result<(), WireError> {
        self.fill_numbers(sent)?;
        self.fill_trends(sent)?;
        self.fill_checks(sent)?;
        self.fill_emerging(sent)?;
        self.faults.merge(&sent.faults);
        self.connections.merge(Rate::from_wire(sent.connections));
        for path in &sent.groups {
            self.group(path);
        }
        Ok(())
    }

    fn fill_numbers(&mut self, sent: &Metrics) -> Result<(), WireError> {
        for (name, sum) in &sent.counters {
            let at = self.position(name, Kind::Counter)?;
            *self.counters[at].get_or_insert_default() += sum.0;
        }
        for (name, gauge) in &sent.gauges {
            let at = self.position(name, Kind::Gauge)?;
            Gauge::from_wire(*gauge).merge_into(&mut self.gauges[at]);
        }
        for (name, rate) in &sent.rates {
            let at = self.position(name, Kind::Rate)?;
            let Rate { n_true, n_total } = Rate::from_wire(*rate);
            if n_true > n_total || n_total > MAX_COUNT {
                let name = name.clone();
                return Err(WireError::Rate {
                    name,
                    n_true,
                    n_total,
                });
            }
            self.rates[at].merge(Rate { n_true, n_total });
        }
        Ok(())
    }

    fn fill_trends(&mut self, sent: &Metrics) -> Result<(), WireError> {
        for (name, packed) in &sent.trends {
            let at = self.position(name, Kind::Trend)?;
            let samples = match self.registry.trend_definition(at).contains {
                Contains::Time => packed.durations(),
                Contains::Default | Contains::Data => packed.numbers(),
            };
            let samples = samples.map_err(|error| of_metric(name, error))?;
            if !samples.is_empty() {
                self.trend_at(at).merge(&samples);
            }
        }
        Ok(())
    }

    fn fill_checks(&mut self, sent: &Metrics) -> Result<(), WireError> {
        for (name, &[passes, fails]) in &sent.checks {
            let mut known = self.registry.checks().iter();
            let Some(at) = known.position(|check| check.name == *name) else {
                return Err(WireError::UnknownCheck { name: name.clone() });
            };
            self.checks[at].merge(Check { passes, fails });
        }
        for (group, name, passes, fails) in &sent.named_checks {
            let [group, name] = [group, name].map(String::clone);
            let answers = Check {
                passes: *passes,
                fails: *fails,
            };
            self.named_check(CheckName { group, name }).merge(answers);
        }
        Ok(())
    }

    fn fill_emerging(&mut self, sent: &Metrics) -> Result<(), WireError> {
        for (name, &n) in &sent.tallies {
            self.emerging.tally(name, n);
        }
        for (name, &n) in &sent.events {
            self.emerging.event(name, n);
        }
        let numbers = sent.distributions.iter().map(|one| (one, false));
        let times = sent.times.iter().map(|one| (one, true));
        for ((name, packed), is_time) in numbers.chain(times) {
            let samples = packed.numbers().map_err(|error| of_metric(name, error))?;
            if !samples.is_empty() {
                self.emerging.add_all(name, &samples, is_time);
            }
        }
        Ok(())
    }

    fn fill_places(&mut self, sent: &Metrics) -> Result<(), WireError> {
        for (scenario, group, metrics) in &sent.places {
            let [scenario, group] = [scenario, group].map(String::clone);
            let place = Place { scenario, group };
            if !self.registry.is_broken_down() || !metrics.places.is_empty() {
                return Err(WireError::Place(place));
            }
            // The samples of further scenarios are in the whole run only.
            if let Some(own) = self.at(&place) {
                own.fill(metrics)?;
            }
        }
        Ok(())
    }

    /// The position of a metric among those of its kind.
    fn position(&self, name: &str, kind: Kind) -> Result<usize, WireError> {
        let found = self.registry.find(name).map(|id| self.registry.definition(id));
        let found = found.filter(|definition| definition.kind == kind);
        found
            .map(|definition| definition.of_kind)
            .ok_or_else(|| WireError::UnknownMetric {
                name: name.to_owned(),
                kind,
            })
    }
}

fn of_metric(name: &str, error: UnpackError) -> WireError {
    let name = name.to_owned();
    WireError::Samples { name, error }
}

fn owned<'a>(counts: impl Iterator<Item = (&'a str, u64)>) -> BTreeMap<String, u64> {
    counts.map(|(name, n)| (name.to_owned(), n)).collect()
}
