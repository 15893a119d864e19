//! Metric sets: recording, merging, deltas.

use std::time::Duration;

use super::*;
use crate::metrics::Contains;
use crate::metrics::emerging::{FURTHER, FURTHER_SAMPLES, MAX_DISTRIBUTIONS, MAX_NAMES};

struct Metrics {
    registry: Arc<Registry>,
    sent: CounterId,
    vus: GaugeId,
    failed: RateId,
    rtt: TrendId,
    connected: CheckId,
}

fn metrics() -> Metrics {
    let mut registry = Registry::new();
    let sent = registry.counter("sent", Contains::Default).unwrap();
    let rtt = registry.trend("rtt").unwrap();
    let vus = registry.gauge("vus", Contains::Default).unwrap();
    registry.trend("unused").unwrap();
    let failed = registry.rate("failed").unwrap();
    let connected = registry.check("connected");
    Metrics {
        registry: Arc::new(registry),
        sent,
        vus,
        failed,
        rtt,
        connected,
    }
}

impl Metrics {
    fn set(&self) -> MetricSet {
        MetricSet::new(Arc::clone(&self.registry))
    }

    /// One round of samples that depend on `n`.
    fn record(&self, set: &mut MetricSet, n: u64) {
        set.count(self.sent, n);
        set.set(self.vus, n as f64);
        set.rate(self.failed, n > 1);
        set.record(self.rtt, Duration::from_millis(n));
        set.check(self.connected, n == 1);
    }

    /// All values as text, one line each.
    fn text(set: &MetricSet) -> String {
        let metrics = set.iter().map(|(definition, value)| match value {
            Value::Trend(histogram) => {
                format!("{}={}/{:?}", definition.name, histogram.count(), histogram.sum())
            }
            value => format!("{}={value:?}", definition.name),
        });
        let checks = set
            .checks()
            .map(|(name, check)| format!("{}={}/{}", name.name, check.passes, check.fails));
        metrics.chain(checks).collect::<Vec<_>>().join("\n")
    }
}

#[test]
fn an_unused_set_has_checks_only() {
    assert_eq!(Metrics::text(&metrics().set()), "connected=0/0");
}

