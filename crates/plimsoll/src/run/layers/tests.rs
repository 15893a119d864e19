//! Tests of the precedence of layers, and of the messages about mistakes in each of them.

use std::{io, path::Path};

use expect_test::{Expect, expect};
use serde_json::json;

use super::*;
use crate::run::tests::option_flags;

/// The places of options in a test.
#[derive(Clone, Copy, Default)]
struct Given<'a> {
    file: &'a str,
    script: &'a str,
    environment: &'a [(&'a str, &'a str)],
    arguments: &'a str,
}

impl Given<'_> {
    fn consolidate(self) -> Result<Consolidated, Mistake> {
        let read_file = |path: &Path| match (path.to_str(), self.file) {
            (Some("/me/.config/k6/config.json"), file) if !file.is_empty() => Ok(file.to_owned()),
            _ => Err(io::Error::from(io::ErrorKind::NotFound)),
        };
        let environment = [("HOME", "/me")].iter().chain(self.environment);
        let surroundings = Surroundings {
            environment: environment
                .map(|(name, value)| (name.into(), value.into()))
                .collect(),
            read_file: &read_file,
        };
        let file = ConfigFile::find(None, &surroundings)?;
        let layers = Layers::read(file, &surroundings, &option_flags(self.arguments))?;
        let script = match self.script {
            "" => json!({}),
            script => serde_json::from_str(script).unwrap(),
        };
        layers.consolidate("chat.js", &script)
    }
}

#[track_caller]
fn check(given: Given<'_>, expected: &Value) {
    let consolidated = given.consolidate().unwrap();
    assert_eq!(serde_json::to_value(consolidated.options).unwrap(), *expected);
}

#[track_caller]
fn check_mistake(given: Given<'_>, expected: &str) {
    let mistake = given.consolidate().unwrap_err().to_string();
    assert_eq!(mistake, expected);
}

#[test]
fn the_higher_layer_wins() {
    let mut given = Given {
        file: r#"{ "vus": 1, "rps": 1, "batch": 1, "userAgent": "file" }"#,
        ..Given::default()
    };
    check(
        given,
        &json!({ "vus": 1, "rps": 1, "batch": 1, "userAgent": "file" }),
    );
    given.script = r#"{ "vus": 2, "rps": 2, "batch": 2 }"#;
    check(
        given,
        &json!({ "vus": 2, "rps": 2, "batch": 2, "userAgent": "file" }),
    );
    given.environment = &[("K6_VUS", "3"), ("K6_RPS", "3"), ("K6_BATCH", "")];
    check(
        given,
        &json!({ "vus": 3, "rps": 3, "batch": 2, "userAgent": "file" }),
    );
    given.arguments = "--vus 4";
    check(
        given,
        &json!({ "vus": 4, "rps": 3, "batch": 2, "userAgent": "file" }),
    );
}

#[test]
fn a_layer_that_says_how_iterations_come_about_takes_it_from_those_below() {
    let stages = r#"{ "vus": 2, "stages": [{ "duration": "10s", "target": 5 }] }"#;
    let scenarios = r#"{ "scenarios": { "chat": { "executor": "constant-vus", "duration": "1m" } } }"#;
    for (script, environment, arguments, expected) in [
        (stages, None, "-d 5s", json!({ "vus": 2, "duration": "5s" })),
        (
            scenarios,
            Some(("K6_ITERATIONS", "7")),
            "",
            json!({ "iterations": 7 }),
        ),
        (
            scenarios,
            Some(("K6_ITERATIONS", "7")),
            "-d 9s",
            json!({ "duration": "9s" }),
        ),
        (scenarios, None, "-u 3", json!({ "vus": 3 })),
        (
            scenarios,
            None,
            "--rps 3",
            json!({ "rps": 3, "scenarios": { "chat": { "executor": "constant-vus", "duration": "1m" } } }),
        ),
    ] {
        let given = Given {
            script,
            environment: environment.as_slice(),
            arguments,
            ..Given::default()
        };
        check(given, &expected);
    }
}

