//! The document, byte for byte: other programs read it.

use expect_test::{Expect, expect};

use super::*;
use crate::outcome::{
    Workload,
    examples::{broadcast_step, connect_step, echo_step, faulty_step, outcome},
};

fn check(outcome: &Outcome, expected: &Expect) {
    expected.assert_eq(&document(outcome));
}

#[test]
fn a_broadcast_run() {
    let mut outcome = outcome(Workload::Broadcast, vec![faulty_step()]);
    outcome.messages = outcome.remarks();
    check(
        &outcome,
        &expect![[r#"
            {
              "messages": [
                "Missing received broadcasts: expected 100000, got 99993",
                "Extra received broadcasts: expected 100000, got 99996",
                "deliveries after the end of their step: 1 (the lines of their step call them lost, the totals do not; their times are not measured)"
              ],
              "steps": [
                {
                  "time": "2023-11-14T22:13:20.000Z",
                  "clients": 1000,
                  "limit_per": 95,
                  "per-rtt": 76,
                  "min-rtt": 0,
                  "median-rtt": 30,
                  "max-rtt": 1382,
                  "per-delivery": 95,
                  "min-delivery": 1,
                  "median-delivery": 48,
                  "max-delivery": 101,
                  "plimsoll": {
                    "connect": {
                      "seconds": 0.4,
                      "generator_cpu_seconds": 0.21,
                      "watch": {
                        "cpu_seconds": 0.13,
                        "rss_bytes": 34500000,
                        "n_threads": 4,
                        "n_open_files": 1012
                      },
                      "n_connected": 1000,
                      "n_failed": 4,
                      "failures": {
                        "connection refused": 3,
                        "timed out in the HTTP upgrade": 1
                      },
                      "latency_us": {
                        "count": 1000,
                        "min": 100,
                        "mean": 50050.0,
                        "p50": 50063,
                        "p90": 90053,
                        "p95": 95042,
                        "p99": 99008,
                        "p99_9": 99903,
                        "max": 100000
                      },
                      "tcp_connect_us": {
                        "count": 1000,
                        "min": 50,
                        "mean": 25025.0,
                        "p50": 25031,
                        "p90": 45026,
                        "p95": 47521,
                        "p99": 49504,
                        "p99_9": 49951,
                        "max": 50000
                      },
                      "upgrade_us": {
                        "count": 1000,
                        "min": 25,
                        "mean": 12512.5,
                        "p50": 12515,
                        "p90": 22513,
                        "p95": 23760,
                        "p99": 24751,
                        "p99_9": 24975,
                        "max": 25000
                      },
                      "welcome_us": {
                        "count": 1000,
                        "min": 1,
                        "mean": 500.5,
                        "p50": 501,
                        "p90": 900,
                        "p95": 950,
                        "p99": 990,
                        "p99_9": 999,
                        "max": 1000
                      },
                      "subscribe_us": {
                        "count": 1000,
                        "min": 25,
                        "mean": 12512.5,
                        "p50": 12515,
                        "p90": 22513,
                        "p95": 23760,
                        "p99": 24751,
                        "p99_9": 24975,
                        "max": 25000
                      }
                    },
                    "sampling": {
                      "seconds": 0.5,
                      "generator_cpu_seconds": 0.26,
                      "watch": {
                        "cpu_seconds": 0.31,
                        "rss_bytes": 35000000,
                        "n_threads": 4,
                        "n_open_files": null
                      }
                    },
                    "n_dropped": 1,
                    "drops": {
                      "disconnected by the server: too_slow": 1
                    },
                    "n_sent": 100,
                    "n_unanswered": 2,
                    "acknowledgement_us": {
                      "count": 100,
                      "min": 500,
                      "mean": 25250.0,
                      "p50": 25250,
                      "p90": 45050,
                      "p95": 47525,
                      "p99": 49505,
                      "p99_9": 49951,
                      "max": 50000
                    },
                    "n_broadcasts": 100,
                    "n_deliveries_expected": 100000,
                    "n_deliveries": 99993,
                    "n_late": 1,
                    "n_lost": 7,
                    "n_duplicated": 3,
                    "n_out_of_order": 4,
                    "last_delivery_us": {
                      "count": 100,
                      "min": 1000,
                      "mean": 50500.0,
                      "p50": 50500,
                      "p90": 90100,
                      "p95": 95050,
                      "p99": 99010,
                      "p99_9": 99901,
                      "max": 100000,
                      "lower_bounds_from": 64000
                    },
                    "listener_us": {
                      "count": 1000,
                      "min": 67,
                      "mean": 33366.334,
                      "p50": 33375,
                      "p90": 60009,
                      "p95": 63362,
                      "p99": 66048,
                      "p99_9": 66623,
                      "max": 66666,
                      "lower_bounds_from": 64000
                    },
                    "lower_bounds_from_us": 64000,
                    "in_flight": {
                      "max": 4,
                      "mean": 3.875
                    },
                    "generator": {
                      "doubtful": true,
                      "doubt": "busy",
                      "reasons": [
                        "its workers were too busy"
                      ],
                      "lateness_bound_ms": null,
                      "other_programs": null
                    }
                  }
                }
              ],
              "plimsoll": {
                "version": "0.1.0",
                "workload": "broadcast",
                "target": "ws://127.0.0.1:8080/cable",
                "server_type": "actioncable",
                "workers": 2,
                "seed": 7,
                "seconds": 12.345,
                "interrupted": false,
                "faulty": true,
                "generator_doubtful": true,
                "deliveries": {
                  "n_deliveries_expected": 100000,
                  "n_deliveries": 99993,
                  "n_late": 1,
                  "n_lost": 7,
                  "n_duplicated": 3,
                  "n_out_of_order": 4
                },
                "n_foreign": 0,
                "n_stray_answers": 0,
                "n_altered": 0,
                "load": {
                  "model": "closed",
                  "concurrent": 4,
                  "sample_size": 100
                },
                "targets": []
              }
            }
        "#]],
    );
}

#[test]
fn a_connect_run() {
    check(
        &outcome(Workload::Connect, vec![connect_step()]),
        &expect![[r#"
            {
              "messages": [],
              "steps": [
                {
                  "time": "2023-11-14T22:13:20.000Z",
                  "clients": 1000,
                  "limit_per": 95,
                  "per-rtt": 76,
                  "min-rtt": 0,
                  "median-rtt": 30,
                  "max-rtt": 1382,
                  "plimsoll": {
                    "connect": {
                      "seconds": 0.4,
                      "generator_cpu_seconds": 0.21,
                      "watch": {
                        "cpu_seconds": 0.13,
                        "rss_bytes": 34500000,
                        "n_threads": 4,
                        "n_open_files": 1012
                      },
                      "n_connected": 1000,
                      "n_failed": 0,
                      "failures": {},
                      "latency_us": {
                        "count": 1000,
                        "min": 100,
                        "mean": 50050.0,
                        "p50": 50063,
                        "p90": 90053,
                        "p95": 95042,
                        "p99": 99008,
                        "p99_9": 99903,
                        "max": 100000
                      },
                      "tcp_connect_us": {
                        "count": 1000,
                        "min": 50,
                        "mean": 25025.0,
                        "p50": 25031,
                        "p90": 45026,
                        "p95": 47521,
                        "p99": 49504,
                        "p99_9": 49951,
                        "max": 50000
                      },
                      "upgrade_us": {
                        "count": 1000,
                        "min": 25,
                        "mean": 12512.5,
                        "p50": 12515,
                        "p90": 22513,
                        "p95": 23760,
                        "p99": 24751,
                        "p99_9": 24975,
                        "max": 25000
                      },
                      "welcome_us": {
                        "count": 1000,
                        "min": 1,
                        "mean": 500.5,
                        "p50": 501,
                        "p90": 900,
                        "p95": 950,
                        "p99": 990,
                        "p99_9": 999,
                        "max": 1000
                      },
                      "subscribe_us": {
                        "count": 1000,
                        "min": 25,
                        "mean": 12512.5,
                        "p50": 12515,
                        "p90": 22513,
                        "p95": 23760,
                        "p99": 24751,
                        "p99_9": 24975,
                        "max": 25000
                      }
                    },
                    "sampling": null,
                    "n_dropped": 0,
                    "drops": {},
                    "generator": {
                      "doubtful": false,
                      "doubt": null,
                      "reasons": [],
                      "lateness_bound_ms": null,
                      "other_programs": null
                    }
                  }
                }
              ],
              "plimsoll": {
                "version": "0.1.0",
                "workload": "connect",
                "target": "ws://127.0.0.1:8080/cable",
                "server_type": "actioncable",
                "workers": 2,
                "seed": 7,
                "seconds": 12.345,
                "interrupted": false,
                "faulty": false,
                "generator_doubtful": false,
                "deliveries": null,
                "n_foreign": 0,
                "n_stray_answers": 0,
                "n_altered": 0,
                "load": null,
                "targets": []
              }
            }
        "#]],
    );
}

#[test]
fn an_echo_run_says_nothing_about_deliveries() {
    let json = document(&outcome(Workload::Echo, vec![echo_step()]));
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["plimsoll"]["deliveries"], serde_json::Value::Null);
    let keys: Vec<_> = json["steps"][0]["plimsoll"]
        .as_object()
        .unwrap()
        .keys()
        .cloned()
        .collect();
    assert!(
        !keys
            .iter()
            .any(|key| key.contains("deliver") || key.contains("listener")),
        "{keys:?}"
    );
}

#[test]
fn the_chart_script_of_websocket_bench_finds_its_keys() {
    let json = document(&outcome(Workload::Broadcast, vec![broadcast_step()]));
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let step = &json["steps"][0];
    let figures = [
        "clients",
        "limit_per",
        "per-rtt",
        "min-rtt",
        "median-rtt",
        "max-rtt",
    ];
    assert_eq!(
        figures.map(|key| step[key].as_u64().unwrap()),
        [1000, 95, 76, 0, 30, 1382]
    );
    assert_eq!(
        (&step["time"], &json["messages"]),
        (&"2023-11-14T22:13:20.000Z".into(), &serde_json::json!([]))
    );
}
