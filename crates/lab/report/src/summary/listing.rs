//! Metrics in k6's order, sub-metrics under the names from thresholds.

use std::collections::BTreeMap;

use super::{Metric, Threshold};

/// A metric or sub-metric, with its thresholds.
#[derive(Clone, Debug)]
pub(crate) struct Entry<'a> {
    /// Its whole name; a part is named as the threshold on it is written.
    pub(crate) name: &'a str,
    /// Its figures.
    pub(crate) metric: &'a Metric,
    /// What had to hold.
    pub(crate) thresholds: Vec<&'a Threshold>,
}

/// Metrics that k6 does not have. They are listed among its own only if a threshold uses them, so that scripts and
/// their users see only what they know.
pub(crate) const BEYOND_K6: [&str; 2] = ["iteration_duration_scheduled", "iteration_lateness"];

impl<'a> Entry<'a> {
    /// All of these metrics that k6 would list, in its order.
    pub(crate) fn list(metrics: &'a BTreeMap<String, Metric>, thresholds: &'a [Threshold]) -> Vec<Self> {
        let entries = metrics.iter().map(|(key, metric)| {
            let thresholds: Vec<_> = thresholds
                .iter()
                .filter(|threshold| threshold.key == *key)
                .collect();
            let written = thresholds.first().map(|threshold| threshold.metric.as_str());
            Self {
                name: written.unwrap_or(key),
                metric,
                thresholds,
            }
        });
        let mut entries: Vec<_> = entries
            .filter(|entry| !entry.thresholds.is_empty() || !BEYOND_K6.contains(&entry.name))
            .collect();
        entries.sort_by_cached_key(Self::order);
        entries
    }

    /// The metric that this is, or is a part of.
    pub(crate) fn whole(&self) -> &'a str {
        self.name.split_once('{').map_or(self.name, |(whole, _)| whole)
    }

    /// For a sub-metric: its selector, `tag:value,tag:value`.
    pub(crate) fn selector(&self) -> Option<&'a str> {
        let (_, selector) = self.name.split_once('{')?;
        Some(selector.strip_suffix('}').unwrap_or(selector))
    }

    /// Whether all its thresholds hold. `None` without thresholds, and without samples.
    pub(crate) fn passed(&self) -> Option<bool> {
        let passed = self.thresholds.iter().filter_map(|threshold| threshold.holds());
        passed.reduce(|one, other| one && other)
    }

    /// Alphabetical, without regard to case, and parts after their whole.
    fn order(&self) -> (String, &'a str, String) {
        (
            self.whole().to_lowercase(),
            self.whole(),
            self.selector().map(str::to_lowercase).unwrap_or_default(),
        )
    }
}
