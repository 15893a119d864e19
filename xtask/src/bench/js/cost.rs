//! CPU of the load client per round trip of a script: HTTP request, WebSocket message, Action Cable action.
//!
//! A figure is the difference of two runs of the same script, a long one and a short one, divided by the round trips
//! that the long one has more: what both have in common (the start of the program, the reading of the script, the
//! making of virtual users and connections, the report) is in neither. Two looks at the clock of a running process
//! would leave that out as well, but they need a program that says where it is, and k6 does not.

use serde_json::{Value, json};

use super::runner::{Runner, Script};
use crate::bench::{
    Error, Outcome, Plan,
    budget::{self, Budget},
    limit::exchange,
    server::Server,
    sheet::Sheet,
};

/// Virtual users; each has one round trip in progress.
const N_VUS: u32 = 20;
/// Round trips of each in the short run, which warms up as the long one does.
const N_SHORT: u32 = 500;
/// Those in the long one: 100,000 more in all, seconds of work.
const N_LONG: u32 = 5_500;

const PLIMSOLL: &str = "plimsoll µs";
const EXCHANGE: &str = "exchange µs";
const EXCHANGES: &str = "× exchange";
const K6: &str = "k6 µs";
const RATIO: &str = "k6 / plimsoll";

/// A script whose round trips are measured.
struct Workload {
    /// As in titles.
    what: &'static str,
    file: &'static str,
    scheme: &'static str,
    path: &'static str,
    budget: &'static Budget,
    /// Whether the real k6 can run it.
    is_k6s: bool,
}

const WORKLOADS: [Workload; 3] = [
    Workload {
        what: "http.get, an iteration each",
        file: "http-get.js",
        scheme: "http",
        path: "/health",
        budget: &budget::JS_HTTP_GET,
        is_k6s: true,
    },
    Workload {
        what: "k6/ws echo",
        file: "ws-echo.js",
        scheme: "ws",
        path: "/echo",
        budget: &budget::JS_WS_ECHO,
        is_k6s: true,
    },
    Workload {
        what: "cable echo (the real k6 has no k6/x/cable)",
        file: "cable-echo.js",
        scheme: "ws",
        path: "/cable",
        budget: &budget::JS_CABLE_ECHO,
        is_k6s: false,
    },
];

/// Measures every workload.
pub(super) fn measure(
    plan: &Plan,
    plimsoll: &Runner,
    k6: &Runner,
    outcome: &mut Outcome,
) -> Result<(), Error> {
    for workload in &WORKLOADS {
        let title = format!("js: load client CPU per {}, {N_VUS} users", workload.what);
        let columns: &[_] = if workload.is_k6s {
            &[PLIMSOLL, EXCHANGE, EXCHANGES, K6, RATIO]
        } else {
            &[PLIMSOLL, EXCHANGE, EXCHANGES]
        };
        let mut sheet = Sheet::new(title, columns);
        let mut reports = Vec::new();
        for _ in 0..plan.rounds {
            let exchange = exchange::pace_us().map_err(Error::Limit)?;
            let server = Server::start(&plan.server)?;
            let ours = workload.us_per_round_trip(plimsoll, &server, &mut reports)?;
            let mut figures = vec![ours, exchange, ours / exchange];
            if workload.is_k6s {
                let theirs = workload.us_per_round_trip(k6, &server, &mut reports)?;
                figures.extend([theirs, theirs / ours]);
            }
            sheet.push(figures);
        }
        let verdicts = workload.budget.judge_cpu(
            format!("{N_VUS} users"),
            sheet.median(PLIMSOLL),
            sheet.median(EXCHANGES),
        );
        outcome.add(&sheet, &verdicts, &reports);
    }
    Ok(())
}

impl Workload {
    /// From a short and a long run.
    fn us_per_round_trip(
        &self,
        runner: &Runner,
        server: &Server,
        reports: &mut Vec<Value>,
    ) -> Result<f64, Error> {
        let mut cpu_us = |n_each: u32| -> Result<f64, Error> {
            let run = runner.run(&Script {
                file: self.file,
                variables: &[
                    ("VUS", N_VUS.to_string()),
                    ("OPERATIONS", n_each.to_string()),
                    ("URL", server.url(self.scheme, self.path)),
                ],
            })?;
            reports.push(json!({ "command": run.command, "cpu_us": run.cpu_us }));
            Ok(run.cpu_us)
        };
        let (short, long) = (cpu_us(N_SHORT)?, cpu_us(N_LONG)?);
        Ok((long - short) / f64::from(N_VUS * (N_LONG - N_SHORT)))
    }
}
