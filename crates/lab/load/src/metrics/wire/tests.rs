//! Metric sets through JSON: parts add up to the whole, and anything is read or refused.

use std::{fmt::Write, sync::Arc, time::Duration};

use proptest::prelude::*;
use serde_json::{Value as Json, json};

use super::*;
use crate::{
    histogram::Histogram,
    metrics::{
        CheckId, Contains, CounterId, GaugeId, MetricSet, RateId, Recorder, Registry, Selector, TrendId,
        Value,
    },
};

struct Test {
    registry: Arc<Registry>,
    sent: CounterId,
    vus: GaugeId,
    failed: RateId,
    rtt: TrendId,
    size: TrendId,
    connected: CheckId,
}

fn test() -> Test {
    let mut registry = Registry::new();
    let sent = registry.counter("sent", Contains::Data).unwrap();
    let vus = registry.gauge("vus", Contains::Default).unwrap();
    let failed = registry.rate("failed").unwrap();
    let rtt = registry.trend("rtt").unwrap();
    let size = registry.trend_of("size", Contains::Data).unwrap();
    let connected = registry.check("connected");
    for parent in ["sent", "vus", "failed", "rtt", "size", "checks"] {
        let parent = registry.find(parent).unwrap();
        registry.sub_metric(
            parent,
            &Selector::new([("kind".to_owned(), "b".to_owned())].into()),
        );
    }
    registry.break_down();
    Test {
        registry: Arc::new(registry),
        sent,
        vus,
        failed,
        rtt,
        size,
        connected,
    }
}

/// A sample of any metric, some times.
#[derive(Clone, Copy, Debug)]
struct Sample {
    metric: u8,
    value: u64,
    n: u64,
    kind: &'static str,
    scenario: &'static str,
    group: &'static str,
}

prop_compose! {
    fn samples()(samples in prop::collection::vec(
        (
            0_u8..14,
            prop_oneof![0_u64..10, 0_u64..9_000_000_000],
            prop_oneof![4 => 1_u64..4, 1 => 200_u64..300],
            prop::sample::select(vec!["a", "b"]),
            prop::sample::select(vec!["", "one", "two"]),
            prop::sample::select(vec!["", "::in", "::in::deep"]),
        ),
        0..60,
    )) -> Vec<Sample> {
        let of = |(metric, value, n, kind, scenario, group)| Sample { metric, value, n, kind, scenario, group };
        samples.into_iter().map(of).collect()
    }
}

impl Test {
    fn set(&self) -> MetricSet {
        MetricSet::new(Arc::clone(&self.registry))
    }

    fn recorded<'a>(&self, samples: impl IntoIterator<Item = &'a Sample>) -> MetricSet {
        let recorder = Recorder::new(self.set());
        samples
            .into_iter()
            .for_each(|sample| self.record(&recorder, sample));
        recorder.take()
    }

    fn record(&self, recorder: &Recorder, sample: &Sample) {
        let &Sample {
            metric,
            value,
            kind,
            group,
            ..
        } = sample;
        let tags = [("kind", kind), ("scenario", sample.scenario), ("group", group)];
        let recorder = recorder.with_tags(tags);
        let name = format!("name {}", value % 7);
        let time = Duration::from_micros(value);
        for _ in 0..sample.n {
            match metric {
                0 => recorder.count(self.sent, value),
                1 => recorder.set(self.vus, value as f64 - 5.0),
                2 => recorder.rate(self.failed, value % 2 == 0),
                3 => recorder.record(self.rtt, time),
                4 => recorder.record_number(self.size, value as f64),
                5 => drop(recorder.check(self.connected, value % 3 == 0)),
                6 => drop(recorder.check_named(group, &name, value % 2 == 0)),
                7 => recorder.tally(&name, value),
                8 => recorder.event(&name, value),
                9 => recorder.observe(&name, value as f64 / 8.0),
                10 => recorder.time(&format!("time {}", value % 3), time),
                11 => recorder.fault(&name, &format!("{name} in full")),
                12 => recorder.connection(value % 2 == 0),
                _ => recorder.group(group),
            }
        }
    }
}

