//! The way from a suite to an exit code, the same for all suites.

use std::{
    io::{self, Write},
    time::{Instant, SystemTime},
};

use plimsoll_conformance::{Case, Outcome, Results, Suite, Target, run};
use tokio::task::LocalSet;

use super::{
    cases::listing,
    expecting::Expecting,
    flags::{Flags, Format},
    progress::Progress,
    report_file::ReportFile,
};
use crate::{
    exit::{Failure, Status},
    signals::Signals,
    surroundings::Surroundings,
    terminal,
};

/// Runs the cases that the flags select and does with the results what they say. `name` is the suite's, as results
/// have it.
///
/// # Errors
/// When the flags ask for what cannot be, the target does not answer, or a signal ended the run: then there are no
/// results.
pub(super) fn conduct(
    name: &str,
    suite: &impl Suite,
    target: Target,
    flags: &Flags,
    surroundings: &Surroundings<'_>,
) -> Result<Status, Failure> {
    let all = suite.cases();
    let cases = flags
        .selection()
        .of(all.clone())
        .map_err(|error| Failure::Usage(format!("{error}; --list shows all cases")))?;
    if flags.list {
        io::stdout().write_all(listing(&cases).as_bytes())?;
        return Ok(Status::Success);
    }
    flags.reports.iter().try_for_each(ReportFile::check)?;
    let expecting = Expecting::read(flags, surroundings)?;
    let (began, started) = (Instant::now(), SystemTime::now());
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let outcomes = LocalSet::new().block_on(&runtime, outcomes(suite, cases, flags))?;
    let seconds = began.elapsed().as_secs_f64();
    let target = Target {
        name: flags.name.clone().unwrap_or(target.name),
        ..target
    };
    let results = Results::new(name, suite, target, started, seconds, outcomes);
    print(&results, flags.format)?;
    for file in &flags.reports {
        file.write(&results)?;
        writeln!(io::stderr(), "Report: {file}")?;
    }
    expecting.judge(&all, &results)
}

async fn outcomes(suite: &impl Suite, cases: Vec<Case>, flags: &Flags) -> Result<Vec<Outcome>, Failure> {
    let signals = Signals::listen()?;
    let n_cases = cases.len();
    let mut progress = Progress::new(n_cases);
    let mut n_done = 0;
    let running = async {
        suite
            .prepare()
            .await
            .map_err(|problem| Failure::Runtime(problem.into()))?;
        let observe = |outcome: &Outcome| {
            n_done += 1;
            progress.observe(outcome);
        };
        Ok(run(suite, cases, flags.parallel.get(), flags.deadline(), observe).await)
    };
    let outcomes = tokio::select! {
        outcomes = running => outcomes,
        () = signals.received(1) => {
            let problem = format!("a signal ended the run after {n_done} of {n_cases} cases, so there are no results");
            Err(Failure::Runtime(problem.into()))
        }
    };
    progress.finish();
    outcomes
}

fn print(results: &Results, format: Format) -> Result<(), Failure> {
    let mut stdout = io::stdout();
    let text = match format {
        Format::Text => results.text(terminal::style(&stdout)),
        Format::Json => format!("{}\n", results.json()?),
        Format::Junit => results.junit(),
    };
    stdout.write_all(text.as_bytes())?;
    stdout.flush()?;
    Ok(())
}
