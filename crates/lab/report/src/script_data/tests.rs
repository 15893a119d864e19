//! The data of a run for scripts and files.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use expect_test::{Expect, expect};
use plimsoll_load::{
    metrics::{self, MetricSet, Recorder, Registry},
    run::RunResult,
};
use proptest::prelude::*;
use serde_json::Value;

use super::*;
use crate::{
    Layout, Style, SummaryMode,
    quantity::TimeUnit,
    summary::tests::{scripted::scripted, summary, summary_with, trend_stats},
};

/// The part at `pointer` (RFC 6901).
fn check(value: &Value, pointer: &str, expected: &Expect) {
    expected.assert_eq(&serde_json::to_string_pretty(value.pointer(pointer).unwrap()).unwrap());
}

fn script_data() -> Value {
    let (stats, setup_data) = (trend_stats(), json!({ "token": "x" }));
    summary(&scripted()).script_data(&ScriptOptions {
        trend_stats: &stats,
        time_unit: "",
        setup_data: Some(&setup_data),
        is_stdout_terminal: true,
        ..ScriptOptions::default()
    })
}

#[test]
fn scripts_get_the_tree_of_groups() {
    check(
        &script_data(),
        "/root_group",
        &expect![[r#"
            {
              "name": "",
              "path": "",
              "id": "d41d8cd98f00b204e9800998ecf8427e",
              "groups": [
                {
                  "name": "outer",
                  "path": "::outer",
                  "id": "c34b428ee7255085dfe7fef53d3394d5",
                  "groups": [
                    {
                      "name": "inner",
                      "path": "::outer::inner",
                      "id": "b6c425bc7b9e3d21a2d56ce7a6de3614",
                      "groups": [],
                      "checks": [
                        {
                          "name": "deep",
                          "path": "::outer::inner::deep",
                          "id": "a935e3dc0886f69695349968f863b5e2",
                          "passes": 6,
                          "fails": 0
                        }
                      ]
                    }
                  ],
                  "checks": [
                    {
                      "name": "is 200",
                      "path": "::outer::is 200",
                      "id": "da19337d2b1429e55e894a95ddf3cef3",
                      "passes": 5,
                      "fails": 1
                    }
                  ]
                },
                {
                  "name": "empty",
                  "path": "::empty",
                  "id": "2201ce103253c15843aa486b6b2f3ef8",
                  "groups": [],
                  "checks": []
                }
              ],
              "checks": [
                {
                  "name": "root check",
                  "path": "::root check",
                  "id": "060bf8e804882ca89365ce6437b83055",
                  "passes": 6,
                  "fails": 0
                }
              ]
            }"#]],
    );
}

#[test]
fn scripts_get_options_and_state() {
    let mut data = script_data();
    let metrics = data["metrics"].take();
    data["root_group"].take();
    check(
        &data,
        "",
        &expect![[r#"
            {
              "root_group": null,
              "options": {
                "summaryTrendStats": [
                  "avg",
                  "min",
                  "med",
                  "max",
                  "p(90)",
                  "p(95)"
                ],
                "summaryTimeUnit": "",
                "noColor": false
              },
              "state": {
                "isStdOutTTY": true,
                "isStdErrTTY": false,
                "testRunDurationMs": 10000
              },
              "metrics": null,
              "generator": {
                "doubtful": false,
                "reasons": []
              },
              "setup_data": {
                "token": "x"
              }
            }"#]],
    );
    let names: Vec<_> = metrics.as_object().unwrap().keys().cloned().collect();
    expect![[r#"
        acks_rcvd
        checks
        data_received
        data_sent
        group_duration
        http_req_blocked
        http_req_duration
        http_req_duration{ kind:'a' }
        http_req_failed
        http_reqs
        http_reqs{kind:none}
        iteration_duration
        iterations
        level
        never
        never_timed
        ok_rate
        ok_rate{kind:none}
        plain
        rtt
        vus
        vus_max"#]]
    .assert_eq(&names.join("\n"));
}

#[test]
fn scripts_get_metrics_with_thresholds_under_the_names_that_they_wrote() {
    let metrics: BTreeMap<String, Value> = serde_json::from_value(script_data()["metrics"].clone()).unwrap();
    let chosen = [
        "acks_rcvd",
        "http_req_duration{ kind:'a' }",
        "level",
        "ok_rate{kind:none}",
    ];
    let chosen: Value = chosen.map(|name| metrics[name].clone()).into_iter().collect();
    check(
        &chosen,
        "",
        &expect![[r#"
            [
              {
                "type": "counter",
                "contains": "default",
                "values": {
                  "count": 6,
                  "rate": 0.6
                },
                "thresholds": {
                  "count>1": {
                    "ok": true
                  },
                  "rate>1000": {
                    "ok": false
                  }
                }
              },
              {
                "type": "trend",
                "contains": "time",
                "values": {
                  "avg": 3.5,
                  "min": 1,
                  "med": 3.5,
                  "max": 6,
                  "p(90)": 5.5,
                  "p(95)": 5.75
                },
                "thresholds": {
                  "p(95)<500": {
                    "ok": true
                  },
                  "avg<0.0001": {
                    "ok": false
                  }
                }
              },
              {
                "type": "gauge",
                "contains": "default",
                "values": {
                  "value": 5,
                  "min": 0,
                  "max": 5
                }
              },
              {
                "type": "rate",
                "contains": "default",
                "values": {
                  "rate": 0,
                  "passes": 0,
                  "fails": 0
                },
                "thresholds": {
                  "rate>0.5": {
                    "ok": true
                  }
                }
              }
            ]"#]],
    );
}

#[test]
fn the_exported_file_has_the_older_shape() {
    let mut summary = summary(&scripted());
    summary.groups.truncate(2);
    summary.checks.truncate(2);
    let kept = ["acks_rcvd", "checks", "rtt"];
    summary.metrics.retain(|name, _| kept.contains(&name.as_str()));
    expect![[r#"
        {
            "root_group": {
                "name": "",
                "path": "",
                "id": "d41d8cd98f00b204e9800998ecf8427e",
                "groups": {
                    "outer": {
                        "name": "outer",
                        "path": "::outer",
                        "id": "c34b428ee7255085dfe7fef53d3394d5",
                        "groups": {
                            "inner": {
                                "name": "inner",
                                "path": "::outer::inner",
                                "id": "b6c425bc7b9e3d21a2d56ce7a6de3614",
                                "groups": {},
                                "checks": {
                                    "deep": {
                                        "name": "deep",
                                        "path": "::outer::inner::deep",
                                        "id": "a935e3dc0886f69695349968f863b5e2",
                                        "passes": 6,
                                        "fails": 0
                                    }
                                }
                            }
                        },
                        "checks": {
                            "is 200": {
                                "name": "is 200",
                                "path": "::outer::is 200",
                                "id": "da19337d2b1429e55e894a95ddf3cef3",
                                "passes": 5,
                                "fails": 1
                            }
                        }
                    }
                },
                "checks": {}
            },
            "metrics": {
                "acks_rcvd": {
                    "count": 6,
                    "rate": 0.6,
                    "thresholds": {
                        "count>1": false,
                        "rate>1000": true
                    }
                },
                "checks": {
                    "fails": 1,
                    "passes": 17,
                    "value": 0.9444444444444444,
                    "thresholds": {
                        "rate>0.9": false
                    }
                },
                "rtt": {
                    "avg": 0.875,
                    "min": 0.25,
                    "med": 0.875,
                    "max": 1.5,
                    "p(90)": 1.375,
                    "p(95)": 1.4375
                }
            },
            "generator": {
                "doubtful": false,
                "reasons": []
            },
            "setup_data": [
                1,
                2
            ]
        }"#]]
    .assert_eq(&summary.export(Some(&json!([1, 2]))));
}

#[test]
fn the_machine_readable_file_has_the_next_shape() {
    let mut summary = summary(&scripted());
    let kept = ["checks", "rtt", "vus", "ok_rate", "iterations"];
    summary.metrics.retain(|name, _| kept.contains(&name.as_str()));
    summary.metrics.get_mut("rtt").unwrap().figures.pop();
    expect![[r#"
        {
            "version": "1.0.0",
            "config": {
                "script": "export default () => {}",
                "duration": 10,
                "execution": "local"
            },
            "metadata": {
                "k6_version": "plimsoll 0.1.0",
                "generated_at": "2026-11-21T19:49:03.120Z"
            },
            "generator": {
                "doubtful": false,
                "reasons": []
            },
            "results": {
                "checks": {
                    "metrics": [
                        {
                            "name": "checks_total",
                            "type": "counter",
                            "contains": "default",
                            "values": {
                                "count": 18
                            }
                        },
                        {
                            "name": "checks_failed",
                            "type": "rate",
                            "contains": "default",
                            "values": {
                                "matches": 1,
                                "total": 18,
                                "rate": 0.05555555555555555
                            }
                        },
                        {
                            "name": "checks_succeeded",
                            "type": "rate",
                            "contains": "default",
                            "values": {
                                "matches": 17,
                                "total": 18,
                                "rate": 0.9444444444444444
                            }
                        }
                    ],
                    "results": [
                        {
                            "name": "is 200",
                            "passes": 5,
                            "fails": 1
                        },
                        {
                            "name": "deep",
                            "passes": 6,
                            "fails": 0
                        },
                        {
                            "name": "root check",
                            "passes": 6,
                            "fails": 0
                        }
                    ]
                },
                "metrics": [
                    {
                        "name": "iterations",
                        "type": "counter",
                        "contains": "default",
                        "values": {
                            "count": 6
                        }
                    },
                    {
                        "name": "ok_rate",
                        "type": "rate",
                        "contains": "default",
                        "values": {
                            "matches": 2,
                            "total": 6,
                            "rate": 0.3333333333333333
                        }
                    },
                    {
                        "name": "rtt",
                        "type": "trend",
                        "contains": "time",
                        "values": {
                            "avg": 0.875,
                            "max": 1.5,
                            "med": 0.875,
                            "min": 0.25,
                            "p90": 1.375,
                            "p95": null
                        }
                    },
                    {
                        "name": "vus",
                        "type": "gauge",
                        "contains": "default",
                        "values": {
                            "value": 2,
                            "min": 2,
                            "max": 2
                        }
                    }
                ]
            }
        }"#]]
    .assert_eq(&summary.machine_readable("export default () => {}"));
}

/// Every number for scripts equals the one in the text, in all layouts and units.
fn check_agreement(summary: &Summary, unit: Option<TimeUnit>) {
    let data = summary.script_data(&ScriptOptions::default());
    for mode in [SummaryMode::Full, SummaryMode::Legacy] {
        let text = summary.end_of_test(
            Layout {
                mode,
                time_unit: unit,
            },
            Style::PLAIN,
        );
        for (name, metric) in data["metrics"].as_object().unwrap() {
            let dotted = format!("{name}...");
            let line = text
                .lines()
                .find(|line| line.trim_start_matches(['✓', '✗', ' ']).starts_with(&dotted));
            let line = line.unwrap_or_else(|| panic!("{name} is not in\n{text}"));
            for (stat, value) in metric["values"].as_object().unwrap() {
                let shown = shown(
                    metric,
                    stat,
                    value.as_f64().unwrap(),
                    summary.metrics[name].contains,
                    unit,
                );
                // In the newer layouts samples that were not true are in the sum of both.
                if stat != "fails" {
                    assert!(line.contains(&shown), "{name} {stat}: {shown} is not in {line}");
                }
            }
        }
    }
}

fn shown(metric: &Value, stat: &str, value: f64, contains: Contains, unit: Option<TimeUnit>) -> String {
    let figure = quantity::figure(contains, value, unit);
    match (metric["type"].as_str().unwrap(), stat) {
        ("trend", "count") => format!("count={value}"),
        ("trend", _) => format!("{stat}={figure}"),
        ("rate", "rate") => quantity::percent(value),
        ("rate", _) => value.to_string(),
        ("counter", "rate") => format!("{figure}/s"),
        ("gauge", "min" | "max") => format!("{stat}={figure}"),
        _ => figure,
    }
}

/// A run with a metric of each kind, all with these samples.
fn run_of(samples: &[f64], contains: metrics::Contains, duration: Duration) -> RunResult {
    let mut registry = Registry::new();
    let counter = registry.counter("a_counter", contains).unwrap();
    let gauge = registry.gauge("a_gauge", contains).unwrap();
    let rate = registry.rate("a_rate").unwrap();
    let trend = registry.trend_of("a_trend", contains).unwrap();
    let recorder = Recorder::new(MetricSet::new(Arc::new(registry)));
    for &sample in samples {
        recorder.add(counter, sample);
        recorder.set(gauge, sample);
        recorder.rate(rate, sample > 1.0);
        recorder.record_number(trend, sample);
    }
    RunResult {
        metrics: recorder.take(),
        duration,
        ..scripted()
    }
}

proptest! {
    #[test]
    fn text_and_data_agree(
        samples in prop::collection::vec(prop_oneof![0.0..2.0, 0.0..1e7], 1..20),
        contains in prop::sample::select(vec![
            metrics::Contains::Default,
            metrics::Contains::Time,
            metrics::Contains::Data,
        ]),
        unit in prop::option::of(prop::sample::select(vec![TimeUnit::Seconds, TimeUnit::Microseconds])),
        ms in 1..1_000_000_u64,
    ) {
        let mut run = run_of(&samples, contains, Duration::from_millis(ms));
        run.thresholds.clear();
        let stats = ["avg", "count", "p(0)", "p(33.3)", "med", "p(99.99)", "max"].map(str::to_owned);
        check_agreement(&summary_with(&run, &stats), unit);
    }
}
