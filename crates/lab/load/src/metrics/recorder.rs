//! The handle through which virtual users and their tasks write metrics.

use std::{
    cell::{Cell, RefCell},
    rc::Rc,
    sync::Arc,
    time::Duration,
};

use tokio::time::Instant;

use super::{
    CheckId, CounterId, GaugeId, Kind, MetricSet, Place, RateId, Registry, SampleSender, Tags, TrendId,
    outgoing::{Outgoing, milliseconds},
};

/// A cheap handle of one worker's [`MetricSet`]. It stays on that worker's thread, so recording takes no lock. No
/// method keeps the set borrowed, so handles may be used anywhere between two `await`s.
///
/// A handle has tags, which decide the sub-metrics of its samples, and which accompany each sample to outputs.
#[derive(Clone, Debug)]
pub struct Recorder {
    sheet: Rc<Sheet>,
    /// `None` if tags are not used: no sub-metric selects by them, the run is not broken down, and there are no outputs
    /// of samples.
    tagged: Option<Rc<Tagged>>,
}

/// The common part of all handles of a worker.
#[derive(Debug)]
struct Sheet {
    set: RefCell<MetricSet>,
    /// The start of the run; `None` before it.
    start: Cell<Option<Instant>>,
    /// `None` if there are no outputs of samples.
    outgoing: Option<Outgoing>,
}

/// Tags and their sub-metrics, computed once.
#[derive(Debug)]
struct Tagged {
    /// The tags that are used: all of them if there are outputs of samples.
    tags: Arc<Tags>,
    /// Positions in the registry's selectors.
    selected: Vec<usize>,
    /// The place of samples, if the run is broken down.
    place: Option<Place>,
}

impl Recorder {
    /// A handle of a new worker's set, without tags.
    pub fn new(set: MetricSet) -> Self {
        Self::with_queues(set, Vec::new())
    }

    /// A handle whose samples also go to `queues`.
    pub fn with_queues(set: MetricSet, queues: Vec<SampleSender>) -> Self {
        let outgoing = Outgoing::new(set.shared_registry(), queues);
        let registry = set.registry();
        let reads_tags = outgoing.is_some() || registry.is_broken_down() || !registry.selectors().is_empty();
        let tagged = reads_tags.then(|| Rc::new(Tagged::new(Tags::new(), registry)));
        Self {
            sheet: Rc::new(Sheet {
                set: RefCell::new(set),
                start: Cell::default(),
                outgoing,
            }),
            tagged,
        }
    }

    /// A handle of a set of its own, which is forgotten with the handle, for work that is no part of the figures.
    #[must_use]
    pub fn apart(&self) -> Self {
        Self::new(self.sheet.set.borrow().empty())
    }

