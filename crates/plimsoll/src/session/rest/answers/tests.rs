//! Requests and what comes of them.

use std::{sync::Arc, time::Duration};

use expect_test::{Expect, expect};
use plimsoll_load::{
    attempts::Attempts,
    executor::Executor,
    generator::Schedule,
    metrics::{Kind, MetricSet, Recorder, Registry, Selector, built_in::Http},
    plan::Plan,
    run::{Control, Failures, Progress, Stretch},
    threshold::Finding,
};

use super::{super::hosts::is_expected, *};

fn controlled() -> Plan {
    Plan::single(Executor::ExternallyControlled {
        vus: 2,
        max_vus: 5,
        duration: None,
    })
}

fn looping() -> Plan {
    Plan::single(Executor::ConstantVus {
        vus: 2,
        duration: Duration::from_secs(9),
        graceful_stop: Duration::ZERO,
    })
}

/// Asks a run of `plan`, as the machine's own tools do.
struct Asked {
    snapshot: Snapshot,
    orders: Orders,
}

impl Asked {
    fn of(plan: &Plan) -> Self {
        Self {
            snapshot: Snapshot::new(plan),
            orders: Orders::new(Control::of(plan)),
        }
    }

    fn ask(&self, method: &str, path: &str, body: &str) -> Answer {
        let question = Question {
            method,
            path,
            is_expected: true,
            content_type: Some("application/json"),
            body: body.as_bytes(),
        };
        answer(&question, &self.snapshot, &self.orders)
    }

    fn get(&self, path: &str) -> String {
        brief(&self.ask("GET", path, ""))
    }

