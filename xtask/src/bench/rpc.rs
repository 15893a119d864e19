//! An application over gRPC behind the server: CPU per connect and subscribe, CPU per action that is answered, and how
//! much the server adds to the time that the application needs.
//!
//! The application is `benchmarks/rpc-app`, which does as little as it can. Its CPU time stands beside the server's.

pub(super) mod application;
mod paced;

use std::time::Duration;

use serde_json::Value;

use super::{
    Error, Outcome, Plan, avalanche, budget,
    generator::{self, Report},
    limit::exchange,
    percentile::percentile_ms,
    server::Server,
    sheet::Sheet,
};
use crate::repository;
use application::Application;
use paced::Workload;

/// The same avalanche as without an application.
const CONNECTIONS: [usize; 1] = [10_000];

/// Clients that perform actions, as in the figure that is published for AnyCable with k6.
const N_PERFORMING: usize = 200;
/// Enough for five seconds or more.
const N_PERFORMED: usize = 100_000;

/// The paced actions: 30 s.
const PACED: Workload = Workload {
    n_clients: N_PERFORMING,
    interval: Duration::from_millis(1),
    n_calls: 30_000,
};

const SERVER: &str = "server µs";
const APPLICATION: &str = "app µs";
const EXCHANGE: &str = "exchange µs";
const EXCHANGES: &str = "× exchange";
const FAILED: &str = "failed";
const PER_SECOND: &str = "per second";
const ADDED_P50: &str = "added p50 ms";
const ADDED_P99: &str = "added p99 ms";
const APPLICATION_P99: &str = "app p99 ms";
const UNANSWERED: &str = "unanswered";

/// A server and the application that it asks; both end with it.
struct Pair {
    server: Server,
    application: Application,
}

/// Measures connects at every connection count, then actions.
pub(super) fn run(plan: &Plan) -> Result<Outcome, Error> {
    let program = repository::build_release("plimsoll-rpc-app").map_err(Error::Build)?;
    let start = || {
        let application = Application::start(&program)?;
        let host = application.address().to_string();
        let server = Server::start_with(&plan.server, &["--rpc_host", &host])?;
        Ok(Pair { server, application })
    };
    let mut outcome = Outcome::default();
    for n_connections in plan.connections(&CONNECTIONS, avalanche::MAX_CONNECTIONS)? {
        measure_connects(plan, start, n_connections, &mut outcome)?;
    }
    measure_performs(plan, start, &mut outcome)?;
    measure_added_latency(plan, start, &mut outcome)?;
    Ok(outcome)
}

fn measure_connects(
    plan: &Plan,
    start: impl Fn() -> Result<Pair, Error>,
    n_connections: usize,
    outcome: &mut Outcome,
) -> Result<(), Error> {
    let title =
        format!("rpc: CPU per connect + subscribe over gRPC, {n_connections} connections (AnyCable: 217 µs)");
    let mut sheet = Sheet::new(title, &[SERVER, APPLICATION, EXCHANGE, EXCHANGES, FAILED]);
    let mut reports = Vec::new();
    for _ in 0..plan.rounds {
        let exchange = exchange::pace_us().map_err(Error::Limit)?;
        let pair = start()?;
        let before = pair.application.cpu()?;
        let report = avalanche::connect(plan, &pair.server, n_connections)?;
        let application = pair.application.cpu()? - before;
        let n_connected = report.sum("/plimsoll/connect/n_connected")?;
        let server = report.sum("/plimsoll/connect/watch/cpu_seconds")? * 1e6 / n_connected;
        sheet.push(vec![
            server,
            application.as_secs_f64() * 1e6 / n_connected,
            exchange,
            server / exchange,
            report.sum("/plimsoll/connect/n_failed")?,
        ]);
        reports.push(report.into_json());
    }
    let circumstances = format!("over gRPC, {n_connections} connections");
    let [absolute, relative] = budget::RPC_CONNECT.judge_cpu(
        circumstances.clone(),
        sheet.median(SERVER),
        sheet.median(EXCHANGES),
    );
    let failed = budget::AVALANCHE_FAILED.judge(circumstances, sheet.median(FAILED));
    outcome.add(&sheet, &[absolute, relative, failed], &reports);
    Ok(())
}

