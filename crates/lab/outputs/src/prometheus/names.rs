//! What series are called in Prometheus: k6's names and suffixes.

use std::collections::BTreeMap;

use plimsoll_load::metrics::Tags;

use super::message::Label;

/// The label with the name of a metric.
const NAME: &str = "__name__";

/// Makes labels of tags.
pub(super) struct Names {
    /// Labels of all series that have no tag of that name.
    labels: BTreeMap<String, String>,
}

impl Names {
    pub(super) fn new(labels: BTreeMap<String, String>) -> Self {
        Self { labels }
    }

    /// The labels of a series, by name. A tag without a value is omitted, because Prometheus ignores it.
    pub(super) fn labels(&self, metric: &str, suffix: &str, tags: &Tags) -> Vec<Label> {
        let pairs = self.labels.iter().chain(tags);
        let pairs = pairs.map(|(name, value)| (label_name(name), value.clone()));
        let mut labels: BTreeMap<_, _> = pairs
            .filter(|(name, value)| name != NAME && !value.is_empty())
            .collect();
        labels.insert(NAME.to_owned(), format!("k6_{metric}{suffix}"));
        let labels = labels.into_iter().map(|(name, value)| Label { name, value });
        labels.collect()
    }
}

/// `_p99` of `p(99)`, `_p999` of `p(99.9)`, `_avg` of `avg`.
pub(super) fn stat_suffix(stat: &str) -> String {
    format!("_{}", stat.replace(['(', ')', '.'], ""))
}

/// The name with `_` for each character that a label cannot have.
fn label_name(tag: &str) -> String {
    let allowed = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let name: String = tag.chars().map(|c| if allowed(c) { c } else { '_' }).collect();
    if name.starts_with(|first: char| first.is_ascii_digit()) || name.is_empty() {
        format!("_{name}")
    } else {
        name
    }
}