    fn patch(&self, attributes: &str) -> String {
        let body = format!(r#"{{"data":{{"type":"status","id":"default","attributes":{attributes}}}}}"#);
        brief(&self.ask("PATCH", "/v1/status", &body))
    }
}

fn brief(answer: &Answer) -> String {
    let document = answer
        .document
        .as_ref()
        .map(ToString::to_string)
        .unwrap_or_default();
    format!("{} {document}\n", answer.status)
}

#[test]
fn a_controlled_run_is_paused_resumed_scaled_and_stopped() {
    let run = Asked::of(&controlled());
    let said = [
        run.get("/v1/status"),
        run.patch(r#"{"paused":true}"#),
        run.patch(r#"{"paused":true,"vus":null}"#),
        run.patch(r#"{"paused":false,"vus":4,"vus-max":8}"#),
        run.patch(r#"{"vus":9}"#),
        run.patch(r#"{"stopped":true}"#),
        run.patch(r#"{"stopped":false}"#),
    ];
    expect![[r#"
        200 {"data":{"type":"status","id":"default","attributes":{"status":4,"paused":false,"vus":2,"vus-max":5,"stopped":false,"running":false,"tainted":false}}}
        200 {"data":{"type":"status","id":"default","attributes":{"status":4,"paused":true,"vus":2,"vus-max":5,"stopped":false,"running":false,"tainted":false}}}
        200 {"data":{"type":"status","id":"default","attributes":{"status":4,"paused":true,"vus":2,"vus-max":5,"stopped":false,"running":false,"tainted":false}}}
        200 {"data":{"type":"status","id":"default","attributes":{"status":4,"paused":false,"vus":4,"vus-max":8,"stopped":false,"running":false,"tainted":false}}}
        409 {"errors":[{"status":"409","title":"Conflict","detail":"9 of 8 virtual users are not possible; expected vus up to max, and max from 1 to 100000000"}]}
        200 {"data":{"type":"status","id":"default","attributes":{"status":4,"paused":false,"vus":4,"vus-max":8,"stopped":true,"running":false,"tainted":false}}}
        409 {"errors":[{"status":"409","title":"Conflict","detail":"a stopped run cannot be resumed"}]}
    "#]].assert_eq(&said.concat());
}

#[test]
fn other_runs_are_resumed_and_stopped_only() {
    let run = Asked::of(&Plan {
        paused: true,
        ..looping()
    });
    let said = [
        run.patch(r#"{"paused":true}"#),
        run.patch(r#"{"paused":false}"#),
        run.patch(r#"{"paused":true}"#),
        run.patch(r#"{"vus":3}"#),
    ];
    expect![[r#"
        200 {"data":{"type":"status","id":"default","attributes":{"status":4,"paused":true,"vus":0,"vus-max":0,"stopped":false,"running":false,"tainted":false}}}
        200 {"data":{"type":"status","id":"default","attributes":{"status":4,"paused":false,"vus":0,"vus-max":0,"stopped":false,"running":false,"tainted":false}}}
        409 {"errors":[{"status":"409","title":"Conflict","detail":"this run has no `externally-controlled` scenario, so it can be neither paused nor scaled"}]}
        409 {"errors":[{"status":"409","title":"Conflict","detail":"this run has no `externally-controlled` scenario, so it can be neither paused nor scaled"}]}
    "#]].assert_eq(&said.concat());
}

#[test]
fn what_is_no_order_is_refused_with_what_was_expected() {
    let run = Asked::of(&controlled());
    let said = [
        run.patch(r#"{"paused":"yes"}"#),
        run.patch(r#"{"vus":-1}"#),
        run.patch(r#"{"speed":1}"#),
        brief(&run.ask("PATCH", "/v1/status", "paused=true")),
        brief(&run.ask("PATCH", "/v1/status", "{}")),
        brief(&run.ask("POST", "/v1/status", "{}")),
        brief(&run.ask("PUT", "/v1/setup", "{}")),
        brief(&run.ask("POST", "/v1/teardown", "{}")),
        brief(&run.ask("DELETE", "/v1/metrics", "")),
        run.get("/v1/metrics/rtt"),
        run.get("/v1/groups/0"),
        run.get("/"),
    ];
    expect![[r#"
        400 {"errors":[{"status":"400","title":"Bad Request","detail":"`paused`: expected true or false, found \"yes\"; expected something like {\"data\": {\"type\": \"status\", \"id\": \"default\", \"attributes\": {\"paused\": true}}}"}]}
        400 {"errors":[{"status":"400","title":"Bad Request","detail":"`vus`: expected a whole number, found -1; expected something like {\"data\": {\"type\": \"status\", \"id\": \"default\", \"attributes\": {\"paused\": true}}}"}]}
        400 {"errors":[{"status":"400","title":"Bad Request","detail":"there is no attribute `speed`; expected something like {\"data\": {\"type\": \"status\", \"id\": \"default\", \"attributes\": {\"paused\": true}}}"}]}
        400 {"errors":[{"status":"400","title":"Bad Request","detail":"the body is not JSON: expected value at line 1 column 1; expected something like {\"data\": {\"type\": \"status\", \"id\": \"default\", \"attributes\": {\"paused\": true}}}"}]}
        400 {"errors":[{"status":"400","title":"Bad Request","detail":"`data.attributes` is missing; expected something like {\"data\": {\"type\": \"status\", \"id\": \"default\", \"attributes\": {\"paused\": true}}}"}]}
        405 {"errors":[{"status":"405","title":"Method Not Allowed","detail":"expected GET or PATCH"}]}
        501 {"errors":[{"status":"501","title":"Not Implemented","detail":"setup and teardown cannot be called or replaced from outside"}]}
        501 {"errors":[{"status":"501","title":"Not Implemented","detail":"setup and teardown cannot be called or replaced from outside"}]}
        405 {"errors":[{"status":"405","title":"Method Not Allowed","detail":"expected GET"}]}
        404 {"errors":[{"status":"404","title":"Not Found","detail":"no metric of this name has samples"}]}
        404 {"errors":[{"status":"404","title":"Not Found","detail":"no group has this id"}]}
        404 {"errors":[{"status":"404","title":"Not Found","detail":"expected /v1/status, /v1/metrics or /v1/groups"}]}
    "#]].assert_eq(&said.concat());
}

#[test]
fn web_pages_cannot_ask() {
    let run = Asked::of(&controlled());
    for (host, content_type, expected) in [
        (Some("localhost:6565"), Some("application/json"), 400),
        (
            Some("LOCALHOST"),
            Some("application/vnd.api+json; charset=utf-8"),
            400,
        ),
        (Some("127.0.0.1:1"), Some("Application/JSON"), 400),
        (Some("[::1]:6565"), Some("application/json"), 400),
        (Some("[::1]"), Some("application/json"), 400),
        (Some("localhost"), Some("text/plain"), 415),
        (Some("localhost"), Some("application/x-www-form-urlencoded"), 415),
        (Some("localhost"), None, 415),
        (Some("attacker.example:6565"), Some("application/json"), 403),
        (Some("localhost.attacker.example"), Some("application/json"), 403),
        (Some("192.168.0.1:6565"), Some("application/json"), 403),
        (None, Some("application/json"), 403),
    ] {
        let question = Question {
            method: "PATCH",
            path: "/v1/status",
            is_expected: host.is_some_and(|host| is_expected(host, &[])),
            content_type,
            body: b"",
        };
        let status = answer(&question, &run.snapshot, &run.orders).status;
        assert_eq!(status, expected, "{host:?} {content_type:?}");
    }
}

#[test]
fn metrics_and_groups_are_told() {
    let mut run = Asked::of(&looping());
    let mut registry = Registry::new();
    let http = Http::register(&mut registry).unwrap();
    registry.rate("checks").unwrap();
    let duration = registry.find("http_req_duration").unwrap();
    let part = registry.sub_metric(
        duration,
        &Selector::new([("status".to_owned(), "200".to_owned())].into()),
    );
    assert_eq!(registry.definition(duration).kind, Kind::Trend);
    let recorder = Recorder::new(MetricSet::new(Arc::new(registry)));
    let tagged = recorder.with_tags([("status", "200"), ("group", "::front::login")]);
    for ms in [10, 20, 30] {
        tagged.record(http.duration, Duration::from_millis(ms));
        tagged.count(http.reqs, 1);
        tagged.check_named("::front::login", "is there", ms != 20);
    }
    recorder.check_named("", "is up", true);
    let metrics = recorder.take();
    let finding = Finding {
        id: part,
        metric: "http_req_duration{ status:200 }".to_owned(),
        expression: "max<25".to_owned(),
        aggregation: "max".to_owned(),
        value: Some(30.0),
        passed: false,
        aborted: false,
    };
    run.snapshot.update(&Progress {
        elapsed: Duration::from_secs(2),
        active_vus: 2,
        max_vus: 2,
        n_iterations_complete: 3,
        n_interrupted: 0,
        scenarios: Vec::new(),
        thresholds: vec![finding],
        metrics: &metrics,
        recent: &Stretch::empty(&metrics),
        notices: &[],
        failures: &Failures::default(),
        attempts: Attempts::of_run(&metrics, 0, 0),
        schedule: Schedule::default(),
        agents: Vec::new(),
    });
    check(
        &run.ask("GET", "/v1/status", ""),
        &expect![[r#"
            {
              "data": {
                "type": "status",
                "id": "default",
                "attributes": {
                  "status": 7,
                  "paused": false,
                  "vus": 2,
                  "vus-max": 2,
                  "stopped": false,
                  "running": true,
                  "tainted": true
                }
              }
            }"#]],
    );
    check(
        &run.ask("GET", "/v1/metrics/", ""),
        &expect![[r#"
            {
              "data": [
                {
                  "type": "metrics",
                  "id": "checks",
                  "attributes": {
                    "type": "rate",
                    "contains": "default",
                    "tainted": null,
                    "sample": {
                      "rate": 0.75
                    }
                  }
                },
                {
                  "type": "metrics",
                  "id": "http_req_duration",
                  "attributes": {
                    "type": "trend",
                    "contains": "time",
                    "tainted": null,
                    "sample": {
                      "avg": 20.0,
                      "min": 10.0,
                      "med": 20.0,
                      "max": 30.0,
                      "p(90)": 28.0,
                      "p(95)": 29.0
                    }
                  }
                },
                {
                  "type": "metrics",
                  "id": "http_req_duration{status:200}",
                  "attributes": {
                    "type": "trend",
                    "contains": "time",
                    "tainted": true,
                    "sample": {
                      "avg": 20.0,
                      "min": 10.0,
                      "med": 20.0,
                      "max": 30.0,
                      "p(90)": 28.0,
                      "p(95)": 29.0
                    }
                  }
                },
                {
                  "type": "metrics",
                  "id": "http_reqs",
                  "attributes": {
                    "type": "counter",
                    "contains": "default",
                    "tainted": null,
                    "sample": {
                      "count": 3,
                      "rate": 1.5
                    }
                  }
                }
              ]
            }"#]],
    );
    let part = run.ask("GET", "/v1/metrics/http_req_duration%7Bstatus:200%7D", "");
    assert_eq!(part.document.unwrap()["data"]["attributes"]["tainted"], true);
    let groups = run.ask("GET", "/v1/groups", "");
    check(
        &groups,
        &expect![[r#"
            {
              "data": [
                {
                  "type": "groups",
                  "id": "d41d8cd98f00b204e9800998ecf8427e",
                  "attributes": {
                    "path": "",
                    "name": "",
                    "checks": [
                      {
                        "id": "96bc919eb37eb6444225e869c1a0012c",
                        "path": "::is up",
                        "name": "is up",
                        "passes": 1,
                        "fails": 0
                      }
                    ]
                  },
                  "relationships": {
                    "groups": {
                      "data": [
                        {
                          "type": "groups",
                          "id": "6972d1500632a99e8640138dbf1dc09e"
                        }
                      ]
                    },
                    "parent": {
                      "data": null
                    }
                  }
                },
                {
                  "type": "groups",
                  "id": "6972d1500632a99e8640138dbf1dc09e",
                  "attributes": {
                    "path": "::front",
                    "name": "front",
                    "checks": []
                  },
                  "relationships": {
                    "groups": {
                      "data": [
                        {
                          "type": "groups",
                          "id": "b705dfbaf15f2985289750126488ad7d"
                        }
                      ]
                    },
                    "parent": {
                      "data": {
                        "type": "groups",
                        "id": "d41d8cd98f00b204e9800998ecf8427e"
                      }
                    }
                  }
                },
                {
                  "type": "groups",
                  "id": "b705dfbaf15f2985289750126488ad7d",
                  "attributes": {
                    "path": "::front::login",
                    "name": "login",
                    "checks": [
                      {
                        "id": "7ce6aa61a13039fd876566d8e8547c23",
                        "path": "::front::login::is there",
                        "name": "is there",
                        "passes": 2,
                        "fails": 1
                      }
                    ]
                  },
                  "relationships": {
                    "groups": {
                      "data": []
                    },
                    "parent": {
                      "data": {
                        "type": "groups",
                        "id": "6972d1500632a99e8640138dbf1dc09e"
                      }
                    }
                  }
                }
              ]
            }"#]],
    );
    for group in groups.document.unwrap()["data"].as_array().unwrap() {
        let path = format!("/v1/groups/{}", group["id"].as_str().unwrap());
        assert_eq!(run.ask("GET", &path, "").document.unwrap()["data"], *group);
    }
}

fn check(answer: &Answer, expected: &Expect) {
    assert_eq!(answer.status, 200);
    expected.assert_eq(&serde_json::to_string_pretty(answer.document.as_ref().unwrap()).unwrap());
}