#[test]
fn merged_deltas_equal_one_recording() {
    let metrics = metrics();
    let (mut total, mut together) = (metrics.set(), metrics.set());
    let mut workers = [metrics.set(), metrics.set()];
    for n in 1..=4 {
        let worker = &mut workers[n as usize % 2];
        metrics.record(worker, n);
        total.merge(&worker.take());
        metrics.record(&mut together, n);
    }
    expect_test::expect![[r#"
        sent=Counter(10.0)
        rtt=4/10ms
        vus=Gauge(Gauge { value: 4.0, min: 1.0, max: 4.0 })
        failed=Rate(Rate { n_true: 3, n_total: 4 })
        checks=Rate(Rate { n_true: 1, n_total: 4 })
        connected=1/3"#]]
    .assert_eq(&Metrics::text(&total));
    assert_eq!(Metrics::text(&total), Metrics::text(&together));
    assert_eq!(
        (
            total.counter(metrics.sent),
            total.answers(metrics.connected).fails
        ),
        (10, 3)
    );
}

#[test]
fn checks_that_appear_during_the_run_are_bounded() {
    let (mut total, mut worker) = (metrics().set(), metrics().set());
    for n in 0..MAX_NAMED_CHECKS + 5 {
        worker.check_named("::chat", &format!("number {n:04}"), n % 2 == 0, &[]);
    }
    worker.check_named("::chat", "number 0000", false, &[]);
    total.merge(&worker.take());
    assert_eq!(total.checks().count(), 1 + MAX_NAMED_CHECKS + 1);
    let find = |wanted: &str| {
        total
            .checks()
            .find(|(name, _)| name.name == wanted)
            .map(|(_, check)| check)
    };
    assert_eq!(find("number 0000"), Some(Check { passes: 1, fails: 1 }));
    assert_eq!(
        find(FURTHER_CHECKS).map(|check| check.passes + check.fails),
        Some(5)
    );
    let checks = total.registry().find("checks").unwrap();
    assert_eq!(total.value(checks).map(|value| value.n_samples()), Some(1_006));
}

#[test]
fn plain_numbers_have_no_upper_bound() {
    let mut registry = Registry::new();
    let size = registry.trend_of("size", Contains::Data).unwrap();
    let recorder = crate::metrics::Recorder::new(MetricSet::new(Arc::new(registry)));
    for number in [0.5, 10_000_000.0, 2e12, -3.0, f64::MAX] {
        recorder.record_number(size, number);
    }
    let set = recorder.take();
    let histogram = set.trend(size).unwrap();
    assert_eq!((histogram.count(), histogram.n_saturated()), (5, 1));
    let ms = |quantile| histogram.value_at_quantile(quantile).as_secs_f64() * 1e3;
    assert!((ms(0.6) / 10_000_000.0 - 1.0).abs() < 1e-3);
    assert!((ms(0.8) / 2e12 - 1.0).abs() < 1e-3);
    assert!((ms(0.4) - 0.5).abs() < 1e-9);
}

#[test]
fn taking_leaves_nothing_behind() {
    let metrics = metrics();
    let mut set = metrics.set();
    metrics.record(&mut set, 2);
    assert_eq!(set.take().trend(metrics.rtt).map(Histogram::count), Some(1));
    assert!(set.trend(metrics.rtt).is_none());
    assert_eq!(Metrics::text(&set), Metrics::text(&metrics.set()));
}

#[test]
fn a_rate_without_samples_is_zero() {
    assert_eq!(Rate::default().share().to_bits(), 0.0f64.to_bits());
    assert_eq!(
        Rate {
            n_true: 1,
            n_total: 4
        }
        .share()
        .to_bits(),
        0.25f64.to_bits()
    );
}

#[test]
fn checks_and_groups_keep_the_order_in_which_they_appeared() {
    let registry = metrics().registry;
    let mut total = MetricSet::new(Arc::clone(&registry));
    for (group, name) in [("::b", "z"), ("::a", "a"), ("::b", "z"), ("", "m")] {
        let mut delta = MetricSet::new(Arc::clone(&registry));
        delta.group(group);
        delta.check_named(group, name, true, &[]);
        total.merge(&delta);
    }
    let names: Vec<_> = total.checks().map(|(check, _)| check.name.as_str()).collect();
    assert_eq!(names, ["connected", "z", "a", "m"]);
    assert_eq!(total.groups().collect::<Vec<_>>(), ["::b", "::a", ""]);
}

#[test]
fn groups_without_end_do_not_grow() {
    let mut set = MetricSet::new(metrics().registry);
    for n in 0..2 * MAX_GROUPS {
        set.group(&format!("::{n}"));
    }
    assert_eq!(set.groups().count(), MAX_GROUPS);
}

#[test]
fn tallies_appear_and_merge() {
    let registry = metrics().registry;
    let (mut total, mut delta) = (MetricSet::new(Arc::clone(&registry)), MetricSet::new(registry));
    total.tally("errors.b", 1);
    delta.tally("errors.b", 2);
    delta.tally("errors.a", 1);
    total.merge(&delta);
    let tallies: Vec<_> = total.tallies().collect();
    assert_eq!(tallies, [("errors.a", 1), ("errors.b", 3)]);
}

#[test]
fn distributions_and_events_appear_and_merge() {
    let registry = metrics().registry;
    let (mut total, mut delta) = (MetricSet::new(Arc::clone(&registry)), MetricSet::new(registry));
    total.observe("size", 2.5);
    let earlier = total.clone();
    delta.observe("size", 7.5);
    delta.observe("other", -1.0);
    delta.event("hits", 2);
    total.merge(&delta);
    let figures = |set: &MetricSet| {
        let all = set.distributions();
        let all = all.map(|(name, it)| (name.to_owned(), it.count(), it.max().as_micros()));
        all.collect::<Vec<_>>()
    };
    let (other, size) = ("other".to_owned(), "size".to_owned());
    assert_eq!(figures(&total), [(other.clone(), 1, 0), (size.clone(), 2, 7_500)]);
    let later = total.since(&earlier);
    assert_eq!(figures(&later).len(), 2);
    assert_eq!(figures(&later)[1].1, 1);
    assert_eq!(later.events().collect::<Vec<_>>(), [("hits", 2)]);
    assert!(total.since(&total.clone()).distributions().next().is_none());
}

#[test]
fn names_without_end_do_not_grow() {
    let mut set = MetricSet::new(metrics().registry);
    for n in 0..2 * MAX_NAMES {
        let name = n.to_string();
        set.tally(&name, 1);
        set.event(&name, 1);
        set.observe(&name, 1.0);
    }
    let n_untold = (2 * MAX_NAMES - MAX_DISTRIBUTIONS) as u64;
    assert_eq!(set.distributions().count(), MAX_DISTRIBUTIONS);
    let of = |name| set.tallies().find(|tally| tally.0 == name).map(|tally| tally.1);
    assert_eq!(set.events().count(), MAX_NAMES + 1);
    assert!(set.tallies().count() <= MAX_NAMES + 1);
    assert_eq!(of(FURTHER_SAMPLES), Some(n_untold));
    assert_eq!(of(FURTHER), Some(MAX_NAMES as u64 + 1));
}

#[test]
fn a_part_of_a_run_is_what_came_after_an_older_state() {
    let metrics = metrics();
    let mut set = metrics.set();
    metrics.record(&mut set, 2);
    set.tally("old", 1);
    let earlier = set.clone();
    metrics.record(&mut set, 5);
    set.tally("new", 3);
    let mut expected = metrics.set();
    metrics.record(&mut expected, 5);
    let later = set.since(&earlier);
    assert_eq!(later.tallies().collect::<Vec<_>>(), [("new", 3)]);
    let figures = |set: &MetricSet| {
        let values = set
            .iter()
            .map(|(definition, value)| (definition.name.clone(), value.n_samples()));
        values.collect::<Vec<_>>()
    };
    assert_eq!(figures(&later), figures(&expected));
    assert!(set.since(&set.clone()).trend(metrics.rtt).is_none());
}
