//! Summaries from runs, as JSON.

use std::{
    sync::{Arc, LazyLock},
    time::{Duration, UNIX_EPOCH},
};

use expect_test::expect;
use plimsoll_load::{
    executor::Executor,
    generator::{Evidence, Schedule},
    histogram::Histogram,
    metrics::{self, Registry},
    plan,
    run::{self, Stretch},
};

use super::*;
use crate::fit::Fit;

mod damaged;
mod fleet;
mod long;
mod samples;
pub(crate) mod scripted;

const US: fn(u64) -> Duration = Duration::from_micros;

/// The summary of a run without further data.
pub(crate) fn summary(run: &RunResult) -> Summary {
    summary_with(run, &trend_stats())
}

/// The summary with other figures of trends.
pub(crate) fn summary_with(run: &RunResult, trend_stats: &[String]) -> Summary {
    Summary::new(parts(run, trend_stats))
}

/// A run of two users without an observer.
pub(crate) fn parts<'a>(run: &'a RunResult, trend_stats: &'a [String]) -> Parts<'a> {
    Parts {
        origin: Origin {
            plimsoll: "0.1.0",
            command: Vec::new(),
            name: "chat.js",
            kind: Kind::K6,
            salt: 0xbeef,
            machine: &MACHINE,
        },
        plan: &PLAN,
        n_workers: 2,
        run,
        recorder: Recorder::new(),
        health: &HEALTH,
        losses: None,
        accounts: &[],
        trend_stats,
    }
}

static HEALTH: LazyLock<Health> = LazyLock::new(Health::default);

static PLAN: LazyLock<plan::Plan> = LazyLock::new(|| {
    plan::Plan::single(Executor::ConstantVus {
        vus: 2,
        duration: Duration::from_secs(10),
        graceful_stop: Duration::ZERO,
    })
});

static MACHINE: LazyLock<Machine> = LazyLock::new(|| Machine {
    os: "linux".to_owned(),
    kernel: "6.18.0".to_owned(),
    arch: "x86_64".to_owned(),
    cpu_model: Some("Xeon".to_owned()),
    cores: 2,
    memory_bytes: 8 << 30,
    open_files_limit: u64::MAX,
    local_ports: None,
});

/// k6's figures of trends.
pub(crate) fn trend_stats() -> [String; 6] {
    plan::TREND_STATS.map(str::to_owned)
}