/// A closed loop: every client performs its next action when the last one is answered.
fn measure_performs(
    plan: &Plan,
    start: impl Fn() -> Result<Pair, Error>,
    outcome: &mut Outcome,
) -> Result<(), Error> {
    let title =
        format!("rpc: CPU per action over gRPC, {N_PERFORMING} clients in a closed loop (AnyCable: 63 µs)");
    let mut sheet = Sheet::new(title, &[SERVER, APPLICATION, EXCHANGE, EXCHANGES, PER_SECOND]);
    let mut reports: Vec<Value> = Vec::new();
    for _ in 0..plan.rounds {
        let exchange = exchange::pace_us().map_err(Error::Limit)?;
        let pair = start()?;
        let before = pair.application.cpu()?;
        let report = perform(plan, &pair.server)?;
        let application = pair.application.cpu()? - before;
        let sampling = "/steps/0/plimsoll/sampling";
        let n_performed = report.number("/steps/0/plimsoll/n_sent")?;
        let server = report.number(&format!("{sampling}/watch/cpu_seconds"))? * 1e6 / n_performed;
        sheet.push(vec![
            server,
            application.as_secs_f64() * 1e6 / n_performed,
            exchange,
            server / exchange,
            n_performed / report.number(&format!("{sampling}/seconds"))?,
        ]);
        reports.push(report.into_json());
    }
    let verdicts = budget::RPC_PERFORM.judge_cpu(
        format!("{N_PERFORMING} clients"),
        sheet.median(SERVER),
        sheet.median(EXCHANGES),
    );
    outcome.add(&sheet, &verdicts, &reports);
    Ok(())
}

fn perform(plan: &Plan, server: &Server) -> Result<Report, Error> {
    let (url, pid) = (server.cable_url(), server.pid().to_string());
    let (n_clients, n_samples) = (N_PERFORMING.to_string(), N_PERFORMED.to_string());
    generator::run(
        &plan.generator,
        &[
            "echo",
            &url,
            "--server-type",
            "actioncable",
            "--watch",
            &pid,
            "--step-size",
            &n_clients,
            "--concurrent",
            &n_clients,
            "--sample-size",
            &n_samples,
            "--total-steps",
            "1",
        ],
    )
}

/// An open loop: actions begin when they are due, however long earlier ones take.
fn measure_added_latency(
    plan: &Plan,
    start: impl Fn() -> Result<Pair, Error>,
    outcome: &mut Outcome,
) -> Result<(), Error> {
    let rate = PACED.rate_per_s();
    let title = format!("rpc: what the server adds to an action, {rate:.0} actions per second, open loop");
    let mut sheet = Sheet::new(title, &[ADDED_P50, ADDED_P99, APPLICATION_P99, UNANSWERED]);
    for _ in 0..plan.rounds {
        let pair = start()?;
        let mut answers = paced::perform(pair.server.address(), PACED).map_err(Error::Swarm)?;
        sheet.push(vec![
            percentile_ms(&mut answers.added, 50),
            percentile_ms(&mut answers.added, 99),
            percentile_ms(&mut answers.in_application, 99),
            answers.n_unanswered as f64,
        ]);
    }
    let circumstances = format!("{rate:.0} actions per second");
    let verdicts = [
        budget::RPC_ADDED.judge(circumstances.clone(), sheet.median(ADDED_P99)),
        budget::RPC_UNANSWERED.judge(circumstances, sheet.median(UNANSWERED)),
    ];
    outcome.add(&sheet, &verdicts, &[]);
    Ok(())
}
