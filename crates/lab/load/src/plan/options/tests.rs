//! Options: accepted and refused ones with reasons, and combined layers.

use std::time::Duration;

use serde_json::{Value, json};

use super::*;
use crate::{executor::Executor, plan::Plan};

fn options(value: &Value) -> Options {
    Options::from_json(value).unwrap().options
}

fn plan(value: &Value) -> Result<Plan, OptionsError> {
    Plan::from_options(&Options::from_json(value)?.options)
}

/// The executors of a plan, briefly.
fn executors(plan: &Plan) -> String {
    let texts = plan.scenarios.iter().map(|scenario| {
        let executor = &scenario.executor;
        let secs = executor
            .duration()
            .map_or(-1, |duration| duration.as_secs() as i64);
        let n = match executor {
            Executor::SharedIterations { iterations, .. } | Executor::PerVuIterations { iterations, .. } => {
                *iterations
            }
            Executor::ConstantArrivalRate(open) | Executor::RampingArrivalRate(open) => {
                open.arrivals.n_total()
            }
            _ => 0,
        };
        format!(
            "{} {} vus={}..{} n={n} {secs}s",
            scenario.name,
            executor.name(),
            executor.n_planned_vus(),
            executor.max_vus()
        )
    });
    texts.collect::<Vec<_>>().join("; ")
}

#[test]
fn shortcuts_stand_for_scenarios() {
    for (written, expected) in [
        (json!({}), "default per-vu-iterations vus=1..1 n=1 600s"),
        (json!({ "vus": 5 }), "default shared-iterations vus=5..5 n=5 600s"),
        (
            json!({ "vus": 5, "iterations": 20 }),
            "default shared-iterations vus=5..5 n=20 600s",
        ),
        (
            json!({ "iterations": 3.0, "duration": "1m" }),
            "default shared-iterations vus=1..1 n=3 60s",
        ),
        (
            json!({ "vus": 5, "duration": 90000 }),
            "default constant-vus vus=5..5 n=0 90s",
        ),
        (
            json!({ "stages": [{ "duration": "10s", "target": 7 }, { "duration": "1m", "target": 0 }] }),
            "default ramping-vus vus=7..7 n=0 70s",
        ),
    ] {
        assert_eq!(executors(&plan(&written).unwrap()), expected, "{written}");
    }
}

#[test]
fn all_executors_read() {
    let written = json!({ "scenarios": {
        "a": { "executor": "shared-iterations", "vus": 2, "iterations": 9, "maxDuration": "30s", "gracefulStop": "5s" },
        "b": { "executor": "per-vu-iterations", "vus": 3, "iterations": 4 },
        "c": { "executor": "constant-vus", "vus": 4, "duration": "20s", "startTime": "1m", "exec": "chat",
               "env": { "ROOM": "1" }, "tags": { "kind": "chat" }, "options": { "browser": {} } },
        "d": { "executor": "ramping-vus", "startVUs": 0, "gracefulRampDown": "3s",
               "stages": [{ "duration": "10s", "target": 5 }] },
        "e": { "executor": "constant-arrival-rate", "rate": 30, "timeUnit": "1m", "duration": "2m",
               "preAllocatedVUs": 2, "maxVUs": 6 },
        "f-f": { "executor": "ramping-arrival-rate", "startRate": 10, "preAllocatedVUs": 3,
                 "stages": [{ "duration": "10s", "target": 10 }] },
        "g_g": { "executor": "externally-controlled", "vus": 1, "maxVUs": 8, "duration": 0 },
    }});
    let plan = plan(&written).unwrap();
    assert_eq!(
        executors(&plan).replace("; ", "\n"),
        "a shared-iterations vus=2..2 n=9 30s\nb per-vu-iterations vus=3..3 n=4 600s\nc constant-vus vus=4..4 n=0 20s\n\
         d ramping-vus vus=5..5 n=0 10s\ne constant-arrival-rate vus=2..6 n=60 120s\n\
         f-f ramping-arrival-rate vus=3..3 n=100 10s\ng_g externally-controlled vus=8..8 n=0 -1s"
    );
    let chat = &plan.scenarios[2];
    assert_eq!(
        (chat.exec.as_str(), chat.start_time),
        ("chat", Duration::from_secs(60))
    );
    assert_eq!(
        (chat.env["ROOM"].as_str(), chat.tags["kind"].as_str()),
        ("1", "chat")
    );
    assert_eq!(
        plan.scenarios[0].executor.max_duration(),
        Some(Duration::from_secs(35))
    );
    assert_eq!(plan.max_duration(), None);
}

