//! What is measured in a run: names, kinds and units, each once.

use std::{collections::HashMap, fmt};

use super::{
    CheckName, Place, Selector,
    place::{Admission, LeftOut},
};

/// How samples of a metric are combined (k6's metric types).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A sum that only grows.
    Counter,
    /// The latest of several values, with their minimum and maximum.
    Gauge,
    /// The share of samples that were true.
    Rate,
    /// A distribution of durations.
    Trend,
}

/// The number of kinds; the numbers of kinds are below it.
const N_KINDS: usize = 4;

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Counter => "counter",
            Self::Gauge => "gauge",
            Self::Rate => "rate",
            Self::Trend => "trend",
        })
    }
}

/// What the numbers of a metric mean; decides how reports print them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Contains {
    /// Plain numbers.
    #[default]
    Default,
    /// Durations.
    Time,
    /// Bytes.
    Data,
}

/// A registered metric.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Definition {
    /// The name in reports, k6's if k6 has the metric.
    pub name: String,
    /// How its samples are combined.
    pub kind: Kind,
    /// What its numbers mean.
    pub contains: Contains,
    /// For a sub-metric: its parent, and its selector. Its name is `parent{tag:value}`.
    pub selection: Option<(MetricId, Selector)>,
    /// Its position among the metrics of the same kind.
    pub(super) of_kind: usize,
}

/// A metric of any kind: its position in [`Registry::definitions`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MetricId(pub(super) usize);

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident),+) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub(super) usize);
    )+};
}
ids! {
    /// Handle of a counter; valid for the registry that gave it out.
    CounterId,
    /// Handle of a gauge; valid for the registry that gave it out.
    GaugeId,
    /// Handle of a rate; valid for the registry that gave it out.
    RateId,
    /// Handle of a trend; valid for the registry that gave it out.
    TrendId,
    /// Handle of a check; valid for the registry that gave it out.
    CheckId
}

/// Why a metric cannot be registered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RegisterError {
    /// The name is invalid, as in k6.
    #[error(
        "`{name}` is not a metric name; expected 2 to 129 letters, digits or underscores that do not begin with \
         a digit, for example `round_trip`"
    )]
    InvalidName {
        /// The refused name.
        name: String,
    },
    /// The name is already in use.
    #[error("metric `{name}` is already a {existing} and cannot become a {requested}; choose another name")]
    Conflict {
        /// The name in question.
        name: String,
        /// The existing kind.
        existing: Kind,
        /// The requested kind.
        requested: Kind,
    },
}

/// All metrics and checks of a run. Grows only before the run.
#[derive(Clone, Debug, Default)]
pub struct Registry {
    definitions: Vec<Definition>,
    by_name: HashMap<String, MetricId>,
    /// Selector by position, each once.
    selectors: Vec<Selector>,
    /// Sub-metrics by the kind of their parent and its position among that kind: each sample looks them up, and almost
    /// every run has some. A list ends with its last metric that has any.
    parts: [Vec<Vec<Part>>; N_KINDS],
    checks: Vec<CheckName>,
    is_broken_down: bool,
    /// The places that have metrics of their own.
    places: Admission,
}

/// A sub-metric in its parent's list.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    /// Position in [`Registry::selectors`].
    pub(super) selector: usize,
    /// Position among the metrics of the kind.
    pub(super) of_kind: usize,
}

impl Registry {
    /// A registry without metrics.
    pub fn new() -> Self {
        Self::default()
    }

    /// A counter of plain numbers or bytes. A second call with the name returns the existing counter.
    ///
    /// # Errors
    /// The name is invalid or in use for another kind of metric. This applies to the other kinds below, too.
    pub fn counter(&mut self, name: &str, contains: Contains) -> Result<CounterId, RegisterError> {
        self.register(name, Kind::Counter, contains).map(CounterId)
    }

    /// A gauge of plain numbers or bytes.
    ///
    /// # Errors
    /// As for [`Self::counter`].
    pub fn gauge(&mut self, name: &str, contains: Contains) -> Result<GaugeId, RegisterError> {
        self.register(name, Kind::Gauge, contains).map(GaugeId)
    }

    /// A rate.
    ///
    /// # Errors
    /// As for [`Self::counter`].
    pub fn rate(&mut self, name: &str) -> Result<RateId, RegisterError> {
        self.register(name, Kind::Rate, Contains::Default).map(RateId)
    }

    /// A trend of durations.
    ///
    /// # Errors
    /// As for [`Self::counter`].
    pub fn trend(&mut self, name: &str) -> Result<TrendId, RegisterError> {
        self.trend_of(name, Contains::Time)
    }

