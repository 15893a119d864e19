//! Summaries from runs, as JSON.

use std::{
    sync::Arc,
    time::{Duration, UNIX_EPOCH},
};

use expect_test::expect;
use plimsoll_load::{
    generator::{Evidence, Schedule},
    histogram::Histogram,
    metrics::{self, Registry},
    plan, run,
};

use super::*;
use crate::fit::Fit;

pub(crate) mod scripted;

const US: fn(u64) -> Duration = Duration::from_micros;

/// The summary of a run of which nothing else is known.
pub(crate) fn summary(run: &RunResult) -> Summary {
    summary_with(run, &trend_stats())
}

/// The same with other figures of trends.
pub(crate) fn summary_with(run: &RunResult, trend_stats: &[String]) -> Summary {
    Summary::new(Parts {
        plimsoll: "0.1.0",
        command: Vec::new(),
        run,
        health: &Health::default(),
        losses: None,
        targets: Vec::new(),
        trend_stats,
    })
}

/// k6's figures of trends.
pub(crate) fn trend_stats() -> [String; 6] {
    plan::TREND_STATS.map(str::to_owned)
}

/// A small chat run with figures that source document 000 also shows.
pub(crate) fn run() -> RunResult {
    let mut registry = Registry::new();
    let rtt = registry.trend("rtt").unwrap();
    let connecting = registry.trend("ws_connecting").unwrap();
    let received = registry
        .counter("data_received", metrics::Contains::Data)
        .unwrap();
    let sessions = registry
        .counter("ws_sessions", metrics::Contains::Default)
        .unwrap();
    let vus = registry.gauge("vus", metrics::Contains::Default).unwrap();
    let failed = registry.rate("http_req_failed").unwrap();
    let connected = registry.check("successful connection");
    let own_message = registry.check("received its own message");
    registry.check("never asked");

    let mut set = MetricSet::new(Arc::new(registry));
    for us in [185, 263, 336, 350, 365] {
        set.record(rtt, US(us));
        set.record(connecting, US(us * 100_000));
        set.check(connected, true);
        set.check(own_message, us != 185);
    }
    set.count(received, 826_000);
    set.count(sessions, 10);
    set.set(vus, 100.0);
    set.set(vus, 11.0);
    set.rate(failed, false);
    let mut lateness = Histogram::new();
    lateness.record_n(US(800), 200);
    let mut failures = Failures::default();
    failures.add("connection refused", 2);
    RunResult {
        metrics: set,
        started_at: UNIX_EPOCH + Duration::from_millis(1_795_290_543_120),
        duration: Duration::from_millis(44_500),
        iterations: run::Iterations {
            n_complete: 10,
            n_interrupted: 90,
        },
        end: RunEnd::Complete,
        thresholds: Vec::new(),
        marked_failed: None,
        teardown_failure: None,
        notices: Vec::new(),
        max_vus: 100,
        failures,
        generator: Evidence {
            elapsed: Duration::from_millis(44_500),
            cpu: Duration::from_millis(4_450),
            busy_time_share: 0.0,
            busiest_share: 0.25,
            lateness,
            machine_idle_share: Some(0.5),
        },
        schedule: Schedule::default(),
    }
}

pub(crate) fn target() -> Target {
    Target {
        name: "server".to_owned(),
        what: "process 4711".to_owned(),
        cpu_seconds: Some(60.0),
        cores: Some(1.5),
        cores_max: Some(1.75),
        rss_max_bytes: Some(12_000_000),
        rss_per_user_bytes: Some(20_000),
        threads_max: Some(3),
        open_files_max: Some(109),
        sampling_cpu_seconds: 0.0625,
        series: [("cpu_cores".to_owned(), vec![Some(1.25), Some(1.75), None])].into(),
        fits: vec![Fit {
            of: "rss_bytes".to_owned(),
            against: "vus".to_owned(),
            intercept: 1e7,
            slope: 19_500.0,
            slope_error: 250.5,
            n: 38,
        }],
        ..Target::default()
    }
}

