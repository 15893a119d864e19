//! `plimsoll run FILE.yml`: load tests that are written as Artillery's files.

use std::{
    ffi::OsString,
    fmt::Write as _,
    fs, io,
    io::{Read as _, Write as _},
    path::Path,
    sync::Arc,
    time::Duration,
};

use plimsoll_load::{
    generator::{self, Health},
    preflight::{self, UserKind},
    run::{self, Progress, RunConfig, RunEnd, RunResult},
};
use plimsoll_report::{
    Style, Summary,
    artillery::{Arrivals, Figures, Names, json},
    summary::Kind,
    timeline::Recorder,
};
use plimsoll_scenario::{
    artillery::{self, Activity, NAMES, RATES, Test, Users, Verdict},
    document::Document,
};
use plimsoll_script::{PageSelector, Redaction};
use tokio::task::LocalSet;

use super::{
    log::{Log, LogFormat, LogOutput},
    results::{Course, summarize, write_file},
};
use crate::{
    exit::{Failure, Status, TestFailure},
    live, numbers,
    runs::Keeper,
    screen::Screen,
    signals::Signals,
    surroundings::Surroundings,
    terminal,
};

mod guard;
mod options;
mod processor;
mod quick;
mod reports;
mod summary;

pub(super) use self::options::Options;
pub(crate) use self::quick::Options as QuickOptions;
use self::{
    guard::{Breach, Guard},
    reports::Reports,
};

/// The names of everything that a report of Artillery's shows.
const ALL_NAMES: Names = Names {
    metrics: NAMES,
    rates: RATES,
};

/// Runs the file that `arguments` name, the program and `run` among them.
pub(super) fn execute(arguments: &[OsString], surroundings: &Surroundings<'_>) -> Result<Status, Failure> {
    let arguments = [OsString::from("plimsoll run")]
        .into_iter()
        .chain(arguments.iter().skip(2).cloned());
    let options: Options = numbers::parse(arguments);
    let path = &options.file;
    let unreadable = |error| io::Error::other(format!("cannot read {}: {error}", path.display()));
    let text = (surroundings.read_file)(path).map_err(unreadable)?;
    execute_text(&options, &text, surroundings)
}

/// Runs a file with this text.
fn execute_text(options: &Options, text: &str, surroundings: &Surroundings<'_>) -> Result<Status, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    LocalSet::new().block_on(&runtime, conduct(options, text, surroundings))
}

/// Reads a file and runs nothing; gives what a run would warn of. `flags` are those of `run`.
pub(super) fn check(
    file: &Path,
    flags: &[OsString],
    surroundings: &Surroundings<'_>,
) -> Result<Vec<String>, Failure> {
    let words = [OsString::from("--"), file.into()];
    let arguments = [OsString::from("plimsoll run")];
    let arguments = arguments.into_iter().chain(flags.iter().cloned()).chain(words);
    let text = (surroundings.read_file)(file)?;
    let options: Options = numbers::parse(arguments);
    let test = read(&options, &text, surroundings)?;
    test.plan().map_err(|error| Failure::Usage(error.to_string()))?;
    Ok(test.warnings().to_vec())
}

async fn conduct(options: &Options, text: &str, surroundings: &Surroundings<'_>) -> Result<Status, Failure> {
    options.refuse_unsupported().map_err(Failure::Usage)?;
    options.report.check()?;
    let (screen, is_drawable) = Screen::stderr();
    let screen = Arc::new(screen);
    start_log(options, &screen)?;
    let test = read(options, text, surroundings)?;
    for warning in test.warnings() {
        tracing::warn!("{warning}");
    }
    preflight::raise_open_file_limit();
    let signals = Signals::listen()?;
    let keeper = options.save.keeper(options.quiet, surroundings);
    tokio::select! {
        outcome = run_test(options, &test, &signals, keeper, (screen, is_drawable)) => outcome,
        () = signals.received(2) => Err(interrupted("a second signal ended the run at once, so there is no result")),
    }
}

fn start_log(options: &Options, screen: &Arc<Screen<io::Stderr>>) -> io::Result<()> {
    let style: Style = terminal::style(&io::stderr());
    let log = Log {
        output: &LogOutput::Stderr,
        format: LogFormat::Text,
        is_verbose: options.verbose,
        has_colour: style.color,
        screen: Arc::clone(screen),
        // Only scripts read secrets.
        redaction: Redaction::default(),
        hides_users: false,
    };
    // Nobody redirects the console: there is none.
    log.start().map(drop)
}

