//! The way from a suite to an exit code, the same for all suites.

use std::{
    cell::Cell,
    io::{self, Write},
    pin::Pin,
    time::{Instant, SystemTime},
};

use plimsoll_conformance::{Case, Ended, Outcome, Ran, Results, Suite, Target, run};

use super::{
    cases::listing,
    expecting::Expecting,
    flags::{Flags, Format},
    progress::Progress,
    report_file::ReportFile,
};
use crate::{
    exit::{Failure, Status},
    runtime::run_local,
    signals::Signals,
    surroundings::Surroundings,
    terminal,
};

/// The subject of a run: the names in results, and the cases to choose from.
pub(super) struct Subject {
    /// The name of the suite in results.
    pub(super) suite: &'static str,
    /// All cases of the suite.
    pub(super) cases: Vec<Case>,
    /// The names of the families of cases.
    pub(super) families: &'static [(&'static str, &'static str)],
    /// The name of a target without a name; `None` means its address.
    pub(super) nameless: Option<&'static str>,
}

/// The result of a run, whole or not.
pub(super) struct Finished {
    /// The outcomes, and why the run ended early.
    pub(super) ran: Ran,
    /// The name that the target gave itself.
    pub(super) agent: Option<String>,
    /// The URL of the target.
    pub(super) url: String,
}

/// Resolves when the run has to end with what it has.
pub(super) type Stop<'a> = Pin<Box<dyn Future<Output = ()> + 'a>>;

/// Runs the selected cases, and writes the results as the flags say. `name` is the suite's name in results, and `url`
/// is the URL of the target.
///
/// # Errors
/// When the flags ask for what cannot be, or the target does not answer: then there are no results. When a signal ended the
/// run, or the target is not one for the suite: then the results so far are written first.
pub(super) fn conduct(
    name: &'static str,
    suite: &impl Suite,
    url: &str,
    flags: &Flags,
    surroundings: &Surroundings<'_>,
) -> Result<Status, Failure> {
    let subject = Subject {
        suite: name,
        cases: suite.cases(),
        families: suite.families(),
        nameless: None,
    };
    let runner = async |cases, stop: Stop<'_>, observe: &mut dyn FnMut(&Outcome)| {
        let prepared = suite.prepare().await;
        prepared.map_err(|problem| Failure::Runtime(problem.into()))?;
        let ran = run(
            suite,
            cases,
            flags.parallel.get(),
            flags.deadline(),
            stop,
            observe,
        )
        .await;
        Ok(Finished {
            ran,
            agent: None,
            url: suite.target().unwrap_or_else(|| url.to_owned()),
        })
    };
    conduct_by(subject, flags, surroundings, runner, || suite.finish())
}

/// Runs the cases in another way: `runner` gets the selected cases and reports each outcome. In any case, `finish` is
/// called at the end.
///
/// # Errors
/// As for [`conduct`].
pub(super) fn conduct_by(
    subject: Subject,
    flags: &Flags,
    surroundings: &Surroundings<'_>,
    runner: impl AsyncFnOnce(Vec<Case>, Stop<'_>, &mut dyn FnMut(&Outcome)) -> Result<Finished, Failure>,
    finish: impl AsyncFnOnce(),
) -> Result<Status, Failure> {
    let Subject {
        suite,
        cases: all,
        families,
        nameless,
    } = subject;
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
    let (finished, n_done) = run_local(watched(cases, runner, finish))?;
    let Finished { ran, agent, url } = finished;
    let Ran { outcomes, ended } = ran;
    let seconds = began.elapsed().as_secs_f64();
    let n_cases = outcomes.len();
    let name = flags.name.clone().or(agent);
    let target = Target {
        name: name.unwrap_or_else(|| nameless.map_or_else(|| url.clone(), str::to_owned)),
        url,
        version: None,
    };
    let results = Results::new(suite, families, target, started, seconds, outcomes);
    let is_hopeless = matches!(ended, Some(Ended::Hopeless(_)));
    print(&results, is_hopeless, flags.format)?;
    for file in &flags.reports {
        file.write(&results)?;
        writeln!(io::stderr(), "Report: {file}")?;
    }
    match ended {
        None => expecting.judge(&all, &results),
        // A part of the verdicts is not what --expect and --write-expectations are about.
        Some(Ended::Stopped) => Err(early(format!(
            "a signal ended the run after {n_done} of {n_cases} cases"
        ))),
        Some(Ended::Hopeless(why)) => Err(early(format!("{why}; ended after {n_done} of {n_cases} cases"))),
    }
}

fn early(problem: String) -> Failure {
    Failure::Runtime(problem.into())
}

/// Shows how far the run is, and ends it when a signal comes; a second signal waits for nothing. Returns the number of cases
/// that ran, too.
async fn watched(
    cases: Vec<Case>,
    runner: impl AsyncFnOnce(Vec<Case>, Stop<'_>, &mut dyn FnMut(&Outcome)) -> Result<Finished, Failure>,
    finish: impl AsyncFnOnce(),
) -> Result<(Finished, usize), Failure> {
    let signals = Signals::listen()?;
    let n_cases = cases.len();
    let mut progress = Progress::new(n_cases);
    let n_done = Cell::new(0);
    let is_running = Cell::new(false);
    let mut observe = |outcome: &Outcome| {
        n_done.set(n_done.get() + 1);
        progress.observe(outcome);
    };
    let stop: Stop<'_> = Box::pin(async {
        // The task that waits for this runs the cases, and keeps the results so far.
        is_running.set(true);
        signals.received(1).await;
    });
    // Before the first case a signal ends the preparations; there are no results then.
    let unprepared = async {
        signals.received(1).await;
        if is_running.get() {
            signals.received(2).await;
        }
    };
    let finished = tokio::select! {
        biased;
        finished = runner(cases, stop, &mut observe) => Some(finished),
        () = unprepared => None,
    };
    tokio::select! {
        () = finish() => {}
        () = signals.received(2) => {}
    }
    progress.finish();
    let Some(finished) = finished else {
        let problem = format!(
            "a signal ended the run after {} of {n_cases} cases, so there are no results",
            n_done.get()
        );
        return Err(early(problem));
    };
    Ok((finished?, n_done.get()))
}

fn print(results: &Results, is_hopeless: bool, format: Format) -> Result<(), Failure> {
    let mut stdout = io::stdout();
    let text = match format {
        Format::Text if is_hopeless => results.first_failure(terminal::style(&stdout)),
        Format::Text => results.text(terminal::style(&stdout)),
        Format::Json => format!("{}\n", results.json()?),
        Format::Junit => results.junit(),
    };
    stdout.write_all(text.as_bytes())?;
    stdout.flush()?;
    Ok(())
}