/// A small chat run with figures from a summary that k6 printed.
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
    failures.add("connection refused", 2, Duration::from_millis(1_500));
    let rest = Stretch {
        end: Duration::from_millis(44_500),
        iterations: run::Iterations {
            n_complete: 10,
            n_interrupted: 90,
        },
        n_failed: 2,
        users: run::Users::steady(100, Duration::from_millis(44_500)),
        metrics: set.clone(),
        ..Stretch::empty(&set)
    };
    RunResult {
        rest,
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
            busiest_share: 0.25,
            lateness,
            machine_idle_share: Some(0.5),
            ..Evidence::nothing()
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
    let trend_stats = trend_stats();
    let mut parts = parts(&run, &trend_stats);
    parts.origin.command = ["plimsoll", "demo"].map(str::to_owned).into();
    parts.losses = Some(losses);
    let mut summary = Summary::new(parts);
    summary.targets = vec![target()];
    expect![[r#"
        {
          "version": 2,
          "metadata": {
            "id": "20261121T194903.120Z-0000beef",
            "name": "chat.js",
            "kind": "k6",
            "plimsoll": "0.1.0",
            "command": ["plimsoll","demo"],
            "started_at": "2026-11-21T19:49:03.120Z",
            "duration_seconds": 44.5,
            "time_unit": "us"
          },
          "environment": {
            "os": "linux",
            "kernel": "6.18.0",
            "arch": "x86_64",
            "cpu_model": "Xeon",
            "cores": 2,
            "memory_bytes": 8589934592,
            "open_files_limit": null,
            "local_ports": null,
            "workers": 2
          },
          "plan": {
            "scenarios": [{
              "name": "default",
              "executor": "constant-vus",
              "description": "2 looping VUs for 10s",
              "start_seconds": 0.0,
              "max_vus": 2,
              "duration_seconds": 10.0
            }]
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
            "failures": [{
              "reason": "connection refused",
              "count": 2
            }]
          },
          "errors": [{
            "cause": "connection refused",
            "example": null,
            "count": 2,
            "first_seconds": 1.5,
            "last_seconds": 1.5
          }],
          "vus_max": 100,
          "checks": [{
            "group": "",
            "name": "successful connection",
            "passes": 5,
            "fails": 0
          },{
            "group": "",
            "name": "received its own message",
            "passes": 4,
            "fails": 1
          },{
            "group": "",
            "name": "never asked",
            "passes": 0,
            "fails": 0
          }],
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
                "p90": 359,
                "p95": 362,
                "p99": 364,
                "p99_9": 365,
                "max": 365
              },
              "figures": [{
                "stat": "avg",
                "value": 0.2998
              },{
                "stat": "min",
                "value": 0.185
              },{
                "stat": "med",
                "value": 0.336
              },{
                "stat": "max",
                "value": 0.365
              },{
                "stat": "p(90)",
                "value": 0.359
              },{
                "stat": "p(95)",
                "value": 0.362
              }],
              "histogram": "HISTFAAAAC14nJNpmSzMwMDAywABzFCaEURcm7yEwf4DROAjE9NMRqZ+RiZJJmkmAKUkBu8=",
              "exact": [185,263,336,350,365]
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
                "p50": 33600000,
                "p90": 35900000,
                "p95": 36200000,
                "p99": 36440000,
                "p99_9": 36494000,
                "max": 36500000
              },
              "figures": [{
                "stat": "avg",
                "value": 29980.0
              },{
                "stat": "min",
                "value": 18500.0
              },{
                "stat": "med",
                "value": 33600.0
              },{
                "stat": "max",
                "value": 36500.0
              },{
                "stat": "p(90)",
                "value": 35900.0
              },{
                "stat": "p(95)",
                "value": 36200.0
              }],
              "histogram": "HISTFAAAAC54nJNpmSzMwMDAxwABzFCaEURcm7yEwf4DRODiR0amrexMX9mYgpnCmQC63wjD",
              "exact": [18500000,26300000,33600000,35000000,36500000]
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
          "timeline": {
            "interval_seconds": 1,
            "n_intervals": 44,
            "vus": [100,100,100,100,100,100,100,100,100,100,100,100,100,100,100,100,100,100,100,100,100,100,100,100,100,100,100,100,100,100,100,100,100,100,100,100,100,100,100,100,100,100,100,100],
            "iterations": [10,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0],
            "failed": [2,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0],
            "metrics": {
              "checks": {
                "type": "rate",
                "passes": [9,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0],
                "totals": [10,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0]
              },
              "data_received": {
                "type": "counter",
                "counts": [826000,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0]
              },
              "http_req_failed": {
                "type": "rate",
                "passes": [0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0],
                "totals": [1,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0]
              },
              "rtt": {
                "type": "trend",
                "counts": [5,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0],
                "means": [299.8,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null],
                "p50": [335,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null],
                "p90": [359,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null],
                "p95": [362,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null],
                "p99": [364,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null],
                "max": [365,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null],
                "heat": [[60,1,64,1,67,2,68,1],[],[],[],[],[],[],[],[],[],[],[],[],[],[],[],[],[],[],[],[],[],[],[],[],[],[],[],[],[],[],[],[],[],[],[],[],[],[],[],[],[],[],[]]
              },
              "vus": {
                "type": "gauge",
                "values": [11.0,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null]
              },
              "ws_connecting": {
                "type": "trend",
                "counts": [5,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0],
                "means": [29980000.0,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null],
                "p50": [33921805,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null],
                "p90": [35765838,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null],
                "p95": [36132919,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null],
                "p99": [36426584,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null],
                "max": [36500000,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null],
                "heat": [[193,1,197,1,200,3],[],[],[],[],[],[],[],[],[],[],[],[],[],[],[],[],[],[],[],[],[],[],[],[],[],[],[],[],[],[],[],[],[],[],[],[],[],[],[],[],[],[],[]]
              },
              "ws_sessions": {
                "type": "counter",
                "counts": [10,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0]
              }
            },
            "heat_bins_per_octave": 8
          },
          "by_load": {
            "unit": "users",
            "latency": "rtt",
            "plateaus": [{
              "least": 100.0,
              "most": 100.0,
              "mean": 100.0,
              "start_seconds": 0.0,
              "seconds": 44.5,
              "iterations": 10,
              "failed_iterations": 2,
              "checks": 10,
              "failed_checks": 1,
              "requests": 1,
              "failed_requests": 0,
              "latency": {
                "count": 5,
                "min": 185,
                "mean": 299.8,
                "p50": 336,
                "p90": 359,
                "p95": 362,
                "p99": 364,
                "p99_9": 365,
                "max": 365
              },
              "losses": null,
              "targets": []
            }],
            "curve": [],
            "curve_is_held": false,
            "knee": null
          },
          "losses": {
            "expected": 100,
            "received": 99,
            "lost": 1,
            "duplicated": 0,
            "out_of_order": 2
          },
          "targets": [{
            "name": "server",
            "what": "process 4711",
            "cpu_seconds": 60.0,
            "cores": 1.5,
            "cores_max": 1.75,
            "rss_max_bytes": 12000000,
            "rss_per_user_bytes": 20000,
            "rss_per_user": null,
            "no_rss_per_user": null,
            "pss_max_bytes": null,
            "threads_max": 3,
            "open_files_max": 109,
            "sockets_max": null,
            "processes_max": null,
            "sampling_cpu_seconds": 0.0625,
            "missed": 0,
            "series_left_out": 0,
            "series": {
              "cpu_cores": [1.25,1.75,null]
            },
            "fits": [{
              "of": "rss_bytes",
              "against": "vus",
              "intercept": 10000000.0,
              "slope": 19500.0,
              "slope_error": 250.5,
              "n": 38
            }],
            "no_fits": [],
            "ended": null
          }],
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
            "lateness_bound_ms": null,
            "waiting_share": null,
            "doubtful": false,
            "doubt": null,
            "reasons": [],
            "series": {
              "cpu_cores": [null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null],
              "rss_bytes": [null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null],
              "lateness_max_us": [null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null]
            },
            "machine": {
              "other_cores": 0.0,
              "programs": [],
              "other_programs": null,
              "pressure_share": null,
              "group_pressure_share": null
            }
          }
        }"#]]
    .assert_eq(&crate::json(&summary).unwrap());
}

#[test]
fn a_run_of_no_time_has_no_infinite_rates() {
    let run = RunResult {
        duration: Duration::ZERO,
        ..run()
    };
    let metrics = super::metrics::all(&run.metrics, 0.0, std::iter::empty(), &trend_stats());
    assert_eq!(
        metrics["ws_sessions"].values,
        Values::Counter {
            count: 10.0,
            rate: 0.0
        }
    );
}

#[test]
fn a_summary_is_read_as_it_was_written() {
    let trend_stats = trend_stats();
    let (run, scripted) = (run(), scripted::scripted());
    for run in [&run, &scripted] {
        let mut parts = parts(run, &trend_stats);
        parts.losses = Some(Losses::default());
        let mut summary = Summary::new(parts);
        summary.targets = vec![target()];
        summary.end = End::Aborted {
            reason: "enough".to_owned(),
        };
        let text = crate::json(&summary).unwrap();
        assert_eq!(Summary::read(&text).unwrap(), summary);
    }
}
