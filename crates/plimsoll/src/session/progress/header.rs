//! The plan of a run in k6's words, printed before the start.

use std::fmt::Write;

use plimsoll_load::{plan::Plan, run};
use plimsoll_report::{quantity, summary::describe};

/// The block of lines; ends with an empty one.
pub(crate) fn header(script: &str, outputs: &[String], plan: &Plan) -> String {
    let outputs = match outputs {
        [] => "-".to_owned(),
        outputs => outputs.join(", "),
    };
    let n_scenarios = plan.scenarios.len();
    let plural = if n_scenarios == 1 { "" } else { "s" };
    let duration = plan.max_duration().map_or_else(
        || "unlimited duration".to_owned(),
        |duration| {
            format!(
                "{} max duration (incl. graceful stop)",
                quantity::duration(duration)
            )
        },
    );
    let mut text = format!(
        "     execution: local\n        script: {script}\n        output: {outputs}\n\n     scenarios: (100.00%) \
         {n_scenarios} scenario{plural}, {} max VUs, {duration}:\n",
        run::max_vus(plan)
    );
    for scenario in &plan.scenarios {
        let _infallible = writeln!(text, "              * {}: {}", scenario.name, describe(scenario));
    }
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use plimsoll_load::plan::Options;
    use serde_json::{Value, json};

    use super::*;

    /// Puts a bar before each line, because a snapshot does not keep the common indentation.
    fn barred(text: &str) -> String {
        text.lines().map(|line| format!("|{line}\n")).collect()
    }

    fn plan(options: &Value) -> Plan {
        Plan::from_options(&Options::from_json(options).unwrap().options).unwrap()
    }

    #[test]
    fn all_executors_are_described() {
        let plan = plan(&json!({ "scenarios": {
            "a": { "executor": "shared-iterations", "vus": 2, "iterations": 9, "maxDuration": "90s", "gracefulStop": "5s" },
            "b": { "executor": "per-vu-iterations", "vus": 3, "iterations": 4, "gracefulStop": 0 },
            "c": { "executor": "constant-vus", "vus": 4, "duration": "20s", "startTime": "1m", "exec": "chat" },
            "d": { "executor": "ramping-vus", "startVUs": 0, "gracefulRampDown": "3s",
                   "stages": [{ "duration": "10s", "target": 5 }, { "duration": "1h", "target": 0 }] },
            "e": { "executor": "constant-arrival-rate", "rate": 30, "timeUnit": "1m", "duration": "2m",
                   "preAllocatedVUs": 2, "maxVUs": 6 },
            "f": { "executor": "ramping-arrival-rate", "startRate": 10, "preAllocatedVUs": 3,
                   "stages": [{ "duration": "10s", "target": 100 }, { "duration": "10s", "target": 0 }] },
            "g": { "executor": "externally-controlled", "vus": 1, "maxVUs": 8, "duration": "5m" },
        }}));
        expect![[r#"
            |     execution: local
            |        script: chat.js
            |        output: json=out.json, csv
            |
            |     scenarios: (100.00%) 7 scenarios, 28 max VUs, 1h0m40s max duration (incl. graceful stop):
            |              * a: 9 iterations shared among 2 VUs (maxDuration: 1m30s, gracefulStop: 5s)
            |              * b: 4 iterations for each of 3 VUs (maxDuration: 10m0s)
            |              * c: 4 looping VUs for 20s (exec: chat, startTime: 1m0s, gracefulStop: 30s)
            |              * d: Up to 5 looping VUs for 1h0m10s over 2 stages (gracefulRampDown: 3s, gracefulStop: 30s)
            |              * e: 0.50 iterations/s for 2m0s (maxVUs: 2-6, gracefulStop: 30s)
            |              * f: Up to 100.00 iterations/s for 20s over 2 stages (maxVUs: 3, gracefulStop: 30s)
            |              * g: Externally controlled execution with 1 VUs, 8 max VUs, 5m0s
            |
        "#]].assert_eq(&barred(&header("chat.js", &["json=out.json".to_owned(), "csv".to_owned()], &plan)));
    }

    #[test]
    fn what_has_no_end_says_so() {
        let plan = plan(&json!({ "scenarios": { "all": {
            "executor": "externally-controlled", "vus": 1, "duration": "0" } } }));
        expect![[r#"
            |     execution: local
            |        script: -
            |        output: -
            |
            |     scenarios: (100.00%) 1 scenario, 1 max VUs, unlimited duration:
            |              * all: Externally controlled execution with 1 VUs, 1 max VUs, unlimited duration
            |
        "#]]
        .assert_eq(&barred(&header("-", &[], &plan)));
    }
}