/// All figures of a set that do not depend on the order of samples, one line each.
fn text(set: &MetricSet) -> String {
    let mut text = String::new();
    for (definition, value) in set.iter() {
        let value = match value {
            Value::Trend(histogram) => figures(histogram),
            Value::Gauge(gauge) => format!("{} to {}", gauge.min, gauge.max),
            value => format!("{value:?}"),
        };
        writeln!(text, "{} {value}", definition.name).unwrap();
    }
    for (name, histogram) in set.distributions() {
        let contains = set.distribution_contains(name);
        writeln!(text, "{name} {contains:?} {}", figures(histogram)).unwrap();
    }
    let mut checks: Vec<_> = set.checks().collect();
    checks.sort_by_key(|&(name, _)| name);
    let mut groups: Vec<_> = set.groups().collect();
    groups.sort_unstable();
    let counts: Vec<_> = set.tallies().chain(set.events()).collect();
    let (faults, connections) = (set.faults(), set.failed_connections());
    writeln!(
        text,
        "{checks:?} {groups:?} {counts:?} {faults:?} {connections:?}"
    )
    .unwrap();
    for (place, metrics) in set.places() {
        writeln!(text, "{place:?}\n{}", self::text(metrics)).unwrap();
    }
    text
}

/// What depends on the order of samples.
fn in_order(set: &MetricSet) -> String {
    let (checks, groups): (Vec<_>, Vec<_>) = (set.checks().collect(), set.groups().collect());
    let gauges = set.iter().filter_map(|(_, value)| match value {
        Value::Gauge(gauge) => Some(gauge.value),
        _ => None,
    });
    format!("{checks:?} {groups:?} {:?}", gauges.collect::<Vec<_>>())
}

fn figures(histogram: &Histogram) -> String {
    let [count, n_saturated] = [histogram.count(), histogram.n_saturated()];
    let exact = [histogram.sum(), histogram.min(), histogram.max()];
    let percentiles = [0.0, 50.0, 90.0, 95.0, 99.0, 100.0].map(|percent| histogram.interpolated_us(percent));
    format!(
        "{count} {n_saturated} {exact:?} {percentiles:?} {:?}",
        histogram.exact()
    )
}

/// Adds what another machine recorded, as JSON.
fn add(total: &mut MetricSet, part: &MetricSet) {
    let json = serde_json::to_string(&part.to_wire()).unwrap();
    total.add_wire(&serde_json::from_str(&json).unwrap()).unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn parts_add_up_to_the_whole(samples in samples(), parts in prop::collection::vec(0_usize..4, 60)) {
        let here = test();
        let whole = here.recorded(&samples);
        let mut total = here.set();
        for part in 0..4 {
            // Each machine has a registry of its own.
            let there = test();
            let own = samples.iter().zip(&parts).filter(|&(_, &of)| of == part);
            add(&mut total, &there.recorded(own.map(|(sample, _)| sample)));
        }
        prop_assert_eq!(text(&total), text(&whole));
        // A single part arrives as it is, with all orders.
        let mut single = here.set();
        add(&mut single, &whole);
        prop_assert_eq!(in_order(&single), in_order(&whole));
        prop_assert_eq!(text(&single), text(&whole));
    }
}

proptest! {
    #[test]
    fn a_changed_message_is_read_or_refused(
        samples in samples(),
        place in any::<prop::sample::Index>(),
        wrong in wrong(),
    ) {
        let test = test();
        let mut json = serde_json::to_value(test.recorded(&samples).to_wire()).unwrap();
        let n_values = count(&json);
        replace(&mut json, &mut place.index(n_values), &wrong);
        receive(&test, &json.to_string());
    }

    #[test]
    fn any_text_is_read_or_refused(text: String, json in wrong()) {
        let test = test();
        receive(&test, &text);
        receive(&test, &json.to_string());
        for field in ["counters", "trends", "checks", "named_checks", "faults", "connections", "places"] {
            receive(&test, &json!({ field: json }).to_string());
        }
    }
}

