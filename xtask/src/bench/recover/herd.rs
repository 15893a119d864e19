//! All clients come back at once: what a return costs the server next to a connect with its subscription in the same run,
//! when the last client has everything, and which calls an application gets.

use serde_json::Value;

use super::{KEY, page, start, start_for};
use crate::{
    bench::{
        Error, Outcome, Plan, budget,
        generator::{self, Report},
        rpc::application::Application,
        server::Server,
        sheet::Sheet,
    },
    repository,
};

const N_CLIENTS: usize = 10_000;
/// Herds of one run.
const N_CUTS: usize = 3;

/// The channel of `benchmarks/rpc-app` with the stream of a client.
const RPC_CHANNEL: &str = r#"{"channel":"BenchmarkChannel","stream":"{stream}"}"#;
const PUBLIC_CHANNEL: &str = r#"{"channel":"$pubsub","stream_name":"{stream}"}"#;

const CONNECT: &str = "connect µs";
const RETURN: &str = "return µs";
const RATIO: &str = "× connect";
const LAST: &str = "last whole s";
const FAULTS: &str = "faults";
const CALLS: &str = "further calls";

/// Measures public streams, then an application over gRPC.
pub(super) fn measure(plan: &Plan, outcome: &mut Outcome) -> Result<(), Error> {
    let program = repository::build_release("plimsoll-rpc-app").map_err(Error::Build)?;
    let title = format!("recover: {N_CLIENTS} clients come back at once, {N_CUTS} times, public streams");
    let mut sheet = Sheet::new(title, &[CONNECT, RETURN, RATIO, LAST, FAULTS]);
    let mut reports = Vec::new();
    for _ in 0..plan.rounds {
        let report = herd(plan, &start(plan, &[])?, PUBLIC_CHANNEL)?;
        sheet.push(figures(&report)?);
        reports.push(report.into_json());
    }
    judge(&sheet, "public streams", &[], &reports, outcome);
    let title = "recover: the same behind an application over gRPC".to_owned();
    let mut sheet = Sheet::new(title, &[CONNECT, RETURN, RATIO, LAST, FAULTS, CALLS]);
    let mut reports: Vec<Value> = Vec::new();
    for _ in 0..plan.rounds {
        let (report, n_calls) = behind_application(plan, &program)?;
        let mut row = figures(&report)?;
        row.push(n_calls);
        sheet.push(row);
        reports.push(report.into_json());
    }
    let calls = budget::RECOVER_CALLS.judge("over gRPC".into(), sheet.median(CALLS));
    judge(&sheet, "over gRPC", &[calls], &reports, outcome);
    Ok(())
}

fn judge(
    sheet: &Sheet,
    circumstances: &str,
    others: &[budget::Verdict],
    reports: &[Value],
    outcome: &mut Outcome,
) {
    let verdicts = [
        budget::RECOVER_HERD_CPU.judge(circumstances.into(), sheet.median(RATIO)),
        budget::RECOVER_WHOLE.judge(circumstances.into(), sheet.median(LAST)),
        budget::RECOVER_FAULTS.judge(circumstances.into(), sheet.median(FAULTS)),
    ];
    outcome.add(sheet, &[&verdicts, others].concat(), reports);
}

/// The report, and how many Connect and Subscribe calls the application got beside those of the first connections.
fn behind_application(plan: &Plan, program: &std::path::Path) -> Result<(Report, f64), Error> {
    const CALLS: &str = "rpc_call_duration_seconds_count";
    let application = Application::start(program)?;
    let host = application.address().to_string();
    let server = start_for(plan, &["--rpc_host", &host], &[])?;
    let report = herd(plan, &server, RPC_CHANNEL)?;
    let calls = |command| page::metric(server.address(), CALLS, command);
    let n_calls = calls(r#"command="connect""#)? + calls(r#"command="command""#)?;
    Ok((report, n_calls - 2.0 * N_CLIENTS as f64))
}

/// Few broadcasts, so that the server's time is that of the returns.
fn herd(plan: &Plan, server: &Server, channel: &str) -> Result<Report, Error> {
    let (url, pid) = (server.cable_url(), server.pid().to_string());
    let (n_clients, n_cuts) = (N_CLIENTS.to_string(), N_CUTS.to_string());
    generator::run_with_faults(
        &plan.generator,
        &[
            "recover",
            &url,
            "--channel",
            channel,
            "--broadcast-key",
            KEY,
            "--watch",
            &pid,
            "--clients",
            &n_clients,
            "--connect-concurrent",
            &n_clients,
            "--streams",
            "20",
            "--rate",
            "2/s",
            "--duration",
            "30s",
            "--cuts",
            &n_cuts,
            "--away",
            "2s",
            "--herd",
        ],
    )
}

fn figures(report: &Report) -> Result<Vec<f64>, Error> {
    let connect = report.number("/cost/connect/cpu_us_each")?;
    let back = report.number("/cost/herd/cpu_us_each")?;
    let faults = super::jitter::faults(report, "/messages", "out_of_order")?;
    let n_incomplete = report.number("/returns/incomplete")?;
    Ok(vec![
        connect,
        back,
        back / connect,
        report.number("/recovery_us/max")? / 1e6,
        faults + n_incomplete,
    ])
}
