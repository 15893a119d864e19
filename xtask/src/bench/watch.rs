//! What `--watch` says of a server, next to what others count: memory per user next to `idle`'s, CPU and memory of a run next
//! to the kernel's own figures.

use super::{
    Error, Outcome, Plan, budget,
    generator::{self, Report},
    idle::Readings,
    server::Server,
    sheet::Sheet,
};

/// What `idle` has.
const CONNECTIONS: [usize; 1] = [10_000];

/// As for `idle`.
const MAX_CONNECTIONS: usize = 19_000;

/// Steps in which the connections come: each is a second or more, and so a point of the line.
const N_STEPS: usize = 20;

/// Echoes of the run whose CPU is counted. Enough for some seconds, so that its start and its end do not show.
const N_ECHOES: &str = "300000";

const IDLE: &str = "idle bytes";
const FITTED: &str = "fitted bytes";
const ERROR: &str = "± bytes";
const CPU: &str = "CPU of /proc s";
const WATCHED_CPU: &str = "watched s";
const RSS: &str = "RSS of /proc KB";
const WATCHED_RSS: &str = "watched KB";
const CPU_OFF: &str = "CPU off by %";
const RSS_OFF: &str = "RSS off by %";
const OFF: &str = "off idle by %";

/// Where the report has what the first target used.
const TARGET: &str = "/plimsoll/targets/0";

/// Measures at every connection count.
pub(super) fn run(plan: &Plan) -> Result<Outcome, Error> {
    let mut outcome = Outcome::default();
    for n_connections in plan.connections(&CONNECTIONS, MAX_CONNECTIONS)? {
        per_user(plan, n_connections, &mut outcome)?;
    }
    in_all(plan, &mut outcome)?;
    Ok(outcome)
}

/// Memory of the server per user, as a line through a run in which users come step by step.
fn per_user(plan: &Plan, n_connections: usize, outcome: &mut Outcome) -> Result<(), Error> {
    let title =
        format!("watch: server RSS per user, {n_connections} subscribed connections in {N_STEPS} steps");
    let mut sheet = Sheet::new(title, &[IDLE, FITTED, ERROR, OFF]);
    let mut reports = Vec::new();
    for _ in 0..plan.rounds {
        let idle = Readings::take(plan, n_connections)?.each();
        let server = Server::start(&plan.server)?;
        let (url, pid) = (server.cable_url(), server.pid().to_string());
        let [step_size, n_steps] = [n_connections / N_STEPS, N_STEPS].map(|n| n.to_string());
        let report = generator::run(
            &plan.generator,
            &[
                "connect",
                &url,
                "--server-type",
                "actioncable-connect",
                "--step-size",
                &step_size,
                "--total-steps",
                &n_steps,
                "--steps-delay",
                "1",
                "--watch",
                &pid,
            ],
        )?;
        let [slope, error] = memory_per_user(&report)?;
        sheet.push(vec![idle, slope, error, off(slope, idle)]);
        reports.push(report.into_json());
    }
    let circumstances = format!("{n_connections} connections");
    let verdict = budget::WATCH_PER_USER.judge(circumstances, sheet.median(OFF));
    outcome.add(&sheet, &[verdict], &reports);
    Ok(())
}

/// The resident memory of one more user, and half of its 95 % interval.
fn memory_per_user(report: &Report) -> Result<[f64; 2], Error> {
    let figure = |name: &str| report.number(&format!("{TARGET}/rss_per_user/{name}"));
    Ok([figure("bytes")?, (figure("high")? - figure("low")?) / 2.0])
}

/// CPU of a whole run and memory at its end.
fn in_all(plan: &Plan, outcome: &mut Outcome) -> Result<(), Error> {
    let title = format!("watch: CPU and RSS of the server, {N_ECHOES} echoes to 100 connections");
    let columns = [CPU, WATCHED_CPU, CPU_OFF, RSS, WATCHED_RSS, RSS_OFF];
    let mut sheet = Sheet::new(title, &columns);
    let mut reports = Vec::new();
    for _ in 0..plan.rounds {
        let server = Server::start(&plan.server)?;
        let (url, pid) = (server.cable_url(), server.pid().to_string());
        let before = server.cpu()?;
        let report = generator::run(
            &plan.generator,
            &[
                "echo",
                &url,
                "--server-type",
                "actioncable",
                "--step-size",
                "100",
                "--total-steps",
                "1",
                "--sample-size",
                N_ECHOES,
                "--watch",
                &pid,
            ],
        )?;
        let cpu = (server.cpu()? - before).as_secs_f64();
        let rss = server.rss_bytes()? as f64 / 1024.0;
        let watched_cpu = report.number(&format!("{TARGET}/cpu_seconds"))?;
        let watched_rss = report.last_number(&format!("{TARGET}/series/rss_bytes"))? / 1024.0;
        let (cpu_off, rss_off) = (off(watched_cpu, cpu), off(watched_rss, rss));
        sheet.push(vec![cpu, watched_cpu, cpu_off, rss, watched_rss, rss_off]);
        reports.push(report.into_json());
    }
    let verdicts = [CPU_OFF, RSS_OFF].map(|column| {
        let what = column.split(' ').next().unwrap_or_default();
        budget::WATCH_TOTAL.judge(what.to_owned(), sheet.median(column))
    });
    outcome.add(&sheet, &verdicts, &reports);
    Ok(())
}

/// How far a figure is from the right one, in percent.
fn off(found: f64, right: f64) -> f64 {
    (found / right - 1.0).abs() * 100.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distance_has_no_direction() {
        for (found, expected) in [(110.0, 10.0), (90.0, 10.0), (100.0, 0.0)] {
            assert!((off(found, 100.0) - expected).abs() < 1e-9, "{found}");
        }
    }
}
