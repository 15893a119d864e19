//! Which samples are one series, their sum, and when a series is fresh.

use super::*;
use crate::samples::{batch, registry, start};

fn store() -> SeriesStore {
    SeriesStore::new(TrendStyle::Figures, &["vu", "group"].map(str::to_owned).into())
}

/// The fresh series, one line each.
fn fresh(store: &mut SeriesStore) -> Vec<String> {
    let positions = store.take_fresh();
    let lines = positions.iter().map(|&position| {
        let series = &store.all()[position];
        let figure = match &series.figure {
            Figure::Trend(trend) => format!("{} samples of {}", trend.count, trend.sum),
            figure => format!("{figure:?}"),
        };
        let stamp = series.stamp.duration_since(start()).unwrap();
        format!(
            "{} {:?} at {stamp:?}: {figure}",
            store.definition(series.metric).name,
            series.tags
        )
    });
    lines.collect()
}

#[test]
fn samples_of_one_metric_with_the_same_tags_are_one_series() {
    let mut store = store();
    store.add(&batch(&[
        ("reqs", 1.0, &[("method", "GET")]),
        ("reqs", 2.0, &[("method", "GET")]),
        ("reqs", 4.0, &[("method", "POST")]),
        ("failed", 0.0, &[("method", "GET")]),
        ("failed", 1.0, &[("method", "GET")]),
        ("vus", 5.0, &[]),
        ("vus", 3.0, &[]),
        ("wait", 10.0, &[]),
        ("wait", 20.0, &[]),
    ]));
    expect_test::expect![[r#"
        reqs {"method": "GET"} at 1s: Counter(3.0)
        reqs {"method": "POST"} at 2s: Counter(4.0)
        failed {"method": "GET"} at 4s: Rate { n_true: 1, n_total: 2 }
        vus {} at 6s: Gauge(3.0)
        wait {} at 8s: 2 samples of 30"#]]
    .assert_eq(&fresh(&mut store).join("\n"));
    assert_eq!((store.n_samples(), store.n_beyond()), (9, 0));
}

#[test]
fn metadata_makes_no_series() {
    let mut store = store();
    store.add(&batch(&[
        ("reqs", 1.0, &[("vu", "1"), ("zone", "a")]),
        ("reqs", 1.0, &[("vu", "2"), ("zone", "a")]),
        ("reqs", 1.0, &[("zone", "a")]),
        // Not a system tag of this run, so it is one of the user's tags.
        ("reqs", 1.0, &[("iter", "7"), ("zone", "a")]),
    ]));
    assert_eq!(
        fresh(&mut store),
        [
            r#"reqs {"zone": "a"} at 2s: Counter(3.0)"#,
            r#"reqs {"iter": "7", "zone": "a"} at 3s: Counter(1.0)"#
        ]
    );
}

#[test]
fn a_series_is_fresh_until_it_is_taken_and_again_when_that_failed() {
    let mut store = store();
    let samples = batch(&[("reqs", 1.0, &[]), ("vus", 1.0, &[])]);
    store.add(&samples);
    let positions = store.take_fresh();
    assert_eq!(positions, [0, 1]);
    assert!(store.take_fresh().is_empty());
    store.put_back(&positions[1..]);
    // The figure is sent a second time, so it needs another millisecond.
    assert_eq!(fresh(&mut store), ["vus {} at 1.001s: Gauge(1.0)"]);
    store.add(&samples);
    assert_eq!(
        fresh(&mut store),
        ["reqs {} at 1ms: Counter(2.0)", "vus {} at 1.002s: Gauge(1.0)"]
    );
}

#[test]
fn a_gauge_keeps_the_latest_value_whoever_hands_it_in_last() {
    let mut store = store();
    store.add(&batch(&[("vus", 1.0, &[]), ("vus", 2.0, &[])]));
    store.add(&batch(&[("vus", 3.0, &[])]));
    assert_eq!(fresh(&mut store), ["vus {} at 1s: Gauge(2.0)"]);
}

#[test]
fn series_beyond_the_limit_are_counted_and_known_ones_go_on() {
    let mut store = store();
    let registry = registry();
    let sample = |number: usize| Sample {
        metric: registry.find("reqs").unwrap(),
        time: start(),
        value: 1.0,
        tags: crate::samples::tags(&[("url", &number.to_string())]),
    };
    let samples = |numbers: std::ops::Range<usize>| Batch {
        samples: numbers.map(sample).collect(),
        registry: Arc::clone(&registry),
    };
    store.add(&samples(0..MAX_SERIES));
    store.add(&samples(0..MAX_SERIES + 5));
    assert_eq!((store.n_samples(), store.n_beyond()), (2 * MAX_SERIES as u64, 5));
    assert_eq!(store.all().len(), MAX_SERIES);
    assert_eq!(store.tag_sets.len(), MAX_SERIES);
}
