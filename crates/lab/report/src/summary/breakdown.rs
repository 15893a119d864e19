//! A run broken down by scenario and by group.

use std::collections::BTreeMap;

use plimsoll_load::metrics::{MetricSet, Place};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{CheckResult, Metric};

/// The parts of a run in k6's full layout. Absent unless requested.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Breakdown {
    /// Groups outside scenarios (those of setup and teardown) and in the scenario `default`.
    pub groups: Vec<Section>,
    /// All scenarios but `default`, by name.
    pub scenarios: Vec<Section>,
}

/// What belongs to a scenario, groups included, or to a group, without the groups inside it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Section {
    /// The name of the scenario or the group.
    pub name: String,
    /// The answers to its checks.
    pub checks: Vec<CheckResult>,
    /// Its metrics with samples, by name.
    pub metrics: BTreeMap<String, Metric>,
    /// The groups inside it.
    pub groups: Vec<Self>,
}

/// The scenario of the shortcuts. k6 does not show it as a scenario.
const DEFAULT_SCENARIO: &str = "default";

impl Breakdown {
    /// Whether the run was not broken down.
    pub(super) fn is_empty(&self) -> bool {
        self.groups.is_empty() && self.scenarios.is_empty()
    }

    /// Breaks down `total`, the metrics of a run of this many `seconds`.
    pub(super) fn new(total: &MetricSet, seconds: f64, trend_stats: &[String]) -> Self {
        let order: BTreeMap<_, _> = total.groups().zip(0..).collect();
        let mut places: Vec<_> = total.places().collect();
        // A group that was not recorded, such as that of setup, comes before the others.
        places.sort_by_key(|(place, _)| order.get(place.group.as_str()).map_or(-1, |&position| position));
        let mut scenarios: BTreeMap<&str, Vec<(&Place, &MetricSet)>> = BTreeMap::new();
        for (place, set) in places {
            let scenario = match place.scenario.as_str() {
                DEFAULT_SCENARIO => "",
                name => name,
            };
            scenarios.entry(scenario).or_default().push((place, set));
        }
        let section = |set: &MetricSet| Section::new(set, seconds, trend_stats);
        let mut breakdown = Self::default();
        for (name, places) in scenarios {
            let groups = groups(&places, section);
            match name {
                "" => breakdown.groups = groups,
                _ => breakdown.scenarios.push(Section {
                    name: name.to_owned(),
                    groups,
                    ..section(&sum(&places, total))
                }),
            }
        }
        breakdown
    }
}

impl Section {
    fn new(set: &MetricSet, seconds: f64, trend_stats: &[String]) -> Self {
        let metrics = set.iter().map(|(definition, value)| {
            let metric = Metric::new(definition.contains, value, seconds, trend_stats);
            (definition.name.clone(), metric)
        });
        let checks = set.checks().map(|(name, check)| CheckResult::new(name, check));
        Self {
            // Checks that were registered before the run are in every set.
            checks: checks.filter(|check| check.passes + check.fails > 0).collect(),
            metrics: metrics.collect(),
            ..Self::default()
        }
    }

    /// The group at `path` inside this section. It and its parents are created if they are missing.
    fn descend(&mut self, path: &str) -> &mut Self {
        let mut section = self;
        for name in path.split(super::SEPARATOR).skip(1) {
            let known = section.groups.iter().position(|group| group.name == name);
            let at = known.unwrap_or_else(|| {
                section.groups.push(Self {
                    name: name.to_owned(),
                    ..Self::default()
                });
                section.groups.len() - 1
            });
            section = &mut section.groups[at];
        }
        section
    }
}

/// Sentences about the scenarios and groups without figures of their own.
pub(super) fn left_out(total: &MetricSet) -> impl Iterator<Item = String> + use<> {
    let left_out = total.registry().left_out();
    let sentence = |n: usize, what: &str, whole: &str| {
        (n > 0).then(|| {
            format!("{n} further {what} are not listed; their samples are in the figures of {whole}")
        })
    };
    let scenarios = sentence(left_out.n_scenarios(), "scenarios", "the whole run only");
    let groups = sentence(left_out.n_groups(), "groups", "their scenarios");
    scenarios.into_iter().chain(groups)
}

/// The tree of the groups at these places. Places with equal groups are added up.
fn groups(places: &[(&Place, &MetricSet)], section: impl Fn(&MetricSet) -> Section) -> Vec<Section> {
    let mut by_path: Vec<(&str, MetricSet)> = Vec::new();
    for (place, set) in places.iter().filter(|(place, _)| !place.group.is_empty()) {
        match by_path.iter_mut().find(|(path, _)| *path == place.group) {
            Some((_, sum)) => sum.merge(set),
            None => by_path.push((&place.group, (*set).clone())),
        }
    }
    let mut root = Section::default();
    for (path, set) in by_path {
        let Section { checks, metrics, .. } = section(&set);
        let group = root.descend(path);
        (group.checks, group.metrics) = (checks, metrics);
    }
    root.groups
}

/// Everything at these places.
fn sum(places: &[(&Place, &MetricSet)], total: &MetricSet) -> MetricSet {
    let mut sum = total.empty();
    for (_, set) in places {
        sum.merge(set);
    }
    sum
}