    /// A trend of durations, plain numbers or bytes.
    ///
    /// # Errors
    /// As for [`Self::counter`].
    pub fn trend_of(&mut self, name: &str, contains: Contains) -> Result<TrendId, RegisterError> {
        self.register(name, Kind::Trend, contains).map(TrendId)
    }

    /// A check. Any text is a name; a second call with it returns the existing check. Registers the rate `checks`,
    /// which counts the answers to all of them, if the name is free.
    pub fn check(&mut self, name: &str) -> CheckId {
        // A metric of the user's own with this name keeps it.
        drop(self.rate("checks"));
        let known = self.checks.iter().position(|known| known.name == name);
        CheckId(known.unwrap_or_else(|| {
            self.checks.push(CheckName {
                group: String::new(),
                name: name.to_owned(),
            });
            self.checks.len() - 1
        }))
    }

    /// The part of `parent` that `selector` selects, as a metric of its own. A second call returns the existing metric.
    pub fn sub_metric(&mut self, parent: MetricId, selector: &Selector) -> MetricId {
        let whole = self.definitions[parent.0].clone();
        let name = format!("{}{selector}", whole.name);
        if let Some(&known) = self.by_name.get(&name) {
            return known;
        }
        let position = self.selectors.iter().position(|known| known == selector);
        let position = position.unwrap_or_else(|| {
            self.selectors.push(selector.clone());
            self.selectors.len() - 1
        });
        let selection = Some((parent, selector.clone()));
        let id = self.define(&name, whole.kind, whole.contains, selection);
        let of_kind = self.definitions[id.0].of_kind;
        let parts = &mut self.parts[whole.kind as usize];
        if parts.len() <= whole.of_kind {
            parts.resize_with(whole.of_kind + 1, Vec::new);
        }
        parts[whole.of_kind].push(Part {
            selector: position,
            of_kind,
        });
        id
    }

    /// Makes sets of this registry keep the metrics of each [`Place`](super::Place) besides those of the whole run.
    /// Costs memory for each, so only for reports that show them.
    pub fn break_down(&mut self) {
        self.is_broken_down = true;
    }

    /// Whether sets keep the metrics of each place.
    pub(super) fn is_broken_down(&self) -> bool {
        self.is_broken_down
    }

    /// The place whose metrics get the samples of `place`; see [`Admission::admit`].
    pub(super) fn admit(&self, place: &Place) -> Option<Place> {
        self.places.admit(place)
    }

    /// The parts of the run so far that have no metrics of their own, because there are too many.
    pub fn left_out(&self) -> LeftOut {
        self.places.left_out()
    }

    /// The metric of this name, if it exists.
    pub fn find(&self, name: &str) -> Option<MetricId> {
        self.by_name.get(name).copied()
    }

    /// What a metric was registered as.
    pub fn definition(&self, id: MetricId) -> &Definition {
        &self.definitions[id.0]
    }

    /// All metrics in the order of their registration.
    pub fn definitions(&self) -> &[Definition] {
        &self.definitions
    }

    /// The names of all checks in the order of their registration.
    pub fn checks(&self) -> &[CheckName] {
        &self.checks
    }

    /// Whether a tag of this name affects the place of samples.
    pub(super) fn reads_tag(&self, name: &str) -> bool {
        let is_asked_for = |selector: &Selector| selector.tags().contains_key(name);
        self.is_broken_down && Place::reads(name) || self.selectors.iter().any(is_asked_for)
    }

    /// What sub-metrics select by.
    pub(super) fn selectors(&self) -> &[Selector] {
        &self.selectors
    }

    /// The sub-metrics of a metric. Almost always empty.
    pub(super) fn parts(&self, kind: Kind, of_kind: usize) -> &[Part] {
        let parts = &self.parts[kind as usize];
        parts.get(of_kind).map_or(&[], Vec::as_slice)
    }

    /// The trend at this position among all trends.
    pub(super) fn trend_definition(&self, of_kind: usize) -> &Definition {
        let mut trends = self
            .definitions
            .iter()
            .filter(|definition| definition.kind == Kind::Trend);
        trends
            .nth(of_kind)
            .expect("ids are given out for definitions only")
    }

    /// The rate over all checks.
    pub(super) fn checks_rate(&self) -> Option<RateId> {
        let definition = self.definition(self.find("checks")?);
        (definition.kind == Kind::Rate).then_some(RateId(definition.of_kind))
    }

