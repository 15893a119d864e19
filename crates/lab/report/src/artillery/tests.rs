//! The layouts, word by word.

use std::{sync::Arc, time::UNIX_EPOCH};

use expect_test::expect;
use plimsoll_load::{
    generator::{Doubt, Health},
    metrics::{Contains, Registry},
};

use super::*;

const MS: fn(u64) -> Duration = Duration::from_millis;

const NAMES: Names = Names {
    metrics: &[
        ("created", "vusers.created"),
        ("completed", "vusers.completed"),
        ("sent", "websocket.messages_sent"),
        ("time", "websocket.response_time"),
    ],
    rates: &[("sent", "websocket.send_rate")],
};

/// `n` users that each send one message, whose answer takes from 1 ms.
fn users(metrics: &mut MetricSet, n: u64) {
    for name in ["created", "completed", "sent"] {
        let mut registry = metrics.registry().clone();
        let id = registry.counter(name, Contains::Default).unwrap();
        metrics.count(id, n);
    }
    let time = metrics.registry().clone().trend("time").unwrap();
    (1..=n).for_each(|ms| metrics.record(time, MS(ms)));
    metrics.tally("vusers.created_by_name.My test", n);
}

fn metrics() -> MetricSet {
    let mut registry = Registry::new();
    for name in ["created", "completed", "sent", "other"] {
        registry.counter(name, Contains::Default).unwrap();
    }
    registry.trend("time").unwrap();
    MetricSet::new(Arc::new(registry))
}

fn start() -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(1_628_339_017)
}

fn figures(n: u64) -> Figures {
    let mut metrics = metrics();
    users(&mut metrics, n);
    metrics.tally("errors.ECONNREFUSED", 2);
    Figures::new(start(), MS(10_000), &metrics, &NAMES)
}

