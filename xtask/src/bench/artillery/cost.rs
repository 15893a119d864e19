//! CPU per message of an Artillery file: for a message without an answer, for a message with its answer, and for a
//! request over HTTP.
//!
//! Messages per CPU second are those of a whole run, with the start of the program and its report: what a person pays.
//! At the margin a message costs what a long run has more than a short one, by the messages between, as with scripts.

use serde_json::{Value, json};

use super::{
    Tools,
    tool::{Job, Tool},
};
use crate::bench::{Error, Outcome, Plan, budget, server::Server, sheet::Sheet};

const N_USERS: usize = 20;
/// Messages of each user in the short run, which warms up as the long one does.
const N_SHORT: usize = 250;
/// Those in the long one: 50,000 more in all, up to 25 s of work for Artillery.
const N_LONG: usize = 2_750;

const PLIMSOLL_PER_S: &str = "plimsoll /CPU s";
const ARTILLERY_PER_S: &str = "artillery /CPU s";
const SHARE: &str = "artillery / plim.";
const PLIMSOLL_US: &str = "plimsoll + µs";
const ARTILLERY_US: &str = "artillery + µs";

/// A file whose messages are measured.
struct Workload {
    /// As in titles.
    what: &'static str,
    file: &'static str,
    scheme: &'static str,
    path: &'static str,
    /// The counter of its messages.
    counter: &'static str,
}

const WORKLOADS: [Workload; 3] = [
    Workload {
        what: "message that nobody waits for",
        file: "ws-send.yml",
        scheme: "ws",
        path: "/echo",
        counter: "websocket.messages_sent",
    },
    Workload {
        what: "message and its answer",
        file: "ws-echo.yml",
        scheme: "ws",
        path: "/echo",
        counter: "websocket.messages_sent",
    },
    Workload {
        what: "HTTP request",
        file: "http-get.yml",
        scheme: "http",
        path: "",
        counter: "http.responses",
    },
];

/// Measures every workload.
pub(super) fn measure(plan: &Plan, tools: &Tools, outcome: &mut Outcome) -> Result<(), Error> {
    for workload in &WORKLOADS {
        let title = format!("artillery: load client, {}, {N_USERS} users", workload.what);
        let columns = [PLIMSOLL_PER_S, ARTILLERY_PER_S, SHARE, PLIMSOLL_US, ARTILLERY_US];
        let mut sheet = Sheet::new(title, &columns);
        let mut reports = Vec::new();
        for _ in 0..plan.rounds {
            let server = Server::start(&plan.server)?;
            let ours = workload.cost(&tools.plimsoll, &server, &mut reports)?;
            let theirs = workload.cost(&tools.artillery, &server, &mut reports)?;
            sheet.push(vec![
                ours.per_cpu_s,
                theirs.per_cpu_s,
                theirs.per_cpu_s / ours.per_cpu_s,
                ours.further_us,
                theirs.further_us,
            ]);
        }
        let verdict = budget::ARTILLERY.judge(workload.what.to_owned(), sheet.median(SHARE));
        outcome.add(&sheet, &[verdict], &reports);
    }
    Ok(())
}

/// What messages cost one program.
struct Cost {
    /// Messages per CPU second of the whole long run.
    per_cpu_s: f64,
    /// CPU microseconds of one message more.
    further_us: f64,
}

impl Workload {
    /// From a short and a long run.
    fn cost(&self, tool: &Tool, server: &Server, reports: &mut Vec<Value>) -> Result<Cost, Error> {
        let mut cpu_us = |n_each: usize| -> Result<f64, Error> {
            let done = tool.run(&Job {
                file: self.file,
                url: server.url(self.scheme, self.path),
                users: N_USERS,
                rounds: n_each,
                expected: (self.counter, n_each),
            })?;
            let counters = &done.report["aggregate"]["counters"];
            reports.push(
                json!({ "command": done.run.command, "cpu_us": done.run.cpu_us, "counters": counters }),
            );
            Ok(done.run.cpu_us)
        };
        let (short, long) = (cpu_us(N_SHORT)?, cpu_us(N_LONG)?);
        Ok(Cost {
            per_cpu_s: (N_USERS * N_LONG) as f64 * 1e6 / long,
            further_us: (long - short) / (N_USERS * (N_LONG - N_SHORT)) as f64,
        })
    }
}
