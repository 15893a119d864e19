//! The time until thousands of users of a script have come, all at once, next to as many bare connects.

use std::time::{Instant, SystemTime};

use serde_json::{Value, json};

use super::runner::{Runner, Script};
use crate::bench::{
    Error, Outcome, Plan, budget, generator,
    limit::{self, pairs::Pairs},
    server::Server,
    sheet::Sheet,
};

/// Users, who all come at once.
const N_VUS: usize = 10_000;

const BARE: &str = "bare connect µs";
const USER: &str = "user µs";
const RATIO: &str = "× bare connect";

/// Measures the start.
pub(super) fn measure(plan: &Plan, plimsoll: &Runner, outcome: &mut Outcome) -> Result<(), Error> {
    let title = format!(
        "js: time from the start of the process until {N_VUS} users of a script have a cable subscription, per user"
    );
    let mut sheet = Sheet::new(title, &[BARE, USER, RATIO]);
    let mut reports = Vec::new();
    for _ in 0..plan.rounds {
        let bare_us = bare_connect_us().map_err(Error::Limit)?;
        let (command, ready_us) = start_us(plan, plimsoll)?;
        let user_us = ready_us / N_VUS as f64;
        sheet.push(vec![bare_us, user_us, user_us / bare_us]);
        reports.push(json!({ "command": command, "ready_us": ready_us }));
    }
    let verdict = budget::JS_START.judge(format!("{N_VUS} users"), sheet.median(RATIO));
    outcome.add(&sheet, &[verdict], &reports);
    Ok(())
}

/// Time of one `connect` and one `accept` in turn, among as many as fit into one process.
fn bare_connect_us() -> std::io::Result<f64> {
    let start = Instant::now();
    let _open = Pairs::open(limit::MAX_CONNECTIONS)?;
    Ok(start.elapsed().as_secs_f64() * 1e6 / limit::MAX_CONNECTIONS as f64)
}

/// The command of a run, and the microseconds until its last user was there.
fn start_us(plan: &Plan, plimsoll: &Runner) -> Result<(String, f64), Error> {
    let server = Server::start_with(&plan.server, &["--app", "benchmark"])?;
    let now = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
    let run = plimsoll.run(&Script {
        file: "start.js",
        variables: &[
            ("VUS", N_VUS.to_string()),
            ("START_MS", now.as_millis().to_string()),
            ("URL", server.cable_url()),
        ],
    })?;
    let report: Value = serde_json::from_slice(&run.stdout)?;
    let ready_us = generator::number(&report, "/metrics/ready/values/max")?;
    Ok((run.command, ready_us))
}