fn check_error(written: &Value, expected: &str) {
    let error = plan(written).unwrap_err().to_string();
    assert_eq!(error, expected, "{written}");
}

#[test]
fn errors_say_where_what_and_what_was_expected() {
    for (written, expected) in [
        (json!([]), "options: expected an object, found []"),
        (
            json!({ "vus": "ten" }),
            "vus: expected a whole number, for example 10, found \"ten\"",
        ),
        (
            json!({ "vus": 1.5 }),
            "vus: expected a whole number, for example 10, found 1.5",
        ),
        (
            json!({ "vus": 0 }),
            "vus: 0 virtual users are not possible; expected 1 to 100000000",
        ),
        (
            json!({ "duration": "5 minutes" }),
            "duration: expected a duration, for example \"1m30s\", or a number of milliseconds, found \"5 minutes\"",
        ),
        (
            json!({ "duration": 999 }),
            "duration: expected at least 1s; without a unit it is milliseconds",
        ),
        (
            json!({ "vus": 5, "iterations": 3 }),
            "iterations: 3 are too few for 5 virtual users; expected at least 5",
        ),
        (
            json!({ "stages": [{ "duration": "1s" }] }),
            "stages[0].target: is missing; expected a whole number, for example 10",
        ),
        (
            json!({ "stages": [{ "duration": "1s", "target": 1, "vus": 2 }] }),
            "stages[0].vus: is not a field here; expected one of duration, target",
        ),
        (
            json!({ "stages": [{ "duration": "0s", "target": 1 }] }),
            "stages: the stages have a total duration of zero; expected at least one stage with a duration, for \
             example 10s",
        ),
        (
            json!({ "stages": [], "iterations": 3 }),
            "stages: cannot be combined with `iterations`; remove one of them",
        ),
        (
            json!({ "scenarios": { "a": { "executor": "per-vu-iterations" } }, "duration": "10s" }),
            "scenarios: cannot be combined with `duration`; remove one of them",
        ),
        (
            json!({ "scenarios": { "a b": {} } }),
            "scenarios.a b: a scenario name may have only letters, digits, `_` and `-`, for example `chat_users`",
        ),
        (
            json!({ "scenarios": { "a": { "vus": 5 } } }),
            "scenarios.a.executor: is missing; expected shared-iterations, per-vu-iterations, constant-vus, \
             ramping-vus, constant-arrival-rate, ramping-arrival-rate or externally-controlled",
        ),
        (
            json!({ "scenarios": { "a": { "executor": "constant-vus", "duration": "5s", "rate": 5 } } }),
            "scenarios.a.rate: is not a field here; expected one of executor, exec, startTime, env, tags, vus, \
             duration, gracefulStop, options",
        ),
        (
            json!({ "scenarios": { "a": { "executor": "constant-vus" } } }),
            "scenarios.a.duration: is missing; expected a duration, for example \"1m30s\", or a number of milliseconds",
        ),
        (
            json!({ "scenarios": { "a": { "executor": "constant-arrival-rate", "rate": 0, "duration": "5s",
                                          "preAllocatedVUs": 1 } } }),
            "scenarios.a.rate: no iteration would ever start; expected a rate above 0, for example 10",
        ),
        (
            json!({ "scenarios": { "a": { "executor": "constant-arrival-rate", "rate": 1, "duration": "5s",
                                          "preAllocatedVUs": 5, "maxVUs": 2 } } }),
            "scenarios.a.maxVUs: 2 is less than preAllocatedVUs, which is 5",
        ),
        (
            json!({ "scenarios": { "a": { "executor": "externally-controlled", "vus": 1, "duration": "5s",
                                          "gracefulStop": "1s" } } }),
            "scenarios.a.gracefulStop: an externally-controlled scenario has none: its users are stopped by their \
             controller",
        ),
        (
            json!({ "thresholds": { "checks": "rate>0.9" } }),
            "thresholds.checks: expected a list, each a threshold, for example \"p(95)<500\" or {\"threshold\": \
             \"p(95)<500\", \"abortOnFail\": true, \"delayAbortEval\": \"10s\"}, found \"rate>0.9\"",
        ),
        (
            json!({ "thresholds": { "checks": ["rate is good"] } }),
            "thresholds.checks[0]: threshold `rate is good` is not valid: it has no comparison operator; expected an \
             aggregation, a comparison and a number, for example `p(95)<500` or `rate>0.9`",
        ),
        (
            json!({ "tags": { "a": 1 } }),
            "tags: expected an object of strings, for example {\"team\": \"chat\"}, found {\"a\":1}",
        ),
        (
            json!({ "summaryTrendStats": ["avg", "p99"] }),
            "summaryTrendStats: `p99` is not a trend statistic; expected avg, min, med, max, count or p(N)",
        ),
        (
            json!({ "summaryTimeUnit": "m" }),
            "summaryTimeUnit: `m` is not a unit; expected s, ms or us",
        ),
        (
            json!({ "executionSegment": "1/2:0" }),
            "executionSegment: expected a part of the whole as from:to, in fractions, decimals or percentages, for example \
             0:1/4, 0.25:0.5 or 75%, found `1/2:0`",
        ),
        (
            json!({ "executionSegment": "0:1/2", "executionSegmentSequence": "0,1/3,1" }),
            "executionSegmentSequence: the segment 0:1/2 is not one of the sequence 0,1/3,1; expected two neighbours of the \
             sequence",
        ),
        (
            json!({ "executionSegmentSequence": "0,1/3,1" }),
            "executionSegmentSequence: a sequence of segments needs the segment of this instance (executionSegment, \
             --execution-segment)",
        ),
    ] {
        check_error(&written, expected);
    }
}

