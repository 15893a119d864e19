//! The place in a script where a sample was recorded, for reports that break a run down.

use std::{
    collections::BTreeSet,
    sync::{Mutex, MutexGuard, PoisonError},
};

use super::Tags;

/// The most scenarios that are broken down. Reason: each costs up to 184 KiB for every trend, and a person reads fewer.
const MAX_SCENARIOS: usize = 100;

/// The most groups that have metrics of their own, over all scenarios. Reason: as for scenarios.
const MAX_GROUPS: usize = 50;

/// The most groups without metrics of their own that are counted. Reason: a name with an id in it must not make memory
/// grow with the run.
const MAX_COUNTED: usize = 1_000;

/// A group of a scenario.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The scenario's name; empty outside of scenarios.
    pub scenario: String,
    /// The group's path, `::outer::inner`; empty outside of groups.
    pub group: String,
}

impl Place {
    /// Whether a tag of this name affects the place of samples.
    pub(super) fn reads(name: &str) -> bool {
        matches!(name, "scenario" | "group")
    }

    /// The place of samples with these tags. Disabled tags do not distinguish places.
    pub(super) fn of(tags: &Tags) -> Self {
        let tag = |name: &str| tags.get(name).cloned().unwrap_or_default();
        Self {
            scenario: tag("scenario"),
            group: tag("group"),
        }
    }
}

impl Place {
    /// The scenario as a whole, outside of its groups.
    fn of_scenario(&self) -> Self {
        Self {
            scenario: self.scenario.clone(),
            group: String::new(),
        }
    }
}

/// The places that have metrics of their own. All sets of a run share one, so that a place has either all its samples or
/// none: with a choice in each set, a group could have the samples of one worker only.
#[derive(Debug, Default)]
pub(super) struct Admission(Mutex<Known>);

#[derive(Clone, Debug, Default)]
struct Known {
    scenarios: BTreeSet<String>,
    groups: BTreeSet<Place>,
    left_out: LeftOut,
}

/// The parts of a run that have no metrics of their own, because there are too many.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LeftOut {
    scenarios: BTreeSet<String>,
    groups: BTreeSet<Place>,
}

impl LeftOut {
    /// The number of scenarios whose samples are in the metrics of the whole run only; at most 1,000.
    pub fn n_scenarios(&self) -> usize {
        self.scenarios.len()
    }

    /// The number of groups whose samples are in the metrics of their scenario only; at most 1,000.
    pub fn n_groups(&self) -> usize {
        self.groups.len()
    }
}

impl Admission {
    /// The place whose metrics get the samples of `place`: itself, or its scenario when there are too many groups.
    /// `None` when there are too many scenarios.
    pub(super) fn admit(&self, place: &Place) -> Option<Place> {
        let mut known = self.lock();
        if !known.admits_scenario(&place.scenario) {
            return None;
        }
        Some(if place.group.is_empty() || known.admits_group(place) {
            place.clone()
        } else {
            place.of_scenario()
        })
    }

    pub(super) fn left_out(&self) -> LeftOut {
        self.lock().left_out.clone()
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        // Nothing panics while it is held, and each change leaves it whole.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Clone for Admission {
    /// A registry that is copied for another run begins with the same choice.
    fn clone(&self) -> Self {
        Self(Mutex::new(self.lock().clone()))
    }
}

impl Known {
    fn admits_scenario(&mut self, name: &str) -> bool {
        let is_known = self.scenarios.contains(name);
        if !is_known && self.scenarios.len() >= MAX_SCENARIOS {
            count(&mut self.left_out.scenarios, name.to_owned());
            return false;
        }
        if !is_known {
            self.scenarios.insert(name.to_owned());
        }
        true
    }

    fn admits_group(&mut self, place: &Place) -> bool {
        let is_known = self.groups.contains(place);
        if !is_known && self.groups.len() >= MAX_GROUPS {
            count(&mut self.left_out.groups, place.clone());
            return false;
        }
        if !is_known {
            self.groups.insert(place.clone());
        }
        true
    }
}

fn count<T: Ord>(counted: &mut BTreeSet<T>, one: T) {
    if counted.len() < MAX_COUNTED {
        counted.insert(one);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(scenario: &str, group: &str) -> Place {
        Place {
            scenario: scenario.to_owned(),
            group: group.to_owned(),
        }
    }

    #[test]
    fn every_scenario_is_admitted_before_too_many_groups_are() {
        let admission = Admission::default();
        for n in 0..24 {
            let scenario = format!("s{n:02}");
            for group in ["::one", "::two", "::three"] {
                let found = admission.admit(&place(&scenario, group)).unwrap();
                let expected = if admission.left_out().n_groups() == 0 {
                    group
                } else {
                    ""
                };
                assert_eq!(found, place(&scenario, expected));
            }
            assert_eq!(admission.admit(&place(&scenario, "")), Some(place(&scenario, "")));
        }
        let left_out = admission.left_out();
        assert_eq!((left_out.n_scenarios(), left_out.n_groups()), (0, 24 * 3 - 50));
        // A choice stays.
        assert_eq!(
            admission.admit(&place("s00", "::one")),
            Some(place("s00", "::one"))
        );
        assert_eq!(admission.admit(&place("s23", "::one")), Some(place("s23", "")));
    }

    #[test]
    fn names_without_end_do_not_grow() {
        let admission = Admission::default();
        for n in 0..3_000 {
            admission.admit(&place("", &format!("::{n}")));
            admission.admit(&place(&n.to_string(), "::one"));
        }
        let left_out = admission.left_out();
        assert_eq!(
            (left_out.n_scenarios(), left_out.n_groups()),
            (MAX_COUNTED, MAX_COUNTED)
        );
        assert_eq!(admission.lock().scenarios.len(), MAX_SCENARIOS);
        assert_eq!(admission.lock().groups.len(), MAX_GROUPS);
    }
}