/// Reads a file with this text.
pub(super) fn read(options: &Options, text: &str, surroundings: &Surroundings<'_>) -> Result<Test, Failure> {
    let path = &options.file;
    let document = Document::read(&path.display().to_string(), text)?;
    let mut system: std::collections::BTreeMap<_, _> = surroundings
        .environment
        .iter()
        .filter_map(|(name, value)| Some((name.to_str()?.to_owned(), value.to_str()?.to_owned())))
        .collect();
    if let Some(path) = &options.dotenv {
        let text = (surroundings.read_file)(path)
            .map_err(|error| io::Error::other(format!("cannot read {}: {error}", path.display())))?;
        system.extend(options::variables_of(&text));
    }
    let test = artillery::read(
        &document,
        &artillery::Surroundings {
            path,
            environment: options.environment.clone(),
            target: options.target.clone(),
            variables: options.variables()?,
            is_insecure: options.insecure,
            scenario_name: options.scenario_name.clone(),
            is_solo: options.solo,
            max_duration: options.max_duration,
            read_bytes: &read_bytes,
            read_selector: &|text| Ok(Arc::new(PageSelector::new(text)?)),
            load_processor: &|path| processor::load(path, &system),
            system: system.clone(),
            read_file: surroundings.read_file,
        },
    )?;
    Ok(test)
}

fn read_bytes(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    fs::File::open(path)?.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

async fn run_test(
    options: &Options,
    test: &Test,
    signals: &Signals,
    keeper: Keeper,
    (screen, is_drawable): (Arc<Screen<io::Stderr>>, bool),
) -> Result<Status, Failure> {
    let plan = test.plan().map_err(|error| Failure::Usage(error.to_string()))?;
    if plan.scenarios.is_empty() {
        return Err(Failure::Usage(
            "nobody arrives before --max-duration ends the run".to_owned(),
        ));
    }
    options.memory.check(UserKind::Scenario, &plan)?;
    let Users {
        registry,
        factory,
        mut stages,
        activity,
    } = test.users();
    let sampling = options.watch.attach()?;
    let config = RunConfig {
        sampling: sampling.clone(),
        ..RunConfig::new(plan.clone())
    };
    let view = options.live.start(live::Setting {
        name: &options.file.display().to_string(),
        plan: &plan,
        control: config.control.clone(),
        signals: signals.clone(),
        sampling: sampling.clone(),
        screen: Arc::clone(&screen),
        is_drawable,
        is_quiet: options.quiet,
        has_colour: terminal::style(&io::stderr()).color,
        // Only scripts read secrets.
        redact: Box::new(str::to_owned),
    })?;
    let page = options.page.serve(
        live::PageSetting {
            kind: Kind::Artillery,
            name: &options.file.display().to_string(),
            plan: &plan,
            control: config.control.clone(),
            signals: signals.clone(),
            sampling: sampling.clone(),
            link: None,
            // Only scripts read secrets.
            redact: Box::new(str::to_owned),
        },
        &screen,
    )?;
    let mut reports = Reports::new(options, test, screen);
    let guard = Guard::new(test.ensure());
    let mut recorder = Recorder::new();
    let observe = |progress: &Progress<'_>| {
        recorder.observe(progress);
        if let Some(view) = &view {
            view.observe(progress);
        }
        if let Some(page) = &page {
            page.observe(progress, &recorder);
        }
        reports.observe(progress);
        guard.observe(progress);
    };
    let ended_early = async {
        tokio::select! {
            () = signals.received(1) => {}
            () = guard.wait() => {}
        }
    };
    let n_workers = config.n_workers;
    let result = run::run(config, registry, factory, &mut stages, observe, ended_early).await;
    drop(view);
    let result = result?;
    let accounts: Vec<_> = sampling.iter().flat_map(|sampling| sampling.finish()).collect();
    let mut figures = reports.finish(&result);
    let n_interrupted = result.iterations.n_interrupted;
    if n_interrupted > 0 {
        // The engine's own count, which no user can record.
        figures
            .counters
            .insert("vusers.interrupted".to_owned(), n_interrupted);
    }
    let health = generator::judge(&result.generator, result.schedule, latency(&figures));
    let course = Course {
        kind: Kind::Artillery,
        name: &options.file.display().to_string(),
        plan: &plan,
        n_workers,
        recorder,
        health: health.clone(),
        accounts,
        notices: Vec::new(),
    };
    let mut verdicts = test.ensure().judge(&|name| figures.figure(name));
    // What ended the run failed, also when its last moments made up for it.
    for verdict in verdicts
        .iter_mut()
        .filter(|verdict| guard.breach().is_some_and(|breach| breach.check == verdict.text))
    {
        verdict.holds = false;
    }
    let outcome = Outcome {
        result: &result,
        summary: summary::judged(summarize(&result, course), &verdicts, guard.breach()),
        verdicts,
        figures: &figures,
        health,
        breach: guard.breach(),
    };
    let told = tell(options, test, &outcome, &reports, &activity);
    keeper.keep(&outcome.summary);
    options.report.write(&outcome.summary);
    if let Some(page) = page {
        page.finish(&outcome.summary).await;
    }
    told
}