#[test]
fn the_second_layout() {
    expect![[r#"
        Phase started: unnamed (index: 0, duration: 30s) 12:23:37(+0000)

    "#]]
    .assert_eq(&Version2.phase(None, 0, 30.0, start()));
    expect![[r#"
        --------------------------------------
        Metrics for period to: 12:23:47(+0000) (width: 10.000s)
        --------------------------------------

        errors.ECONNREFUSED: .......................................................... 2
        vusers.completed: ............................................................. 99
        vusers.created: ............................................................... 99
        vusers.created_by_name.My test: ............................................... 99
        vusers.failed: ................................................................ 0
        websocket.messages_sent: ...................................................... 99
        websocket.response_time:
          min: ........................................................................ 1
          max: ........................................................................ 99
          mean: ....................................................................... 50
          median: ..................................................................... 50
          p95: ........................................................................ 95
          p99: ........................................................................ 99
        websocket.send_rate: .......................................................... 9.9/sec

    "#]]
    .assert_eq(&Version2.period(&figures(99)));
    let nothing = Figures::new(start(), MS(10_000), &metrics(), &NAMES);
    expect![[r#"
        --------------------------------------
        Summary report @ 12:23:47(+0000)
        --------------------------------------

        No measurements recorded during this period
    "#]]
    .assert_eq(&Version2.summary(&nothing));
}

#[test]
fn the_first_layout() {
    expect![[r#"
        Started phase 0, duration: 30s @ 12:23:37(+0000) 2021-08-07
    "#]]
    .assert_eq(&Version1.phase(0, 30.0, start()));
    expect![[r#"
        Report @ 12:23:47(+0000) 2021-08-07
        Elapsed time: 10 seconds
          Scenarios launched:  99
          Scenarios completed: 99
          Requests completed:  99
          Mean response/sec: 9.9
          Response time (msec):
            min: 1
            max: 99
            median: 50
            p95: 95
            p99: 99
          Codes:
            0: 99
          Errors:
            ECONNREFUSED: 2

    "#]]
    .assert_eq(&Version1.period(&figures(99), MS(9_950)));
    expect![[r#"
        Summary report @ 12:23:47(+0000) 2021-08-07
          Scenarios launched:  300
          Scenarios completed: 300
          Requests completed:  300
          Mean response/sec: 30
          Response time (msec):
            min: 1
            max: 300
            median: 150
            p95: 285.2
            p99: 297.2
          Scenario counts:
            My test: 300 (100%)
          Codes:
            0: 300
          Errors:
            ECONNREFUSED: 2
    "#]]
    .assert_eq(&Version1.summary(&figures(300)));
    let nothing = Figures::new(start(), MS(10_000), &metrics(), &NAMES);
    expect![[r#"
        Summary report @ 12:23:47(+0000) 2021-08-07
          Scenarios launched:  0
          Scenarios completed: 0
          Requests completed:  0
          Mean response/sec: 0
          Response time (msec): no answer was timed
          Scenario counts:
    "#]]
    .assert_eq(&Version1.summary(&nothing));
}

#[test]
fn the_json_report() {
    let all = figures(4);
    let report = json(&all, std::slice::from_ref(&all));
    expect![[r#"
        {
          "counters": {
            "errors.ECONNREFUSED": 2,
            "vusers.completed": 4,
            "vusers.created": 4,
            "vusers.created_by_name.My test": 4,
            "vusers.failed": 0,
            "websocket.messages_sent": 4
          },
          "rates": {
            "websocket.send_rate": 0.4
          },
          "firstCounterAt": 1628339017000,
          "firstHistogramAt": 1628339017000,
          "lastCounterAt": 1628339027000,
          "lastHistogramAt": 1628339027000,
          "firstMetricAt": 1628339017000,
          "lastMetricAt": 1628339027000,
          "period": "1628339017000",
          "summaries": {
            "websocket.response_time": {
              "min": 1,
              "max": 4,
              "count": 4,
              "mean": 2.5,
              "p50": 2,
              "median": 2,
              "p75": 3,
              "p90": 4,
              "p95": 4,
              "p99": 4,
              "p999": 4
            }
          },
          "histograms": {
            "websocket.response_time": {
              "min": 1,
              "max": 4,
              "count": 4,
              "mean": 2.5,
              "p50": 2,
              "median": 2,
              "p75": 3,
              "p90": 4,
              "p95": 4,
              "p99": 4,
              "p999": 4
            }
          }
        }"#]]
    .assert_eq(&serde_json::to_string_pretty(&report["aggregate"]).unwrap());
    assert_eq!(report["intermediate"][0], report["aggregate"]);
}

#[test]
fn periods_add_up_to_the_whole() {
    let mut metrics = metrics();
    let mut periods = Periods::new(NAMES, start(), &metrics);
    users(&mut metrics, 3);
    assert!(periods.advance(MS(9_100), &metrics).is_none());
    users(&mut metrics, 4);
    let first = periods.advance(MS(10_100), &metrics).unwrap();
    assert_eq!((first.counter("vusers.created"), first.width), (7, MS(10_000)));
    users(&mut metrics, 5);
    let (last, all) = periods.finish(MS(12_500), &metrics);
    let last = last.unwrap();
    assert_eq!((last.counter("vusers.created"), last.width), (5, MS(2_500)));
    assert_eq!(last.start, start() + MS(10_000));
    assert_eq!(all.counter("vusers.created"), 12);
    assert_eq!(all.summaries["websocket.response_time"].count(), 12);
    assert_eq!(periods.figures().len(), 2);
}

#[test]
fn figures_have_names() {
    let figures = figures(99);
    for (name, expected) in [
        ("vusers.created", Some(99.0)),
        ("websocket.send_rate", Some(9.9)),
        ("websocket.response_time.max", Some(99.0)),
        ("websocket.response_time.p95", Some(95.0)),
        ("websocket.response_time.p98", None),
        ("errors.ECONNREFUSED", Some(2.0)),
        ("other", None),
    ] {
        assert_eq!(figures.figure(name), expected, "{name}");
    }
}

#[test]
fn what_the_generator_reached_is_told() {
    let mut lateness = Histogram::new();
    lateness.record_n(MS(1), 9_000);
    lateness.record_n(MS(800), 900);
    let arrivals = Arrivals {
        n_due: 10_000,
        n_created: 9_900,
        n_following: 12,
        n_skipped: 7,
        lateness: Some(lateness),
        most_active: 9_000,
        n_interrupted: 8_000,
    };
    let health = Health {
        doubtful: true,
        doubt: Some(Doubt::Busy),
        reasons: vec!["a worker was busy".to_owned()],
        ..Health::default()
    };
    expect![[r#"
        Generator:
          9900 of 10000 users that were due arrived; at most 9000 were active at once
          12 followed each other in phases that hold a number of users
          7 were turned away by maxVusers
          8000 were interrupted by the end of the run
          93 never arrived: the arrival rate was not kept, so the load was lower than the file asks for
          900 arrived 50 ms or more after their moment (up to 800 ms): the arrival rate was not kept
          DOUBTFUL: the load generator was the bottleneck, so these figures do not describe the target alone
          a worker was busy
    "#]]
    .assert_eq(&arrivals.text(&health));
    let kept = Arrivals {
        n_due: 300,
        n_created: 300,
        n_following: 0,
        n_skipped: 0,
        lateness: Some(Histogram::new()),
        most_active: 3,
        n_interrupted: 0,
    };
    expect![[r#"
        Generator:
          300 of 300 users that were due arrived; at most 3 were active at once
    "#]]
    .assert_eq(&kept.text(&Health::default()));
}

#[test]
fn answers_have_an_apdex_score() {
    for (counts, expected) in [
        ([94, 0, 6], Some((0.94, "excellent"))),
        ([80, 10, 10], Some((0.85, "good"))),
        ([0, 1, 1], Some((0.25, "unacceptable"))),
        ([0, 0, 0], None),
    ] {
        let mut metrics = metrics();
        for (name, n) in ["satisfied", "tolerated", "frustrated"].iter().zip(counts) {
            if n > 0 {
                metrics.tally(&format!("apdex.{name}"), n);
            }
        }
        let figures = Figures::new(start(), MS(1), &metrics, &NAMES);
        assert_eq!(figures.apdex(), expected, "{counts:?}");
    }
}