#[test]
fn text_of_a_number_is_a_number_and_empty_text_is_nothing() {
    let check = |written: Value, expected: Value| {
        let read = Options::from_json(&written).unwrap();
        assert_eq!(
            serde_json::to_value(&read.options).unwrap(),
            expected,
            "{written}"
        );
    };
    check(
        json!({ "vus": "3", "iterations": "30", "batch": "", "metricSamplesBufferSize": "7" }),
        json!({ "vus": 3, "iterations": 30, "metricSamplesBufferSize": 7.0 }),
    );
    check(json!({ "scenarios": {} }), json!({}));
    let scenario = |numbers: [Value; 3]| {
        let [rate, allocated, most] = numbers;
        let executor = json!({
            "executor": "constant-arrival-rate", "duration": "1s", "rate": rate, "preAllocatedVUs": allocated,
            "maxVUs": most,
        });
        plan(&json!({ "scenarios": { "a": executor } })).unwrap()
    };
    let numbers = scenario([json!(5), json!(2), Value::Null]);
    assert_eq!(scenario([json!("5"), json!("2"), json!("")]), numbers);
    for wrong in ["x", "1.5", " 2", "-1", "0x5", "99999999999999999999"] {
        let error = Options::from_json(&json!({ "vus": wrong }))
            .unwrap_err()
            .to_string();
        assert!(error.starts_with("vus: expected a whole number"), "{error}");
    }
}

#[test]
fn what_has_no_effect_in_a_threshold_is_named() {
    let read = Options::from_json(&json!({
        "scenarios": {},
        "thresholds": { "checks": null, "iterations": [{ "threshold": "count>0", "abortOnfail": true }] },
    }));
    assert_eq!(
        read.unwrap().notices,
        [
            "`scenarios` is empty, so one virtual user runs one iteration",
            "thresholds.iterations: unknown field `abortOnfail`, which has no effect; the fields are threshold, \
             abortOnFail, delayAbortEval",
        ]
    );
}

#[test]
fn what_no_option_has_is_named_and_null_is_nothing() {
    let read = Options::from_json(&json!({ "vus": null, "vuz": 3, "userAgent": "me" })).unwrap();
    assert_eq!(read.unknown, ["vuz"]);
    assert_eq!(
        serde_json::to_value(&read.options).unwrap(),
        json!({ "userAgent": "me" })
    );
}