fn interrupted(message: &str) -> Failure {
    TestFailure::SignalEnded.because(message)
}

/// What a run came to.
struct Outcome<'a> {
    result: &'a RunResult,
    summary: Summary,
    /// Of the file's checks.
    verdicts: Vec<Verdict>,
    figures: &'a Figures,
    health: Health,
    /// The check that ended it.
    breach: Option<&'a Breach>,
}

/// The latency against which the generator's own lateness is judged.
fn latency(figures: &Figures) -> Option<Duration> {
    let latencies = ["websocket.response_time", "http.response_time"].iter();
    let latencies = latencies.filter_map(|name| figures.summaries.get(*name));
    latencies
        .map(|histogram| plimsoll_report::percentile(histogram, 95.0))
        .min()
}

/// Prints and writes what the whole run came to, and says how the command ends.
fn tell(
    options: &Options,
    test: &Test,
    outcome: &Outcome<'_>,
    reports: &Reports<'_>,
    activity: &Activity,
) -> Result<Status, Failure> {
    let Outcome {
        result,
        summary,
        verdicts,
        figures,
        health,
        breach,
    } = outcome;
    if let RunEnd::SetupFailed(failure) = &result.end {
        return Err(Failure::Runtime(
            format!("`before` failed, so nobody arrived: {failure}").into(),
        ));
    }
    reports.print_summary(figures);
    let n_following = activity.n_following();
    let arrivals = Arrivals {
        n_due: test.n_due(result.duration),
        n_created: figures.counter("vusers.created").saturating_sub(n_following),
        n_following,
        n_skipped: figures.counter("vusers.skipped"),
        lateness: figures.summaries.get("vusers.lateness").cloned(),
        most_active: activity.peak(),
        n_interrupted: result.iterations.n_interrupted,
    };
    let mut text = format!("\n{}", arrivals.text(health));
    for target in &summary.targets {
        // Writing to a string cannot fail.
        let _ = write!(text, "\n{}", target.text());
    }
    for notice in &result.notices {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "  {notice}");
    }
    if let Some((score, rank)) = figures.apdex() {
        let _ = writeln!(text, "\nApdex score: {score:.3} ({rank})");
    }
    text.push_str(&checks(verdicts));
    if !options.quiet {
        print(&text)?;
    }
    if let Some(path) = &options.output {
        let report = json(figures, reports.periods());
        write_file(
            path,
            format!("{}\n", serde_json::to_string_pretty(&report)?).as_bytes(),
        )?;
    }
    if let Some(failure) = &result.teardown_failure {
        return Err(Failure::Runtime(format!("`after` failed: {failure}").into()));
    }
    if let Some(Breach { check, after }) = breach {
        let secs = after.as_secs_f64();
        let message =
            format!("the check `{check}` of `ensure` did not hold after {secs:.1} s, and ended the run");
        return Err(TestFailure::ChecksFailed.because(message));
    }
    if result.end == RunEnd::Shutdown {
        return Err(interrupted("the run was interrupted by a signal"));
    }
    let n_unexpected = figures.counter("plugins.expect.failed");
    if n_unexpected > 0 {
        let message = format!("{n_unexpected} expectations of `expect` were not met");
        return Err(TestFailure::ExpectationsFailed.because(message));
    }
    let n_failed = verdicts
        .iter()
        .filter(|verdict| verdict.is_strict && !verdict.holds)
        .count();
    match n_failed {
        0 => Ok(Status::Success),
        _ => {
            let message = format!("{n_failed} of {} checks of `ensure` failed", verdicts.len());
            Err(TestFailure::ChecksFailed.because(message))
        }
    }
}

/// As Artillery's plugin prints them.
fn checks(verdicts: &[Verdict]) -> String {
    let mut text = String::new();
    if !verdicts.is_empty() {
        text.push_str("\nChecks:\n");
    }
    for Verdict {
        text: check,
        holds,
        is_strict,
    } in verdicts
    {
        let (word, note) = (
            if *holds { "ok" } else { "fail" },
            if *is_strict { "" } else { " (optional)" },
        );
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{word}: {check}{note}");
    }
    text
}

fn print(text: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    stdout.flush()
}
