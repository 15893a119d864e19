//! Tags: the context of a sample, beyond its metric.

use std::{collections::BTreeMap, fmt};

/// Names with values, such as `scenario` → `default`. Later ones replace earlier ones of the same name.
pub type Tags = BTreeMap<String, String>;

/// Selects the samples of a sub-metric: those with all these tags and exactly these values (k6's
/// `{name:value,name:value}`).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Selector(Tags);

impl Selector {
    /// Selects by all of `tags`.
    pub fn new(tags: Tags) -> Self {
        Self(tags)
    }

    /// What is selected by.
    pub fn tags(&self) -> &Tags {
        &self.0
    }

    /// Whether a sample with these tags belongs to the sub-metric.
    pub fn selects(&self, tags: &Tags) -> bool {
        self.0.iter().all(|(name, value)| tags.get(name) == Some(value))
    }
}

/// Writes k6's form: `{name:value,name:value}`.
impl fmt::Display for Selector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("{")?;
        for (position, (name, value)) in self.0.iter().enumerate() {
            let comma = if position > 0 { "," } else { "" };
            write!(f, "{comma}{name}:{value}")?;
        }
        f.write_str("}")
    }
}