    /// A handle of the same set with further tags, which replace tags of equal names.
    ///
    /// Costs nothing if these tags are not used. Otherwise keep the handle while the tags stay unchanged.
    #[must_use]
    pub fn with_tags<'a>(&self, tags: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let Some(tagged) = &self.tagged else {
            return self.clone();
        };
        let set = self.sheet.set.borrow();
        let registry = set.registry();
        let is_kept = |name: &str| self.sheet.outgoing.is_some() || registry.reads_tag(name);
        let mut tags = tags.into_iter().filter(|(name, _)| is_kept(name)).peekable();
        if tags.peek().is_none() {
            return self.clone();
        }
        let mut all = Tags::clone(&tagged.tags);
        all.extend(tags.map(|(name, value)| (name.to_owned(), value.to_owned())));
        Self {
            sheet: Rc::clone(&self.sheet),
            tagged: Some(Rc::new(Tagged::new(all, registry))),
        }
    }

    /// Whether tags have an effect; when not, a caller may spare itself their making.
    pub fn reads_tags(&self) -> bool {
        self.tagged.is_some()
    }

    /// Whether both write to the same set and share their tags, one being a clone of the other: a result computed for
    /// one then holds for both.
    pub fn is_same(&self, other: &Self) -> bool {
        let same_tags = match (&self.tagged, &other.tagged) {
            (Some(own), Some(other)) => Rc::ptr_eq(own, other),
            (None, None) => true,
            _ => false,
        };
        same_tags && Rc::ptr_eq(&self.sheet, &other.sheet)
    }

    /// Adds `n` to a counter.
    pub fn count(&self, id: CounterId, n: u64) {
        self.add(id, n as f64);
    }

    /// Adds an amount to a counter, which may be a fraction.
    pub fn add(&self, id: CounterId, amount: f64) {
        self.write(|set, selected| set.add_selected(id, amount, selected));
        self.emit(Kind::Counter, id.0, amount);
    }

    /// Sets a gauge.
    pub fn set(&self, id: GaugeId, value: f64) {
        self.write(|set, selected| set.set_selected(id, value, selected));
        self.emit(Kind::Gauge, id.0, value);
    }

    /// Adds one sample to a rate.
    pub fn rate(&self, id: RateId, is_true: bool) {
        self.write(|set, selected| set.rate_selected(id, is_true, selected));
        self.emit(Kind::Rate, id.0, share(is_true));
    }

    /// Adds one sample to a trend of durations.
    pub fn record(&self, id: TrendId, duration: Duration) {
        self.record_as(id, duration, milliseconds(duration));
    }

    /// Adds one sample to a trend of plain numbers or bytes, or of durations in milliseconds. Resolution 0.001;
    /// negative numbers count as zero.
    pub fn record_number(&self, id: TrendId, number: f64) {
        // A number that does not fit into a duration is far beyond the histogram's range.
        let duration = Duration::try_from_secs_f64(number.max(0.0) / 1_000.0).unwrap_or(Duration::MAX);
        self.record_as(id, duration, number);
    }

    /// `value` is the sample's value in full resolution.
    fn record_as(&self, id: TrendId, duration: Duration, value: f64) {
        self.write(|set, selected| set.record_selected(id, duration, selected));
        self.emit(Kind::Trend, id.0, value);
    }

    /// Adds one answer to a check and returns it, so that a caller can act on it. The sample has the tag `check`.
    pub fn check(&self, id: CheckId, passed: bool) -> bool {
        let name = self.reads_tags().then(|| {
            let set = self.sheet.set.borrow();
            set.registry().checks()[id.0].name.clone()
        });
        let tagged = self.with_tags(name.as_deref().map(|name| ("check", name)));
        tagged.write(|set, selected| set.check_selected(id, passed, selected));
        tagged.emit_check(passed);
        passed
    }

    /// Adds one answer to an unregistered check. The sample has the tag `check`.
    pub fn check_named(&self, group: &str, name: &str, passed: bool) -> bool {
        let tagged = self.with_tags([("check", name)]);
        tagged.write(|set, selected| set.check_named(group, name, passed, selected));
        tagged.emit_check(passed);
        passed
    }

    /// Adds `n` to an unregistered counter; see [`MetricSet::tally`]. It has no tags and no samples of its own.
    pub fn tally(&self, name: &str, n: u64) {
        self.sheet.set.borrow_mut().tally(name, n);
    }

    /// Adds `n` to events that were not registered before the run; see [`MetricSet::event`].
    pub fn event(&self, name: &str, n: u64) {
        self.sheet.set.borrow_mut().event(name, n);
    }

    /// Adds a number to a distribution that was not registered before the run; see [`MetricSet::observe`].
    pub fn observe(&self, name: &str, number: f64) {
        self.sheet.set.borrow_mut().observe(name, number);
    }

    /// Adds a duration to a distribution that was not registered before the run; see [`MetricSet::observe`].
    pub fn time(&self, name: &str, time: Duration) {
        self.sheet.set.borrow_mut().time(name, time);
    }

    /// Sets the start of the run, from which times count.
    pub fn start(&self, start: Instant) {
        self.sheet.start.set(Some(start));
    }

    /// Counts a failure that does not end its iteration, such as that of a request; see [`MetricSet::fault`].
    pub fn fault(&self, cause: &str, example: &str) {
        let start = self.sheet.start.get();
        let at = start.map_or(Duration::ZERO, |start| start.elapsed());
        self.sheet.set.borrow_mut().fault(cause, example, at);
    }

    /// Counts an attempt to connect; see [`MetricSet::connection`].
    pub fn connection(&self, has_failed: bool) {
        self.sheet.set.borrow_mut().connection(has_failed);
    }

    /// Counts the failure of an open connection; see [`MetricSet::connection_lost`].
    pub fn connection_lost(&self) {
        self.sheet.set.borrow_mut().connection_lost();
    }

    /// Records that a group was entered, so that reports list it even without samples. Its path is `::outer::inner`.
    pub fn group(&self, path: &str) {
        self.sheet.set.borrow_mut().group(path);
    }

    /// All that was recorded since the last call. Samples that wait go to their queues.
    pub fn take(&self) -> MetricSet {
        if let Some(outgoing) = &self.sheet.outgoing {
            outgoing.flush();
        }
        self.sheet.set.borrow_mut().take()
    }

    /// Records to the whole run with the parts that the tags select and, when the run is broken down, to their place.
    fn write(&self, record: impl Fn(&mut MetricSet, &[usize])) {
        let mut set = self.sheet.set.borrow_mut();
        let Some(tagged) = &self.tagged else {
            return record(&mut set, &[]);
        };
        record(&mut set, &tagged.selected);
        if let Some(place) = tagged.place.as_ref().and_then(|place| set.at(place)) {
            record(place, &[]);
        }
    }

    fn emit_check(&self, passed: bool) {
        let checks = self.sheet.set.borrow().registry().checks_rate();
        if let Some(checks) = checks {
            self.emit(Kind::Rate, checks.0, share(passed));
        }
    }

    fn emit(&self, kind: Kind, position: usize, value: f64) {
        if let (Some(outgoing), Some(tagged)) = (&self.sheet.outgoing, &self.tagged) {
            outgoing.push(kind, position, value, &tagged.tags);
        }
    }
}