#[test]
fn everything_else_reads() {
    let plan = plan(&json!({
        "thresholds": { "checks": ["rate>0.9", { "threshold": "rate>0.5", "abortOnFail": true, "delayAbortEval": "10s" }] },
        "tags": { "team": "chat" }, "noSetup": true, "setupTimeout": "2m", "minIterationDuration": "1s",
        "summaryTrendStats": ["count", "p(99.9)"], "summaryTimeUnit": "ms", "systemTags": ["scenario", "vu"],
    }))
    .unwrap();
    let rules = &plan.thresholds["checks"];
    assert_eq!(
        (rules.len(), rules[1].abort_on_fail, rules[1].delay_abort_eval),
        (2, true, Duration::from_secs(10))
    );
    assert_eq!(
        (plan.has_setup, plan.has_teardown, plan.paused),
        (false, true, false)
    );
    assert_eq!(
        (plan.setup_timeout, plan.teardown_timeout),
        (Duration::from_secs(120), Duration::from_secs(60))
    );
    assert_eq!(plan.min_iteration_duration, Duration::from_secs(1));
    assert_eq!(plan.summary_trend_stats, ["count", "p(99.9)"]);
    assert_eq!(plan.system_tags.len(), 2);
}

#[test]
fn a_layer_that_says_how_to_run_wipes_what_lower_ones_said() {
    let script = json!({ "vus": 3, "stages": [{ "duration": "10s", "target": 7 }], "tags": { "a": "1" } });
    let scenarios =
        json!({ "scenarios": { "a": { "executor": "constant-vus", "vus": 2, "duration": "5s" } } });
    for (lower, higher, expected) in [
        (
            &script,
            json!({ "duration": "20s" }),
            "default constant-vus vus=3..3 n=0 20s",
        ),
        (
            &script,
            json!({ "iterations": 9 }),
            "default shared-iterations vus=3..3 n=9 600s",
        ),
        (
            &script,
            json!({ "vus": 9 }),
            "default ramping-vus vus=9..9 n=0 10s",
        ),
        (
            &script,
            json!({ "tags": { "b": "2" } }),
            "default ramping-vus vus=7..7 n=0 10s",
        ),
        (&script, scenarios.clone(), "a constant-vus vus=2..2 n=0 5s"),
        (
            &scenarios,
            json!({ "duration": "20s" }),
            "default constant-vus vus=1..1 n=0 20s",
        ),
        (
            &scenarios,
            json!({ "vus": 4 }),
            "default shared-iterations vus=4..4 n=4 600s",
        ),
        (
            &scenarios,
            json!({ "noSetup": true }),
            "a constant-vus vus=2..2 n=0 5s",
        ),
    ] {
        let merged = options(lower).under(options(&higher));
        assert_eq!(
            executors(&Plan::from_options(&merged).unwrap()),
            expected,
            "{higher}"
        );
    }
    let merged = options(&script).under(options(&json!({ "tags": { "b": "2" } })));
    assert_eq!(merged.get("tags"), Some(&json!({ "b": "2" })));
}

#[test]
fn variables_are_a_layer() {
    let from = |pairs: &'static [(&str, &str)]| {
        Options::from_env(move |name| {
            let pair = pairs.iter().find(|(known, _)| *known == name);
            pair.map(|(_, value)| (*value).to_owned())
        })
    };
    let read = from(&[
        ("K6_VUS", "5"),
        ("K6_STAGES", "10s:5, 1m:20"),
        ("K6_NO_SETUP", "true"),
        ("K6_SUMMARY_TREND_STATS", "avg,p(99)"),
        ("K6_TAGS", "team=chat,stage=test"),
        ("K6_DURATION", ""),
        ("K6_DNS", "ttl=0"),
        ("PATH", "/bin"),
    ]);
    assert_eq!(
        serde_json::to_value(read.unwrap()).unwrap(),
        json!({
            "vus": 5, "noSetup": true, "summaryTrendStats": ["avg", "p(99)"], "dns": "ttl=0",
            "stages": [{ "duration": "10s", "target": 5 }, { "duration": "1m", "target": 20 }],
            "tags": { "team": "chat", "stage": "test" },
        })
    );
    for (pairs, expected) in [
        (
            &[("K6_VUS", "many")][..],
            "K6_VUS: expected a whole number, for example 10, found `many`",
        ),
        (
            &[("K6_STAGES", "10s")],
            "K6_STAGES: expected stages as duration:target, for example 30s:10,1m:50, found `10s`",
        ),
        (
            &[("K6_NO_SETUP", "yes")],
            "K6_NO_SETUP: expected true or false, found `yes`",
        ),
        (
            &[("K6_DURATION", "5 min")],
            "K6_DURATION: expected a duration, for example \"1m30s\", or a number of milliseconds, found \"5 min\"",
        ),
    ] {
        assert_eq!(from(pairs).unwrap_err().to_string(), expected);
    }
}