    /// The metrics of a kind, by their position among it.
    pub(super) fn of_kind(&self, kind: Kind) -> Vec<MetricId> {
        let definitions = self.definitions.iter().enumerate();
        definitions
            .filter(|(_, definition)| definition.kind == kind)
            .map(|(position, _)| MetricId(position))
            .collect()
    }

    pub(super) fn n_of_kind(&self, kind: Kind) -> usize {
        self.definitions
            .iter()
            .filter(|definition| definition.kind == kind)
            .count()
    }

    fn register(&mut self, name: &str, kind: Kind, contains: Contains) -> Result<usize, RegisterError> {
        if !is_valid_name(name) {
            return Err(RegisterError::InvalidName {
                name: name.to_owned(),
            });
        }
        match self.find(name) {
            Some(id) => self.known(id, kind),
            None => {
                let id = self.define(name, kind, contains, None);
                Ok(self.definition(id).of_kind)
            }
        }
    }

    fn define(
        &mut self,
        name: &str,
        kind: Kind,
        contains: Contains,
        selection: Option<(MetricId, Selector)>,
    ) -> MetricId {
        let id = MetricId(self.definitions.len());
        self.by_name.insert(name.to_owned(), id);
        self.definitions.push(Definition {
            name: name.to_owned(),
            kind,
            contains,
            selection,
            of_kind: self.n_of_kind(kind),
        });
        id
    }

    fn known(&self, id: MetricId, requested: Kind) -> Result<usize, RegisterError> {
        let definition = self.definition(id);
        if definition.kind == requested {
            return Ok(definition.of_kind);
        }
        Err(RegisterError::Conflict {
            name: definition.name.clone(),
            existing: definition.kind,
            requested,
        })
    }
}

/// k6's rule: `^[a-zA-Z_][a-zA-Z0-9_]{1,128}$`.
fn is_valid_name(name: &str) -> bool {
    (2..=129).contains(&name.len())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        && !name.starts_with(|first: char| first.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_means_one_metric() {
        let mut registry = Registry::new();
        let rtt = registry.trend("rtt").unwrap();
        assert_eq!(
            registry.counter("ws_sessions", Contains::Default),
            Ok(CounterId(0))
        );
        assert_eq!(registry.counter("data_sent", Contains::Data), Ok(CounterId(1)));
        assert_eq!(registry.trend("rtt"), Ok(rtt));
        assert_eq!(registry.definitions().len(), 3);
        let conflict = registry.rate("rtt").unwrap_err().to_string();
        assert_eq!(
            conflict,
            "metric `rtt` is already a trend and cannot become a rate; choose another name"
        );
    }

    #[test]
    fn names_follow_the_rule_of_k6() {
        let long = "x".repeat(129);
        let too_long = "x".repeat(130);
        for (name, valid) in [
            ("ab", true),
            ("_1", true),
            ("ws_connecting", true),
            (long.as_str(), true),
            (too_long.as_str(), false),
            ("a", false),
            ("", false),
            ("1a", false),
            ("a-b", false),
            ("größe", false),
        ] {
            assert_eq!(Registry::new().trend(name).is_ok(), valid, "{name}");
        }
    }

    #[test]
    fn checks_are_found_by_their_text() {
        let mut registry = Registry::new();
        let [first, second] = ["connected", "is it 200?"].map(|name| registry.check(name));
        assert_ne!(first, second);
        assert_eq!(registry.check("connected"), first);
        let names: Vec<_> = registry.checks().iter().map(|check| &check.name).collect();
        assert_eq!(names, ["connected", "is it 200?"]);
        assert_eq!(registry.checks_rate(), Some(RateId(0)));
    }

    #[test]
    fn a_part_of_a_metric_is_a_metric() {
        let mut registry = Registry::new();
        registry.counter("reqs", Contains::Default).unwrap();
        registry.trend("rtt").unwrap();
        let rtt = registry.find("rtt").unwrap();
        let selector = |value: &str| Selector::new([("kind".to_owned(), value.to_owned())].into());
        let [one, two] = ["a", "b"].map(|value| registry.sub_metric(rtt, &selector(value)));
        assert_eq!(registry.sub_metric(rtt, &selector("a")), one);
        assert_eq!(registry.definition(two).name, "rtt{kind:b}");
        assert_eq!(registry.definition(two).kind, Kind::Trend);
        assert_eq!(registry.parts(Kind::Trend, 0).len(), 2);
        assert!(registry.parts(Kind::Counter, 0).is_empty());
    }
}