impl Tagged {
    fn new(tags: Tags, registry: &Registry) -> Self {
        let selectors = registry.selectors().iter().enumerate();
        let selected = selectors.filter(|(_, selector)| selector.selects(&tags));
        Self {
            selected: selected.map(|(position, _)| position).collect(),
            place: registry.is_broken_down().then(|| Place::of(&tags)),
            tags: Arc::new(tags),
        }
    }
}

/// A sample of a rate as a number.
fn share(is_true: bool) -> f64 {
    if is_true { 1.0 } else { 0.0 }
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
    fn a_run_is_broken_down_by_scenario_and_group() {
        let mut registry = Registry::new();
        let reqs = registry.counter("reqs", Contains::Default).unwrap();
        registry.break_down();
        let plain = Recorder::new(MetricSet::new(Arc::new(registry)));
        plain.count(reqs, 1);
        let chat = plain.with_tags([("scenario", "chat"), ("status", "200")]);
        chat.count(reqs, 10);
        let inner = chat.with_tags([("group", "::a::b")]);
        inner.count(reqs, 100);
        inner.check_named("::a::b", "fine", true);
        let mut total = plain.take();
        inner.count(reqs, 1_000);
        total.merge(&plain.take());
        let places: Vec<_> = total
            .places()
            .map(|(place, set)| (place.scenario.as_str(), place.group.as_str(), set.counter(reqs)))
            .collect();
        assert_eq!(places, [("", "", 1), ("chat", "", 10), ("chat", "::a::b", 1_100)]);
        let checks: usize = total.places().map(|(_, set)| set.checks().count()).sum();
        assert_eq!(
            (total.counter(reqs), total.checks().count(), checks),
            (1_111, 1, 1)
        );
    }

    #[test]
    fn places_without_end_do_not_grow() {
        let mut registry = Registry::new();
        let reqs = registry.counter("reqs", Contains::Default).unwrap();
        registry.break_down();
        let plain = Recorder::new(MetricSet::new(Arc::new(registry)));
        for n in 0..200 {
            plain
                .with_tags([("group", n.to_string().as_str())])
                .count(reqs, 1);
        }
        let set = plain.take();
        let places = set
            .places()
            .map(|(place, set)| (place.group.as_str(), set.counter(reqs)));
        let (rest, groups): (Vec<_>, Vec<_>) = places.partition(|(group, _)| group.is_empty());
        assert_eq!(
            (set.counter(reqs), groups.len(), rest),
            (200, 50, vec![("", 150)])
        );
        assert_eq!(set.registry().left_out().n_groups(), 150);
    }

    #[test]
    fn tags_that_nobody_asks_for_are_not_kept() {
        let plain = Recorder::new(MetricSet::new(Arc::new(Registry::new())));
        assert!(!plain.with_tags([("kind", "a")]).reads_tags());
        let mut registry = Registry::new();
        let reqs = registry.counter("reqs", Contains::Default).unwrap();
        let parent = registry.find("reqs").unwrap();
        registry.sub_metric(
            parent,
            &Selector::new([("kind".to_owned(), "a".to_owned())].into()),
        );
        let plain = Recorder::new(MetricSet::new(Arc::new(registry)));
        assert!(plain.with_tags([("status", "200")]).is_same(&plain));
        let a = plain.with_tags([("status", "200"), ("kind", "a")]);
        assert!(!a.is_same(&plain));
        a.count(reqs, 2);
        plain.count(reqs, 1);
        let values: Vec<_> = plain.take().iter().map(|(_, value)| value.n_samples()).collect();
        assert_eq!(values, [3, 2]);
    }
}
