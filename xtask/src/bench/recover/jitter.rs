//! Clients that lose their connections again and again while backends publish: what they lose, get twice or in the wrong
//! order, and what base clients beside them get.

use super::{KEY, start};
use crate::bench::{
    Error, Outcome, Plan, budget,
    generator::{self, Report},
    sheet::Sheet,
};

const N_EXTENDED: usize = 10_000;
const N_BASE: usize = 1000;

const MESSAGES: &str = "messages";
const FAULTS: &str = "faults";
const RESUMED: &str = "resumed";
const OTHERS: &str = "otherwise back";
const MISSED: &str = "base: missed";
const BASE_FAULTS: &str = "base: faults";
const P99: &str = "whole p99 s";
const CPU: &str = "server CPU s";

/// Each extended client is cut five times for 2 s, while 50 broadcasts a second go to 20 streams.
pub(super) fn measure(plan: &Plan, outcome: &mut Outcome) -> Result<(), Error> {
    let title = format!(
        "recover: {N_EXTENDED} extended clients and {N_BASE} base clients, each cut five times for 2 s, 50 broadcasts per \
         second on 20 streams"
    );
    let columns = [MESSAGES, FAULTS, RESUMED, OTHERS, MISSED, BASE_FAULTS, P99, CPU];
    let mut sheet = Sheet::new(title, &columns);
    let mut reports = Vec::new();
    for _ in 0..plan.rounds {
        let report = run(plan)?;
        let n_resumed = report.number("/returns/resumed")?;
        sheet.push(vec![
            report.number("/messages/received")?,
            faults(&report, "/messages", "out_of_order")?,
            n_resumed,
            report.number("/returns/total")? - n_resumed,
            report.number("/base/missed")?,
            faults(&report, "/base", "reordered")?,
            report.number("/recovery_us/p99")? / 1e6,
            report.number("/watch/cpu_seconds")?,
        ]);
        reports.push(report.into_json());
    }
    let circumstances = format!("{N_EXTENDED} clients, 5 cuts");
    let verdicts = [
        budget::RECOVER_FAULTS.judge(circumstances.clone(), sheet.median(FAULTS)),
        budget::RECOVER_BASE_FAULTS.judge(circumstances, sheet.median(BASE_FAULTS)),
    ];
    outcome.add(&sheet, &verdicts, &reports);
    Ok(())
}

fn run(plan: &Plan) -> Result<Report, Error> {
    let server = start(plan, &[])?;
    let (url, pid) = (server.cable_url(), server.pid().to_string());
    let (n_extended, n_base) = (N_EXTENDED.to_string(), N_BASE.to_string());
    generator::run_with_faults(
        &plan.generator,
        &[
            "recover",
            &url,
            "--broadcast-key",
            KEY,
            "--watch",
            &pid,
            "--clients",
            &n_extended,
            "--base",
            &n_base,
            "--connect-concurrent",
            "1000",
            "--streams",
            "20",
            "--rate",
            "50/s",
            "--duration",
            "60s",
            "--cuts",
            "5",
            "--away",
            "2s",
        ],
    )
}

/// Lost, duplicated and reordered messages in the counts at a JSON pointer.
pub(super) fn faults(report: &Report, counts: &str, reordered: &str) -> Result<f64, Error> {
    let of = |count: &str| report.number(&format!("{counts}/{count}"));
    Ok(of("lost")? + of("duplicated")? + of(reordered)?)
}
