//! `plimsoll run FILE.yml`: scenarios that are written as wsdirector's files.

use std::{cell::RefCell, ffi::OsString, io, io::Write as _, path::Path, sync::Arc};

use plimsoll_clients::tls::{Believe, Tls, TlsOptions};
use plimsoll_load::{
    plan::Plan,
    preflight::{self, UserKind},
    run::{self, Control, Progress, RunConfig, RunEnd, RunResult},
    watch::Sampling,
};
use plimsoll_outputs::{OutputReport, Outputs};
use plimsoll_report::{Summary, summary::Kind, timeline::Recorder};
use plimsoll_scenario::{
    document::{Document, Mistakes},
    wsdirector::{Connect, Outcome, Report, Scenario, Users, fill_in},
};
use plimsoll_script::Redaction;
use serde_json::json;
use tokio::task::LocalSet;

use super::{
    check::unreadable,
    log::{Log, LogFormat, LogOutput},
    progress::{Audience, Display},
    results::{Course, SATURATED, judge, summarize},
    verdict,
};
use crate::{
    exit::{Failure, Status, TestFailure},
    live::{self, LivePage},
    numbers,
    runs::Keeper,
    screen::Screen,
    signals::Signals,
    surroundings::Surroundings,
    terminal,
};

mod options;
mod timings;

use self::options::Format;
pub(super) use self::options::{Options, Source};

/// Runs the file that `arguments` name, the program and `run` among them.
pub(super) fn execute(arguments: &[OsString], surroundings: &Surroundings<'_>) -> Result<Status, Failure> {
    let own = arguments.iter().skip(2).cloned();
    let options: Options = numbers::parse([OsString::from("plimsoll run")].into_iter().chain(own));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    LocalSet::new().block_on(&runtime, conduct(&options, surroundings))
}

/// Reads a file and runs nothing; gives what is wrong with it.
pub(super) fn check(
    file: &Path,
    scale: u32,
    surroundings: &Surroundings<'_>,
) -> Result<Result<(), Mistakes>, Failure> {
    let scenario = read(&Source::File(file.to_owned()), scale, surroundings)?;
    Ok(scenario.map(drop))
}

async fn conduct(options: &Options, surroundings: &Surroundings<'_>) -> Result<Status, Failure> {
    let (source, url) = options.source_and_url().map_err(Failure::Usage)?;
    options.report.check()?;
    let (screen, is_drawable) = Screen::stderr();
    let screen = Arc::new(screen);
    start_log(options, &screen)?;
    let scenario = read(&source, options.clients.scale, surroundings)?
        .map_err(|mistakes| TestFailure::InvalidOptions.because(mistakes))?;
    let users = Users::new(scenario, &connect(options, url)?).await?;
    let variable = |name: &str| surroundings.variable(name).map(str::to_owned);
    let outputs = Outputs::parse(&options.out, &variable)
        .map_err(|error| TestFailure::InvalidOptions.because(error))?;
    let audience = match (options.quiet, is_drawable) {
        (true, _) => Audience::Nobody,
        (false, true) => Audience::Terminal,
        (false, false) => Audience::Lines,
    };
    preflight::raise_open_file_limit();
    let signals = Signals::listen()?;
    let plan = Plan::new(users.plan());
    options.memory.check(UserKind::Scenario, &plan)?;
    let control = Control::of(&plan);
    let sampling = options.watch.attach()?;
    let view = options.live.start(live::Setting {
        name: &source.name(),
        plan: &plan,
        control: control.clone(),
        signals: signals.clone(),
        sampling: sampling.clone(),
        screen: Arc::clone(&screen),
        is_drawable,
        is_quiet: options.quiet,
        has_colour: terminal::style(&io::stderr()).color && !options.no_color,
        // Only scripts read secrets.
        redact: Box::new(str::to_owned),
    })?;
    let page = options.page.serve(
        live::PageSetting {
            kind: Kind::Wsdirector,
            name: &source.name(),
            plan: &plan,
            control: control.clone(),
            signals: signals.clone(),
            sampling: sampling.clone(),
            link: None,
            // Only scripts read secrets.
            redact: Box::new(str::to_owned),
        },
        &screen,
    )?;
    let run = ScenarioRun {
        options,
        name: source.name(),
        report: users.report(),
        plan,
        control,
        sampling,
        page,
        users,
        outputs,
        display: Display::new(screen, audience).with_view(view),
        keeper: options.save.keeper(options.quiet, surroundings),
    };
    tokio::select! {
        outcome = run.conduct(&signals) => outcome,
        () = signals.received(2) => {
            let message = "a second signal ended the run at once, so there is no result";
            Err(TestFailure::Interrupted.because(message))
        }
    }
}

fn start_log(options: &Options, screen: &Arc<Screen<io::Stderr>>) -> io::Result<()> {
    let log = Log {
        output: &LogOutput::Stderr,
        format: LogFormat::Text,
        is_verbose: options.verbose > 0,
        has_colour: terminal::style(&io::stderr()).color && !options.no_color,
        screen: Arc::clone(screen),
        // Only scripts read secrets.
        redaction: Redaction::default(),
        hides_users: false,
    };
    // Its output does not change later, as that of scripts may.
    log.start().map(drop)
}