#[test]
fn json_has_the_documented_fields() {
    let losses = Losses {
        expected: 100,
        received: 99,
        lost: 1,
        duplicated: 0,
        out_of_order: 2,
    };
    let run = run();
    let summary = Summary::new(Parts {
        plimsoll: "0.1.0",
        command: ["plimsoll", "demo"].map(str::to_owned).into(),
        run: &run,
        health: &Health::default(),
        losses: Some(losses),
        targets: vec![target()],
        trend_stats: &trend_stats(),
    });
    expect![[r#"
        {
          "version": 1,
          "metadata": {
            "plimsoll": "0.1.0",
            "command": [
              "plimsoll",
              "demo"
            ],
            "started_at": "2026-11-21T19:49:03.120Z",
            "duration_seconds": 44.5,
            "time_unit": "us"
          },
          "end": {
            "cause": "complete"
          },
          "thresholds": [],
          "notices": [],
          "iterations": {
            "complete": 10,
            "interrupted": 90,
            "failed": 2,
            "failures": [
              {
                "reason": "connection refused",
                "count": 2
              }
            ]
          },
          "vus_max": 100,
          "checks": [
            {
              "group": "",
              "name": "successful connection",
              "passes": 5,
              "fails": 0
            },
            {
              "group": "",
              "name": "received its own message",
              "passes": 4,
              "fails": 1
            },
            {
              "group": "",
              "name": "never asked",
              "passes": 0,
              "fails": 0
            }
          ],
          "groups": [],
          "metrics": {
            "checks": {
              "contains": "default",
              "type": "rate",
              "values": {
                "rate": 0.9,
                "passes": 9,
                "fails": 1
              }
            },
            "data_received": {
              "contains": "data",
              "type": "counter",
              "values": {
                "count": 826000,
                "rate": 18561.79775280899
              }
            },
            "http_req_failed": {
              "contains": "default",
              "type": "rate",
              "values": {
                "rate": 0.0,
                "passes": 0,
                "fails": 1
              }
            },
            "rtt": {
              "contains": "time",
              "type": "trend",
              "values": {
                "count": 5,
                "min": 185,
                "mean": 299.8,
                "p50": 336,
                "p90": 365,
                "p95": 365,
                "p99": 365,
                "p99_9": 365,
                "max": 365
              }
            },
            "vus": {
              "contains": "default",
              "type": "gauge",
              "values": {
                "value": 11.0,
                "min": 11.0,
                "max": 100.0
              }
            },
            "ws_connecting": {
              "contains": "time",
              "type": "trend",
              "values": {
                "count": 5,
                "min": 18500000,
                "mean": 29980000.0,
                "p50": 33619967,
                "p90": 36500000,
                "p95": 36500000,
                "p99": 36500000,
                "p99_9": 36500000,
                "max": 36500000
              }
            },
            "ws_sessions": {
              "contains": "default",
              "type": "counter",
              "values": {
                "count": 10,
                "rate": 0.2247191011235955
              }
            }
          },
          "losses": {
            "expected": 100,
            "received": 99,
            "lost": 1,
            "duplicated": 0,
            "out_of_order": 2
          },
          "targets": [
            {
              "name": "server",
              "what": "process 4711",
              "cpu_seconds": 60.0,
              "cores": 1.5,
              "cores_max": 1.75,
              "rss_max_bytes": 12000000,
              "rss_per_user_bytes": 20000,
              "pss_max_bytes": null,
              "threads_max": 3,
              "open_files_max": 109,
              "sockets_max": null,
              "processes_max": null,
              "sampling_cpu_seconds": 0.0625,
              "missed": 0,
              "series_left_out": 0,
              "series": {
                "cpu_cores": [
                  1.25,
                  1.75,
                  null
                ]
              },
              "fits": [
                {
                  "of": "rss_bytes",
                  "against": "vus",
                  "intercept": 10000000.0,
                  "slope": 19500.0,
                  "slope_error": 250.5,
                  "n": 38
                }
              ],
              "no_fits": [],
              "ended": null
            }
          ],
          "generator": {
            "cpu_seconds": 4.45,
            "cores": 0.1,
            "busiest_worker_share": 0.25,
            "machine_idle_share": 0.5,
            "lateness": {
              "count": 200,
              "min": 800,
              "mean": 800.0,
              "p50": 800,
              "p90": 800,
              "p95": 800,
              "p99": 800,
              "p99_9": 800,
              "max": 800
            },
            "saturated": false,
            "reasons": []
          }
        }"#]]
    .assert_eq(&serde_json::to_string_pretty(&summary).unwrap());
}

#[test]
fn a_run_of_no_time_has_no_infinite_rates() {
    let run = RunResult {
        duration: Duration::ZERO,
        ..run()
    };
    let metrics = metrics(&run, &trend_stats());
    assert_eq!(
        metrics["ws_sessions"].values,
        Values::Counter {
            count: 10.0,
            rate: 0.0
        }
    );
}