#[test]
fn mistakes_name_the_layer_the_key_and_what_was_expected() {
    let nothing = Given::default();
    let script = r#"{ "vus": 5 }"#;
    check_mistake(
        Given {
            script: r#"{ "stages": [{ "duration": "10s", "target": "x" }] }"#,
            ..nothing
        },
        "chat.js: options.stages[0].target: expected a whole number, for example 10, found \"x\"",
    );
    check_mistake(
        Given {
            script: "[]",
            ..nothing
        },
        "chat.js: options: expected an object, found []",
    );
    check_mistake(
        Given {
            file: r#"{ "vus": true }"#,
            ..nothing
        },
        "/me/.config/k6/config.json: vus: expected a whole number, for example 10, found true",
    );
    check_mistake(
        Given {
            file: "{ vus: 1 }",
            ..nothing
        },
        "/me/.config/k6/config.json: is not a JSON object: key must be a string at line 1 column 3",
    );
    check_mistake(
        Given {
            file: r#"{ "out": "json" }"#,
            ..nothing
        },
        "/me/.config/k6/config.json: out: expected a list of texts, found \"json\"",
    );
    check_mistake(
        Given {
            environment: &[("K6_STAGES", "10s")],
            ..nothing
        },
        "K6_STAGES: expected stages as duration:target, for example 30s:10,1m:50, found `10s`",
    );
    // What is wrong only together is blamed on the highest layer that has the option.
    check_mistake(
        Given {
            script,
            arguments: "-i 3",
            ..nothing
        },
        "--iterations: 3 are too few for 5 virtual users; expected at least 5",
    );
    check_mistake(
        Given {
            script,
            environment: &[("K6_ITERATIONS", "3")],
            ..nothing
        },
        "K6_ITERATIONS: 3 are too few for 5 virtual users; expected at least 5",
    );
    check_mistake(
        Given {
            file: r#"{ "iterations": 3 }"#,
            script,
            ..nothing
        },
        "/me/.config/k6/config.json: iterations: 3 are too few for 5 virtual users; expected at least 5",
    );
    check_mistake(
        Given {
            script: r#"{ "vus": 5, "iterations": 3 }"#,
            ..nothing
        },
        "chat.js: options.iterations: 3 are too few for 5 virtual users; expected at least 5",
    );
    check_mistake(
        Given {
            arguments: "-d 10s -s 10s:5",
            ..nothing
        },
        "--stage: cannot be combined with `duration`; remove one of them",
    );
}

fn check_warnings(given: Given<'_>, expected: &Expect) {
    let warnings = given.consolidate().unwrap().warnings;
    let lines: Vec<_> = warnings.iter().map(ToString::to_string).collect();
    expected.assert_eq(&lines.join("\n"));
}

#[test]
fn what_only_clients_read_is_checked_before_the_run() {
    for (script, arguments, expected) in [
        (
            "",
            "--blacklist-ip ten",
            "--blacklist-ip: \"ten\" is not a network; expected something like 10.0.0.0/8 or 10.0.0.1",
        ),
        (
            "",
            "--dns first",
            "--dns: `first` is not one of ttl, select, policy; expected something like \
             ttl=5m,select=random,policy=preferIPv4",
        ),
        (
            r#"{ "blockHostnames": ["a*b"] }"#,
            "",
            "chat.js: options.blockHostnames: \"a*b\" is not a host name; expected something like example.com, \
             *.example.com or example.com:443",
        ),
    ] {
        check_mistake(
            Given {
                script,
                arguments,
                ..Given::default()
            },
            expected,
        );
    }
}

#[test]
fn unknown_options_are_named_with_the_nearest_one() {
    let given = Given {
        file: r#"{ "noUsageReport": true, "linger": true, "out": ["json"], "user-agent": "x", "theme": 1 }"#,
        script: r#"{ "vuss": 3, "treshold": {} }"#,
        ..Given::default()
    };
    check_warnings(
        given,
        &expect![[r#"
            /me/.config/k6/config.json: unknown option `theme`, which has no effect
            /me/.config/k6/config.json: unknown option `user-agent`, which has no effect; did you mean `userAgent`?
            chat.js: unknown option `vuss`, which has no effect; did you mean `vus`?
            chat.js: unknown option `treshold`, which has no effect; did you mean `thresholds`?"#]],
    );
}