fn read(
    source: &Source,
    scale: u32,
    surroundings: &Surroundings<'_>,
) -> Result<Result<Scenario, Mistakes>, Failure> {
    let document = document(source, surroundings)?;
    Ok(document.and_then(|document| Scenario::read(&document, scale)))
}

/// The text of a scenario, with its templates filled in.
pub(super) fn document(
    source: &Source,
    surroundings: &Surroundings<'_>,
) -> Result<Result<Document, Mistakes>, Failure> {
    let name = source.name();
    let text = match source {
        Source::Text(text) => text.clone(),
        Source::File(path) => {
            let text = (surroundings.read_file)(path);
            text.map_err(|error| unreadable(path, &error))?
        }
    };
    let variable = |name: &str| surroundings.variable(name).map(str::to_owned);
    Ok(fill_in(&name, &text, &variable).and_then(|text| Document::read(&name, &text)))
}

/// Where and how clients connect.
pub(super) fn connect(options: &Options, url: String) -> Result<Connect, Failure> {
    let clients = &options.clients;
    let tls = clients.insecure.then(|| {
        Tls::new(TlsOptions {
            believe: Believe::Anybody,
            ..TlsOptions::default()
        })
    });
    Ok(Connect {
        url,
        subprotocol: clients.subprotocol.clone(),
        tls: tls.transpose()?.map(Arc::new),
        barrier_timeout: clients.timeout,
    })
}

/// A scenario that is about to run.
struct ScenarioRun<'a> {
    options: &'a Options,
    /// The scenario as the user named it.
    name: String,
    plan: Plan,
    control: Control,
    sampling: Option<Arc<Sampling>>,
    page: Option<LivePage>,
    users: Users,
    report: Report,
    outputs: Outputs,
    display: Display<io::Stderr>,
    keeper: Keeper,
}

impl ScenarioRun<'_> {
    async fn conduct(self, signals: &Signals) -> Result<Status, Failure> {
        let sampling = self.sampling;
        let outputs = self.outputs.start(&self.plan, Box::new(io::stdout()))?;
        let config = RunConfig {
            samples: outputs.samples(),
            control: self.control,
            sampling: sampling.clone(),
            ..RunConfig::new(self.plan.clone())
        };
        let display = RefCell::new(self.display);
        let mut recorder = Recorder::new();
        let n_workers = config.n_workers;
        let observe = |progress: &Progress<'_>| {
            recorder.observe(progress);
            display.borrow_mut().show(progress, terminal::size());
            if let Some(page) = &self.page {
                page.observe(progress, &recorder);
            }
        };
        let factory = self.users.factory();
        let shutdown = signals.received(1);
        let result = run::run(config, self.users.registry, factory, &mut (), observe, shutdown).await;
        let accounts = sampling.iter().flat_map(|sampling| sampling.finish());
        let accounts: Vec<_> = accounts.collect();
        let output_report = outputs.finish().await;
        display.into_inner().finish();
        let result = result?;
        let outcome = self.report.outcome();
        let course = Course {
            kind: Kind::Wsdirector,
            name: &self.name,
            plan: &self.plan,
            n_workers,
            recorder,
            health: judge(&result),
            accounts,
            notices: output_report.notices(),
        };
        let summary = summarize(&result, course);
        let told = tell(self.options, &summary, &outcome);
        self.keeper.keep(&summary);
        self.options.report.write(&summary);
        if let Some(page) = self.page {
            page.finish(&summary).await;
        }
        told?;
        end(&result, &outcome, &output_report)
    }
}

/// Prints what the run came to.
fn tell(options: &Options, summary: &Summary, outcome: &Outcome) -> Result<(), Failure> {
    if summary.generator.saturated {
        tracing::warn!("{SATURATED}");
    }
    let mut stdout = io::stdout();
    match options.format {
        Format::Json => {
            let mut value = serde_json::to_value(summary)?;
            value["scenario"] = json!(outcome);
            writeln!(stdout, "{}", plimsoll_report::json(&value)?)?;
        }
        Format::Text => {
            for notice in &summary.notices {
                tracing::warn!("{notice}");
            }
            write!(stdout, "{outcome}")?;
            let table = timings::table(outcome, summary);
            if !options.no_summary && !table.is_empty() {
                write!(stdout, "\n{table}")?;
            }
            for target in &summary.targets {
                write!(stdout, "\n{}", target.text())?;
            }
        }
    }
    stdout.flush()?;
    Ok(())
}

fn end(result: &RunResult, outcome: &Outcome, outputs: &OutputReport) -> Result<Status, Failure> {
    if result.end == RunEnd::Shutdown {
        return Err(TestFailure::Interrupted.because("the run was interrupted by a signal"));
    }
    match (outcome.n_failed(), outcome.n_clients()) {
        (0, _) => match verdict::of_outputs(outputs) {
            Some((failure, message)) => Err(failure.because(message)),
            None => Ok(Status::Success),
        },
        (n_failed, n_clients) => {
            let message = format!("{n_failed} of {n_clients} clients failed");
            Err(io::Error::other(message).into())
        }
    }
}
