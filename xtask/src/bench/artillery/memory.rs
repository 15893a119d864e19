//! Memory per user that has a connection and waits: what a run with many has more than a run with few.

use serde_json::{Value, json};

use super::{
    Tools,
    tool::{Job, Tool},
};
use crate::bench::{Error, Outcome, Plan, budget, server::Server, sheet::Sheet};

/// Users of the two runs.
const FEW: usize = 1_000;
const MANY: usize = 5_000;

/// So many come in a second: all are there before the first one leaves.
const COMING_PER_S: usize = 1_000;

/// Memory is the same in each round, and the rounds take half a minute per program.
const ROUNDS: u32 = 1;

const PLIMSOLL: &str = "plimsoll KB";
const WSDIRECTOR: &str = "wsdirector KB";
const ARTILLERY: &str = "artillery KB";

/// Measures Plimsoll with both kinds of files, and Artillery with its own.
pub(super) fn measure(plan: &Plan, tools: &Tools, outcome: &mut Outcome) -> Result<(), Error> {
    let title =
        format!("artillery: load client RSS per user with an open WebSocket, from {FEW} to {MANY} users");
    let mut sheet = Sheet::new(title, &[PLIMSOLL, WSDIRECTOR, ARTILLERY]);
    let mut reports = Vec::new();
    for _ in 0..ROUNDS.min(plan.rounds) {
        let ours = slope(plan, &mut reports, |server, n| held(&tools.plimsoll, server, n))?;
        let wsdirector = slope(plan, &mut reports, |server, n| {
            let run = tools
                .plimsoll
                .run_scenario("wsdirector-hold.yml", &server.url("ws", "/echo"), n)?;
            Ok((run.command, run.max_rss_bytes))
        })?;
        let theirs = slope(plan, &mut reports, |server, n| held(&tools.artillery, server, n))?;
        sheet.push(vec![ours, wsdirector, theirs]);
    }
    let verdicts = [
        budget::ARTILLERY_MEMORY.judge("Artillery file".to_owned(), sheet.median(PLIMSOLL)),
        budget::ARTILLERY_MEMORY.judge("wsdirector scenario".to_owned(), sheet.median(WSDIRECTOR)),
    ];
    outcome.add(&sheet, &verdicts, &reports);
    Ok(())
}

/// Kilobytes per user, from a run with few of them and one with many, each against a server of its own.
fn slope(
    plan: &Plan,
    reports: &mut Vec<Value>,
    run: impl Fn(&Server, usize) -> Result<(String, u64), Error>,
) -> Result<f64, Error> {
    let mut max_rss_bytes = |n_users: usize| -> Result<u64, Error> {
        let (command, max_rss_bytes) = run(&Server::start(&plan.server)?, n_users)?;
        reports.push(json!({ "command": command, "users": n_users, "max_rss_bytes": max_rss_bytes }));
        Ok(max_rss_bytes)
    };
    let (few, many) = (max_rss_bytes(FEW)?, max_rss_bytes(MANY)?);
    Ok(many.saturating_sub(few) as f64 / 1024.0 / (MANY - FEW) as f64)
}

fn held(tool: &Tool, server: &Server, n_users: usize) -> Result<(String, u64), Error> {
    let done = tool.run(&Job {
        file: "ws-hold.yml",
        url: server.url("ws", "/echo"),
        users: n_users,
        rounds: n_users.div_ceil(COMING_PER_S),
        expected: ("websocket.messages_sent", 1),
    })?;
    Ok((done.run.command, done.run.max_rss_bytes))
}
