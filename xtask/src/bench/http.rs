//! Client CPU per HTTP request over kept connections: `plimsoll bench http` next to wrk and ab, which take turns against
//! one server.
//!
//! The CPU time is the system's count for the whole process, from its start to its end, for all three alike.

use std::process::Command;

use serde_json::Value;

use super::{
    Error, Outcome, Plan, budget,
    generator::{self, Report},
    server::Server,
    sheet::Sheet,
    usage::measured,
};
use crate::{command, debian, debian::Need, repository};

/// Connections at a time, as many as when wrk and ab were measured for the budgets.
const CONNECTIONS: [usize; 1] = [100];

/// ab's own limit of concurrency is 20,000, the server's open files are fewer.
const MAX_CONNECTIONS: usize = 10_000;

/// Of each program and round. Long enough that starting a program does not show.
const SECONDS: &str = "5";

/// ab wants a number of requests; more than it can make in the time.
const MANY: &str = "100000000";

/// `wrk` says its version and how it is used, which it takes for a failure.
const PEERS: [Need; 2] = [
    Need {
        probes: &[&["sh", "-c", "command -v wrk"]],
        packages: &["wrk"],
    },
    Need {
        probes: &[&["ab", "-V"]],
        packages: &["apache2-utils"],
    },
];

const WRK: &str = "wrk µs";
const AB: &str = "ab µs";
const PLIMSOLL: &str = "plimsoll µs";
const RATIO: &str = "× wrk";

/// Installs the peers where they are missing, and measures at every connection count.
pub(super) fn run(plan: &Plan) -> Result<Outcome, Error> {
    debian::install(&PEERS)?;
    let mut outcome = Outcome::default();
    for n_connections in plan.connections(&CONNECTIONS, MAX_CONNECTIONS)? {
        let title = format!("http: client CPU per request, {n_connections} kept connections");
        let mut sheet = Sheet::new(title, &[WRK, AB, PLIMSOLL, RATIO]);
        let reports = (0..plan.rounds)
            .map(|_| round(plan, n_connections, &mut sheet))
            .collect::<Result<Vec<_>, _>>()?;
        let verdict = budget::HTTP.judge(format!("{n_connections} connections"), sheet.median(RATIO));
        outcome.add(&sheet, &[verdict], &reports);
    }
    Ok(outcome)
}

/// One after the other against one server.
fn round(plan: &Plan, n_connections: usize, sheet: &mut Sheet) -> Result<Value, Error> {
    let server = Server::start(&plan.server)?;
    let url = format!("http://{}/health", server.address());
    let n = n_connections.to_string();
    let wrk = foreign(
        &["wrk", "-t", "2", "-c", &n, "-d", SECONDS, &url],
        "requests in",
        &["Socket errors", "Non-2xx"],
    )?;
    let ab = foreign(
        &["ab", "-q", "-k", "-c", &n, "-t", SECONDS, "-n", MANY, &url],
        "Complete requests",
        &["Non-2xx", "Write errors", "(Connect:"],
    )?;
    let (plimsoll, report) = ours(plan, &n, &url)?;
    sheet.push(vec![wrk, ab, plimsoll, plimsoll / wrk]);
    Ok(report.into_json())
}

/// CPU microseconds per request of another program. Its output must have the number of requests in a line with `field`,
/// and none of `bad`.
fn foreign(words: &[&str], field: &'static str, bad: &[&str]) -> Result<f64, Error> {
    let mut program = repository::command(words[0]);
    program.args(&words[1..]);
    let (output, cpu_us) = measured(|| read(&mut program))?;
    let n_requests = output
        .lines()
        .find(|line| line.contains(field))
        .and_then(first_number);
    match n_requests {
        Some(n) if n > 0.0 && !bad.iter().any(|bad| output.contains(bad)) => Ok(cpu_us / n),
        _ => Err(Error::Output {
            program: command::line(&program),
            field,
            output,
        }),
    }
}

/// What a program wrote.
fn read(program: &mut Command) -> Result<String, Error> {
    let output = program.output().map_err(|source| Error::Start {
        program: command::line(program),
        source,
    })?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn first_number(line: &str) -> Option<f64> {
    line.split_whitespace().find_map(|word| word.parse().ok())
}

fn ours(plan: &Plan, n_connections: &str, url: &str) -> Result<(f64, Report), Error> {
    let duration = format!("{SECONDS}s");
    let arguments = ["http", "-k", "-c", n_connections, "--duration", &duration, url];
    let (report, cpu_us) = measured(|| generator::run(&plan.generator, &arguments))?;
    Ok((cpu_us / report.number("/complete")?, report))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_requests() {
        for (line, expected) in [
            ("  123456 requests in 5.01s, 20.00MB read", Some(123_456.0)),
            ("Complete requests:      98765", Some(98_765.0)),
            ("none", None),
        ] {
            assert_eq!(first_number(line), expected, "{line}");
        }
    }
}
