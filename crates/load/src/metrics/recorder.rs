//! The handle through which virtual users and their tasks write metrics.

use std::{cell::RefCell, rc::Rc, time::Duration};

use super::{CheckId, CounterId, GaugeId, MetricSet, RateId, Tags, TrendId};

/// A cheap handle of one worker's [`MetricSet`]. It stays on that worker's thread, so recording takes no lock;
/// no method keeps the set borrowed, so handles may be used anywhere between two `await`s.
///
/// A handle has tags, which decide about the sub-metrics that its samples also belong to.
#[derive(Clone, Debug)]
pub struct Recorder {
    set: Rc<RefCell<MetricSet>>,
    /// `None` when no sub-metric asks for tags: then nobody reads them.
    tagged: Option<Rc<Tagged>>,
}

/// Tags and what they select, worked out once.
#[derive(Debug, Default)]
struct Tagged {
    tags: Tags,
    /// Positions in the registry's selectors.
    selected: Vec<usize>,
}

impl Recorder {
    /// A handle of a new worker's set, without tags.
    pub fn new(set: MetricSet) -> Self {
        let has_selectors = !set.registry().selectors().is_empty();
        Self {
            set: Rc::new(RefCell::new(set)),
            tagged: has_selectors.then(Rc::default),
        }
    }

    /// A handle of the same set with further tags; one with a name that is there already takes its place.
    ///
    /// Costs nothing when no sub-metric asks for tags. Otherwise keep the handle while the tags stay the same.
    #[must_use]
    pub fn with_tags<'a>(&self, tags: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let tagged = self.tagged.as_ref().map(|tagged| {
            let mut all = tagged.tags.clone();
            all.extend(
                tags.into_iter()
                    .map(|(name, value)| (name.to_owned(), value.to_owned())),
            );
            let set = self.set.borrow();
            let selectors = set.registry().selectors().iter().enumerate();
            let selected = selectors.filter(|(_, selector)| selector.selects(&all));
            Rc::new(Tagged {
                selected: selected.map(|(position, _)| position).collect(),
                tags: all,
            })
        });
        Self {
            set: Rc::clone(&self.set),
            tagged,
        }
    }

    /// Whether tags have an effect; when not, a caller may spare itself their making.
    pub fn reads_tags(&self) -> bool {
        self.tagged.is_some()
    }

    /// Adds `n` to a counter.
    pub fn count(&self, id: CounterId, n: u64) {
        self.add(id, n as f64);
    }

    /// Adds an amount to a counter, which may be a fraction.
    pub fn add(&self, id: CounterId, amount: f64) {
        self.set.borrow_mut().add_selected(id, amount, self.selected());
    }

    /// Sets a gauge.
    pub fn set(&self, id: GaugeId, value: f64) {
        self.set.borrow_mut().set_selected(id, value, self.selected());
    }

    /// Adds one sample to a rate.
    pub fn rate(&self, id: RateId, is_true: bool) {
        self.set.borrow_mut().rate_selected(id, is_true, self.selected());
    }

    /// Adds one sample to a trend of durations.
    pub fn record(&self, id: TrendId, duration: Duration) {
        self.set
            .borrow_mut()
            .record_selected(id, duration, self.selected());
    }

    /// Adds one sample to a trend of plain numbers or bytes, or of durations in milliseconds. Resolution 0.001;
    /// negative numbers count as zero.
    pub fn record_number(&self, id: TrendId, number: f64) {
        // Beyond what a duration can hold is far beyond the histogram's range.
        let duration = Duration::try_from_secs_f64(number.max(0.0) / 1_000.0).unwrap_or(Duration::MAX);
        self.record(id, duration);
    }

    /// Adds one answer to a check and gives it back, so that a caller can act on it.
    pub fn check(&self, id: CheckId, passed: bool) -> bool {
        self.set.borrow_mut().check_selected(id, passed, self.selected());
        passed
    }

    /// Adds one answer to a check that was not registered before the run; the sample has the tag `check`.
    pub fn check_named(&self, group: &str, name: &str, passed: bool) -> bool {
        let tagged = self.with_tags([("check", name)]);
        let mut set = self.set.borrow_mut();
        set.check_named(group, name, passed, tagged.selected());
        passed
    }

    /// Notes that a group was entered, so that reports list it even when nothing else happens in it. Its path is
    /// `::outer::inner`.
    pub fn group(&self, path: &str) {
        self.set.borrow_mut().group(path);
    }

    /// All that was recorded since the last call.
    pub fn take(&self) -> MetricSet {
        self.set.borrow_mut().take()
    }

    fn selected(&self) -> &[usize] {
        self.tagged.as_ref().map_or(&[], |tagged| &tagged.selected)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::metrics::{Contains, Registry, Selector};

    #[test]
    fn samples_belong_to_the_parts_that_their_tags_select() {
        let mut registry = Registry::new();
        let reqs = registry.counter("reqs", Contains::Default).unwrap();
        let rtt = registry.trend("rtt").unwrap();
        let select = |tags: &[(&str, &str)]| {
            let tags = tags
                .iter()
                .map(|&(name, value)| (name.to_owned(), value.to_owned()));
            Selector::new(tags.collect())
        };
        let (parent, other) = (registry.find("reqs").unwrap(), registry.find("rtt").unwrap());
        registry.sub_metric(parent, &select(&[("kind", "a")]));
        registry.sub_metric(parent, &select(&[("kind", "a"), ("status", "200")]));
        registry.sub_metric(other, &select(&[("kind", "b")]));
        let plain = Recorder::new(MetricSet::new(Arc::new(registry)));
        let a = plain.with_tags([("kind", "a"), ("status", "500")]);
        plain.count(reqs, 1);
        a.count(reqs, 10);
        a.with_tags([("status", "200")]).count(reqs, 100);
        a.record(rtt, Duration::from_secs(1));
        a.with_tags([("kind", "b")]).record(rtt, Duration::from_secs(2));
        let set = plain.take();
        let values: Vec<_> = set
            .iter()
            .map(|(definition, value)| format!("{} {}", definition.name, value.n_samples()))
            .collect();
        assert_eq!(set.counter(reqs), 111);
        assert_eq!(
            values,
            [
                "reqs 111",
                "rtt 2",
                "reqs{kind:a} 110",
                "reqs{kind:a,status:200} 100",
                "rtt{kind:b} 1"
            ]
        );
    }

    #[test]
    fn tags_that_nobody_asks_for_are_not_kept() {
        let plain = Recorder::new(MetricSet::new(Arc::new(Registry::new())));
        assert!(!plain.with_tags([("kind", "a")]).reads_tags());
    }
}