/// Any JSON value.
fn wrong() -> impl Strategy<Value = Json> {
    let number = prop_oneof![Just(u64::MAX), Just(0), any::<u64>()].prop_map(Json::from);
    let leaf = prop_oneof![
        Just(Json::Null),
        number,
        any::<f64>().prop_map(Json::from),
        prop_oneof!["[a-z]{0,4}", Just("rtt".to_owned()), Just("inf".to_owned())].prop_map(Json::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Json::from),
            prop::collection::btree_map("rtt|vus|us|n|sum_us|[a-z]{1,3}", inner, 0..4)
                .prop_map(|fields| Json::Object(fields.into_iter().collect())),
        ]
    })
}

fn count(json: &Json) -> usize {
    1 + match json {
        Json::Array(values) => values.iter().map(count).sum(),
        Json::Object(fields) => fields.values().map(count).sum(),
        _ => 0,
    }
}

/// Replaces the value at a position, counted from outside to inside.
fn replace(json: &mut Json, at: &mut usize, wrong: &Json) {
    if *at == 0 {
        json.clone_from(wrong);
    }
    *at = at.wrapping_sub(1);
    match json {
        Json::Array(values) => values.iter_mut().for_each(|value| replace(value, at, wrong)),
        Json::Object(fields) => fields.values_mut().for_each(|value| replace(value, at, wrong)),
        _ => {}
    }
}

/// Adds a message repeatedly, so that sums overflow. A refused message changes nothing.
fn receive(test: &Test, message: &str) {
    let Ok(metrics) = serde_json::from_str::<Metrics>(message) else {
        return;
    };
    let mut total = test.set();
    for _ in 0..3 {
        let before = total.clone();
        match total.add_wire(&metrics) {
            Ok(()) => drop(text(&total.since(&before))),
            Err(_) => assert_eq!(text(&total), text(&before)),
        }
    }
}

#[test]
fn the_form_is_as_documented() {
    let test = test();
    let check = |set: &MetricSet, expected: Json| {
        assert_eq!(serde_json::to_value(set.to_wire()).unwrap(), expected);
    };
    check(&test.set(), json!({}));
    let mut set = test.set();
    set.count(test.sent, 3);
    set.set(test.vus, f64::NEG_INFINITY);
    set.set(test.vus, f64::INFINITY);
    set.set(test.vus, 2.5);
    set.rate(test.failed, true);
    set.record(test.rtt, Duration::from_millis(7));
    set.check(test.connected, true);
    set.check_named("::in", "late", false, &[]);
    set.tally("ticks", 4);
    set.observe("load", 0.5);
    set.time("wait", Duration::from_millis(1));
    set.fault("refused", "refused by 10.0.0.1", Duration::from_secs(2));
    set.connection_lost();
    set.group("::in");
    let expected = json!({
        "counters": {"sent": 3.0},
        "gauges": {"vus": [2.5, "-inf", "inf"]},
        "rates": {"checks": [1, 2], "failed": [1, 1]},
        "trends": {"rtt": {"us": [7000]}},
        "checks": {"connected": [1, 0]},
        "named_checks": [["::in", "late", 0, 1]],
        "tallies": {"ticks": 4},
        "distributions": {"load": {"numbers": true, "us": [500]}},
        "times": {"wait": {"numbers": true, "us": [1000]}},
        "faults": {"causes": {"refused": {
            "example": "refused by 10.0.0.1",
            "span": {"n": 1, "first": {"secs": 2, "nanos": 0}, "last": {"secs": 2, "nanos": 0}},
        }}},
        "connections": [1, 0],
        "groups": ["::in"],
    });
    check(&set, expected);
    let mut received = test.set();
    add(&mut received, &set);
    assert_eq!(received.to_wire(), set.to_wire());
}

