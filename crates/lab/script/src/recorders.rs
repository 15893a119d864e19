//! Recorders of the tags that a virtual user had lately.
//!
//! Working out what tags select costs microseconds, and most iterations have the same tags as the one before. So the
//! recorder of a set of tags is kept, and whoever keeps one with further tags knows it again.

use std::{cell::RefCell, collections::BTreeMap};

use plimsoll_load::metrics::Recorder;

use crate::tags;

/// How many are kept; beyond that, the oldest is forgotten. A script goes through a few groups.
const MAX_KNOWN: usize = 8;

/// The recorders of one virtual user.
#[derive(Default)]
pub(crate) struct Recorders(RefCell<Vec<Known>>);

struct Known {
    base: Recorder,
    tags: BTreeMap<String, String>,
    with_tags: Recorder,
}

impl Recorders {
    /// `base` with further tags.
    pub(crate) fn with_tags(&self, base: &Recorder, tags: &BTreeMap<String, String>) -> Recorder {
        if !base.reads_tags() {
            return base.clone();
        }
        let mut all = self.0.borrow_mut();
        let known = all
            .iter()
            .find(|known| known.base.is_same(base) && known.tags == *tags);
        if let Some(known) = known {
            return known.with_tags.clone();
        }
        let with_tags = base.with_tags(tags::pairs(tags));
        if with_tags.is_same(base) {
            // Nobody reads these tags, which costs nothing to find out again.
            return with_tags;
        }
        if all.len() == MAX_KNOWN {
            all.remove(0);
        }
        all.push(Known {
            base: base.clone(),
            tags: tags.clone(),
            with_tags: with_tags.clone(),
        });
        with_tags
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use plimsoll_load::metrics::{MetricSet, Registry, Selector};

    use super::*;

    #[test]
    fn a_recorder_is_known_by_its_base_and_its_tags() {
        let mut registry = Registry::new();
        registry.rate("own").unwrap();
        let metric = registry.find("own").unwrap();
        for (name, value) in [("page", "home"), ("scenario", "a")] {
            registry.sub_metric(
                metric,
                &Selector::new([(name.to_owned(), value.to_owned())].into()),
            );
        }
        let user = Recorder::new(MetricSet::new(Arc::new(registry)));
        let (one, other) = (
            user.with_tags([("scenario", "a")]),
            user.with_tags([("scenario", "b")]),
        );
        let recorders = Recorders::default();
        let tags = |page: &str| BTreeMap::from([("page".to_owned(), page.to_owned())]);
        let home = recorders.with_tags(&one, &tags("home"));
        assert!(recorders.with_tags(&one, &tags("home")).is_same(&home));
        assert!(!recorders.with_tags(&one, &tags("away")).is_same(&home));
        assert!(!recorders.with_tags(&other, &tags("home")).is_same(&home));
        (0..=MAX_KNOWN).for_each(|n| drop(recorders.with_tags(&one, &tags(&n.to_string()))));
        assert!(!recorders.with_tags(&one, &tags("home")).is_same(&home));
    }
}
