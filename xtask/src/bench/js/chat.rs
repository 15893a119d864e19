//! The chat script with thousands of virtual users: memory, whether every user connected, whether every message arrived, and
//! how late the load client was.

use serde_json::{Value, json};

use super::{
    memory,
    runner::{Runner, Script},
};
use crate::bench::{
    Error, Outcome, Plan, avalanche, budget, finished::Finished, generator, server::Server, sheet::Sheet,
};

/// What the budget is for, and what must work at all.
const VUS: [usize; 2] = [2_000, 10_000];

/// Arrivals per second: up to 12,000 users are all connected before the first one leaves.
const COMING_PER_S: usize = 1_000;

const PER_VU: &str = "KB per user";
const RSS: &str = "RSS MB";
const ABSENT: &str = "not in";
const LOST: &str = "lost";
const RTT_P95: &str = "rtt p95 ms";
const LATE_P99: &str = "late p99 ms";
const LATE_MAX: &str = "late max ms";

/// Measures at every number of virtual users.
pub(super) fn measure(plan: &Plan, plimsoll: &Runner, outcome: &mut Outcome) -> Result<(), Error> {
    for n_vus in plan.connections(&VUS, avalanche::MAX_CONNECTIONS)? {
        let title = format!(
            "js: load client RSS per virtual user of the chat script, {n_vus} users (the real k6 has no k6/x/cable)"
        );
        let columns = [PER_VU, RSS, ABSENT, LOST, RTT_P95, LATE_P99, LATE_MAX];
        let mut sheet = Sheet::new(title, &columns);
        let mut reports = Vec::new();
        for _ in 0..plan.rounds {
            let alone = chat(plan, plimsoll, 1)?;
            let all = chat(plan, plimsoll, n_vus)?;
            sheet.push(figures(n_vus, &alone, &all)?);
            reports.push(all.into_json());
        }
        let circumstances = format!("{n_vus} users");
        let verdicts = [
            budget::JS_MEMORY.judge(circumstances.clone(), sheet.median(PER_VU)),
            budget::JS_ABSENT.judge(circumstances.clone(), sheet.median(ABSENT)),
            budget::JS_LOST.judge(circumstances, sheet.median(LOST)),
        ];
        outcome.add(&sheet, &verdicts, &reports);
    }
    Ok(())
}

/// One run against a server of its own.
fn chat(plan: &Plan, plimsoll: &Runner, n_vus: usize) -> Result<Chat, Error> {
    let server = Server::start_with(&plan.server, &["--app", "chat"])?;
    let run = plimsoll.run(&Script {
        file: "chat.js",
        variables: &[
            ("VUS", n_vus.to_string()),
            ("RAMP_S", n_vus.div_ceil(COMING_PER_S).to_string()),
            ("CABLE_URL", server.cable_url()),
        ],
    })?;
    Ok(Chat {
        report: serde_json::from_slice(&run.stdout)?,
        run,
    })
}

/// A run of the chat script.
struct Chat {
    run: Finished,
    report: Value,
}

impl Chat {
    /// The number at a JSON pointer of the report.
    fn number(&self, pointer: &str) -> Result<f64, Error> {
        generator::number(&self.report, pointer)
    }

    /// The value of a counter. The report omits counters without samples.
    fn counter(&self, name: &str) -> f64 {
        self.number(&format!("/metrics/{name}/values/count"))
            .unwrap_or_default()
    }

    /// The command and the figures of the run as a whole. What happened in each second is left out, as of other
    /// benchmarks: it is most of a report.
    fn into_json(mut self) -> Value {
        if let Some(report) = self.report.as_object_mut() {
            report.remove("timeline");
            if let Some(generator) = report.get_mut("generator").and_then(Value::as_object_mut) {
                generator.remove("series");
            }
        }
        json!({ "command": self.run.command, "report": self.report })
    }
}

/// In the order of the columns. The report has durations in microseconds.
fn figures(n_vus: usize, alone: &Chat, all: &Chat) -> Result<Vec<f64>, Error> {
    Ok(vec![
        memory::kb_per_user(n_vus, &alone.run, &all.run),
        all.run.max_rss_bytes as f64 / (1024.0 * 1024.0),
        n_vus as f64 - all.counter("chat_subscribed"),
        all.counter("chat_spoken") - all.counter("chat_heard"),
        all.number("/metrics/rtt/values/p95")? / 1e3,
        all.number("/generator/lateness/p99")? / 1e3,
        all.number("/generator/lateness/max")? / 1e3,
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chat(max_rss_bytes: u64, report: Value) -> Chat {
        let run = Finished {
            command: String::new(),
            stdout: Vec::new(),
            cpu_us: 0.0,
            max_rss_bytes,
        };
        Chat { run, report }
    }

    #[test]
    fn one_user_pays_for_the_program_and_the_others_for_themselves() {
        let report = json!({
            "metrics": {
                "chat_subscribed": { "values": { "count": 9 } },
                "chat_spoken": { "values": { "count": 27 } },
                "chat_heard": { "values": { "count": 25 } },
                "rtt": { "values": { "p95": 1_500 } },
            },
            "generator": { "lateness": { "p99": 250, "max": 2_000 } },
        });
        let figures = figures(10, &chat(1 << 20, Value::Null), &chat(10 << 20, report)).unwrap();
        let expected = [1024.0, 10.0, 1.0, 2.0, 1.5, 0.25, 2.0];
        let is_expected = figures.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-9);
        assert!(is_expected, "{figures:?}");
    }

    #[test]
    fn figures_are_kept_and_courses_are_not() {
        let report = json!({
            "metrics": { "rtt": { "values": { "p95": 1_500 } } },
            "generator": { "cores": 0.1, "series": { "cpu_cores": [0.1, 0.1] } },
            "timeline": { "vus": [1, 2] },
        });
        let kept = chat(0, report).into_json();
        let expected = json!({
            "metrics": { "rtt": { "values": { "p95": 1_500 } } },
            "generator": { "cores": 0.1 },
        });
        assert_eq!(kept["report"], expected);
    }

    #[test]
    fn a_report_without_a_figure_is_an_error() {
        let error = figures(2, &chat(0, Value::Null), &chat(0, json!({}))).unwrap_err();
        assert!(matches!(error, Error::Report { .. }), "{error}");
    }
}