#[test]
fn a_gauge_has_the_value_that_came_last() {
    let test = test();
    let mut total = test.set();
    for value in [4.0, 9.0, 2.0] {
        let mut part = test.set();
        part.set(test.vus, value);
        add(&mut total, &part);
    }
    let vus = total.value(test.registry.find("vus").unwrap());
    let Some(Value::Gauge(gauge)) = vus else {
        panic!("{vus:?}")
    };
    assert_eq!((gauge.value, gauge.min, gauge.max), (2.0, 2.0, 9.0));
}

#[test]
fn names_without_end_do_not_grow() {
    let test = test();
    let mut total = test.set();
    for part in 0..3 {
        let mut set = test.set();
        for n in 0..800 {
            let name = format!("{part} {n}");
            set.check_named("", &name, true, &[]);
            set.group(&name);
            set.tally(&name, 1);
            set.event(&name, 1);
            set.fault(&format!("cause {part}-{n:02}"), "", Duration::ZERO);
            if n < 90 {
                set.observe(&name, 1.0);
            }
        }
        add(&mut total, &set);
    }
    let n_passes: u64 = total.checks().map(|(_, check)| check.passes).sum();
    let n_samples: u64 = total.distributions().map(|(_, samples)| samples.count()).sum();
    // The registered check, and one for all further ones.
    assert_eq!((total.checks().count(), n_passes), (1_002, 2_400));
    assert_eq!(
        (total.groups().count(), total.distributions().count()),
        (1_000, 100)
    );
    assert_eq!((total.tallies().count(), total.events().count()), (1_001, 1_001));
    assert_eq!(
        total.tallies().map(|(_, n)| n).sum::<u64>() + n_samples,
        2_400 + 270
    );
    assert_eq!(
        (total.faults().iter().count(), total.faults().total()),
        (100, 2_400)
    );
}

#[test]
fn what_does_not_fit_is_refused_by_name() {
    let check = |message: Json, expected: &str| {
        let metrics = serde_json::from_value(message).unwrap();
        let error = test().set().add_wire(&metrics).unwrap_err();
        assert_eq!(error.to_string(), expected);
    };
    let hint = "is unknown; sender and receiver need the same version and the same test";
    check(
        json!({"counters": {"sentt": 1}}),
        &format!("the counter `sentt` {hint}"),
    );
    check(
        json!({"gauges": {"rtt": [1, 1, 1]}}),
        &format!("the gauge `rtt` {hint}"),
    );
    check(
        json!({"rates": {"rtt{kind:b}": [1, 1]}}),
        &format!("the rate `rtt{{kind:b}}` {hint}"),
    );
    check(
        json!({"trends": {"rtt{kind:a}": {}}}),
        &format!("the trend `rtt{{kind:a}}` {hint}"),
    );
    check(
        json!({"checks": {"connecte": [0, 1]}}),
        &format!("the check `connecte` {hint}"),
    );
    check(
        json!({"rates": {"failed": [2, 1]}}),
        "the rate `failed` cannot have 2 true samples of 1",
    );
    check(
        json!({"trends": {"rtt": {"numbers": true}}}),
        "invalid samples of `rtt`: expected a histogram of durations",
    );
    check(
        json!({"times": {"wait": {"us": [1]}}}),
        "invalid samples of `wait`: expected a histogram of numbers",
    );
    check(
        json!({"places": [["one", "::in", {"places": [["two", "", {}]]}]]}),
        "unexpected metrics of the scenario `one`, group `::in`",
    );
    let newer = serde_json::from_value::<Metrics>(json!({"heatmaps": {}}));
    assert!(
        newer
            .unwrap_err()
            .to_string()
            .starts_with("unknown field `heatmaps`")
    );
}

#[test]
fn places_are_refused_where_none_are_kept() {
    let metrics = serde_json::from_value(json!({"places": [["one", "", {}]]})).unwrap();
    let error = MetricSet::new(Arc::default()).add_wire(&metrics).unwrap_err();
    assert!(matches!(error, WireError::Place(_)), "{error}");
}
