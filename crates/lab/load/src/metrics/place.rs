//! The place in a script where a sample was recorded, for reports that break a run down.

use super::Tags;

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
