//! Server CPU per connect and subscribe when thousands come at once, next to a loop that only accepts, reads and
//! writes.

use serde_json::Value;

use super::{
    Error, Outcome, Plan, budget,
    generator::{self, Report},
    limit::{self, accept, exchange},
    server::Server,
    sheet::Sheet,
};

/// The widely used avalanche: two steps of 5,000.
const CONNECTIONS: [usize; 1] = [10_000];
const N_STEPS: usize = 2;
/// Clients that connect at the same time.
const N_AT_ONCE: usize = 2_000;

/// The server and the load client have a process each, with 20,000 open files.
pub(super) const MAX_CONNECTIONS: usize = 19_000;

const LIMIT: &str = "accept µs";
const SERVER: &str = "server µs";
const RATIO: &str = "× limit";
const EXCHANGE: &str = "exchange µs";
const EXCHANGES: &str = "× exchange";
const FAILED: &str = "failed";

/// Measures at every connection count.
pub(super) fn run(plan: &Plan) -> Result<Outcome, Error> {
    let mut outcome = Outcome::default();
    for n_connections in plan.connections(&CONNECTIONS, MAX_CONNECTIONS)? {
        let title = format!(
            "avalanche: server CPU per connect + subscribe, {n_connections} connections, {N_AT_ONCE} at once"
        );
        let mut sheet = Sheet::new(title, &[LIMIT, SERVER, RATIO, EXCHANGE, EXCHANGES, FAILED]);
        let reports = (0..plan.rounds)
            .map(|_| round(plan, n_connections, &mut sheet))
            .collect::<Result<Vec<_>, _>>()?;
        let circumstances = format!("{n_connections} connections");
        let [absolute, relative] = budget::AVALANCHE.judge_cpu(
            circumstances.clone(),
            sheet.median(SERVER),
            sheet.median(EXCHANGES),
        );
        let failed = budget::AVALANCHE_FAILED.judge(circumstances, sheet.median(FAILED));
        let verdicts = [absolute, relative, failed];
        outcome.add(&sheet, &verdicts, &reports);
    }
    Ok(outcome)
}

/// The limit, with as many connections as one process can hold both ends of, then the server.
fn round(plan: &Plan, n_connections: usize, sheet: &mut Sheet) -> Result<Value, Error> {
    let n_limit = n_connections.min(limit::MAX_CONNECTIONS);
    let limit = accept::measure(n_limit, N_AT_ONCE)
        .map_err(Error::Limit)?
        .us_per_operation();
    let exchange = exchange::pace_us().map_err(Error::Limit)?;
    let report = connect(plan, &Server::start(&plan.server)?, n_connections)?;
    let server = report.sum("/plimsoll/connect/watch/cpu_seconds")? * 1e6
        / report.sum("/plimsoll/connect/n_connected")?;
    sheet.push(vec![
        limit,
        server,
        server / limit,
        exchange,
        server / exchange,
        report.sum("/plimsoll/connect/n_failed")?,
    ]);
    Ok(report.into_json())
}

/// Lets the clients come, in steps, and reports on the server too.
pub(super) fn connect(plan: &Plan, server: &Server, n_connections: usize) -> Result<Report, Error> {
    let (url, pid) = (server.cable_url(), server.pid().to_string());
    let (at_once, steps) = (N_AT_ONCE.to_string(), N_STEPS.to_string());
    let step_size = n_connections.div_ceil(N_STEPS).to_string();
    generator::run(
        &plan.generator,
        &[
            "connect",
            &url,
            "--server-type",
            "actioncable-connect",
            "--watch",
            &pid,
            "--concurrent",
            &at_once,
            "--step-size",
            &step_size,
            "--total-steps",
            &steps,
        ],
    )
}
