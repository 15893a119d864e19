//! Recorders with the tags that a virtual user had last.
//!
//! Working out what tags select costs microseconds, and most iterations and requests have the tags of the one before. So
//! the recorder of a set of tags is kept, and a caller that keeps one with further tags recognises it.

use std::{cell::RefCell, collections::BTreeMap};

use plimsoll_load::metrics::Recorder;

use crate::tags;

/// The largest number of kept recorders; the oldest is dropped. Scripts use a few groups and URLs; a script that
/// makes up a URL for each request gains nothing from them.
const MAX_KNOWN: usize = 8;

/// The recorders of one virtual user, by the values that decide about their tags.
pub(crate) struct Recorders<K>(RefCell<Vec<Known<K>>>);

struct Known<K> {
    base: Recorder,
    key: K,
    recorder: Recorder,
}

// By hand, because a derived one asks for a default of `K`.
impl<K> Default for Recorders<K> {
    fn default() -> Self {
        Self(RefCell::default())
    }
}

impl<K: PartialEq> Recorders<K> {
    /// The recorder that was kept for this base and key.
    pub(crate) fn find(&self, base: &Recorder, key: &K) -> Option<Recorder> {
        let all = self.0.borrow();
        let known = all
            .iter()
            .find(|known| known.base.is_same(base) && known.key == *key)?;
        Some(known.recorder.clone())
    }

    /// Keeps a recorder for this base and key.
    pub(crate) fn keep(&self, base: &Recorder, key: K, recorder: &Recorder) {
        let mut all = self.0.borrow_mut();
        if all.len() == MAX_KNOWN {
            all.remove(0);
        }
        all.push(Known {
            base: base.clone(),
            key,
            recorder: recorder.clone(),
        });
    }
}

impl Recorders<BTreeMap<String, String>> {
    /// `base` with further tags.
    pub(crate) fn with_tags(&self, base: &Recorder, tags: &BTreeMap<String, String>) -> Recorder {
        if !base.reads_tags() {
            return base.clone();
        }
        if let Some(known) = self.find(base, tags) {
            return known;
        }
        let recorder = base.with_tags(tags::pairs(tags));
        // Tags that select nothing are cheap to work out again.
        if !recorder.is_same(base) {
            self.keep(base, tags.clone(), &recorder);
        }
        recorder
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
