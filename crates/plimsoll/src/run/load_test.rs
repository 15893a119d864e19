//! One load test from its script to its exit code.

use std::{cell::RefCell, convert::Infallible, fmt, future::pending, io, path::Path, sync::Arc};

use plimsoll_load::{
    plan::Plan,
    preflight::{self, UserKind},
    run::{self, Control, Progress, RunConfig},
    threshold::Rules,
    watch::Sampling,
};
use plimsoll_outputs::Outputs;
use plimsoll_report::{Style, SummaryMode, summary::Kind, timeline::Recorder};
use plimsoll_script::{Redaction, Script, Users};
use serde_json::Value;

use super::{
    config_file::ConfigFile,
    layers::{Consolidated, Layers},
    log::{Console, Log},
    options::Options,
    progress::{Audience, Display, header},
    rest::{Orders, Rest, Snapshot},
    results::{Course, Results, SATURATED, judge},
    script, verdict,
};
use crate::{
    exit::{Failure, Status, TestFailure},
    live::{self, Live, LivePage},
    runs::Keeper,
    screen::Screen,
    signals::Signals,
    surroundings::Surroundings,
    terminal,
};

/// A test that is about to run.
struct LoadTest<'a> {
    flags: &'a Options,
    /// The script as the user named it.
    name: String,
    plan: Plan,
    users: Users,
    outputs: Outputs,
    screen: Arc<Screen<io::Stderr>>,
    /// Whether standard error is a terminal that can be drawn on.
    is_drawable: bool,
    audience: Audience,
    /// Whether it waits for a signal when it is over.
    lingers: bool,
    redaction: Redaction,
    keeper: Keeper,
}

/// Reads everything, runs the test and tells its result. To be polled on a `LocalSet`.
pub(super) async fn conduct(flags: &Options, surroundings: &Surroundings<'_>) -> Result<Status, Failure> {
    flags.unsupported.refuse().map_err(Failure::Usage)?;
    flags.results.report.check()?;
    let redaction = Redaction::default();
    let test = prepare(flags, surroundings, redaction.clone()).await?;
    let outcome = test.conduct().await;
    outcome.map_err(|failure| failure.in_words(|text| redaction.redact(text).into_owned()))
}

async fn prepare<'a>(
    flags: &'a Options,
    surroundings: &Surroundings<'_>,
    redaction: Redaction,
) -> Result<LoadTest<'a>, Failure> {
    let (screen, is_drawable) = Screen::stderr();
    let screen = Arc::new(screen);
    let file = ConfigFile::find(flags.reading.config.as_deref(), surroundings).map_err(invalid)?;
    let outputs = match flags.results.out.as_slice() {
        [] => file.outputs.as_slice(),
        typed => typed,
    };
    let variable = |name: &str| surroundings.variable(name).map(str::to_owned);
    let outputs = Outputs::parse(outputs, &variable).map_err(invalid)?;
    let lingers = flags.talk.linger || file.linger;
    let layers = Layers::read(file, surroundings, &flags.options).map_err(invalid)?;
    let console = start_log(flags, &screen, redaction.clone())?;

    let name = flags.script.display().to_string();
    let (script, consolidated) = read(flags, &layers, surroundings, &redaction).await?;
    for warning in &consolidated.warnings {
        tracing::warn!("{warning}");
    }
    if flags.reading.is_base() {
        tracing::warn!("--compatibility-mode base has no effect: scripts have all that the other mode has.");
    }
    if let Some(path) = consolidated.options.get("consoleOutput").and_then(Value::as_str) {
        console.redirect(Path::new(path))?;
    }
    let mut plan = consolidated.plan;
    if flags.results.no_thresholds {
        plan.thresholds = Rules::new();
    }
    let audience = match (flags.talk.quiet, is_drawable) {
        (true, _) => Audience::Nobody,
        (false, true) => Audience::Terminal,
        (false, false) => Audience::Lines,
    };
    Ok(LoadTest {
        users: script.users(script::effective(consolidated.options, &plan)),
        flags,
        name,
        plan,
        outputs,
        screen,
        is_drawable,
        audience,
        lingers,
        redaction,
        keeper: flags.save.keeper(flags.talk.quiet, surroundings),
    })
}

/// Reads the script, and its options below those of all other layers.
async fn read(
    flags: &Options,
    layers: &Layers,
    surroundings: &Surroundings<'_>,
    redaction: &Redaction,
) -> Result<(Script, Consolidated), Failure> {
    let name = flags.script.display().to_string();
    let script = script::read(&flags.script, &flags.reading, true, surroundings, redaction).await?;
    let of_script = script::options(&script).map_err(invalid)?;
    let consolidated = layers.consolidate(&name, &of_script).map_err(invalid)?;
    script::check_functions(&script, &name, &consolidated.plan).map_err(invalid)?;
    Ok((script, consolidated))
}

/// Reads a script and its options, and runs nothing; gives what a run would warn of.
pub(super) fn check(flags: &Options, surroundings: &Surroundings<'_>) -> Result<Vec<String>, Failure> {
    let file = ConfigFile::find(flags.reading.config.as_deref(), surroundings).map_err(invalid)?;
    let layers = Layers::read(file, surroundings, &flags.options).map_err(invalid)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let redaction = Redaction::default();
    let (_, consolidated) = runtime.block_on(read(flags, &layers, surroundings, &redaction))?;
    Ok(consolidated.warnings)
}

fn invalid(reason: impl fmt::Display) -> Failure {
    TestFailure::InvalidOptions.because(reason)
}

fn start_log(flags: &Options, screen: &Arc<Screen<io::Stderr>>, redaction: Redaction) -> io::Result<Console> {
    let talk = &flags.talk;
    let log = Log {
        output: &talk.log_output,
        format: talk.log_format,
        is_verbose: talk.verbose,
        has_colour: style(flags, &io::stderr()).color,
        screen: Arc::clone(screen),
        redaction,
        hides_users: false,
    };
    log.start()
}

fn style(flags: &Options, output: &impl io::IsTerminal) -> Style {
    let style = terminal::style(output);
    Style {
        color: style.color && !flags.talk.no_color,
        ..style
    }
}

impl LoadTest<'_> {
    /// Runs the test beside whoever may end it at once or ask how it is doing.
    async fn conduct(self) -> Result<Status, Failure> {
        let signals = Signals::listen()?;
        let control = Control::of(&self.plan);
        let orders = Orders::new(control.clone());
        let rest = self.rest(&orders)?;
        let reporter = rest.as_ref().map(Rest::reporter);
        let serving = async {
            match rest {
                Some(rest) => rest.serve().await,
                None => pending::<Infallible>().await,
            }
        };
        let watch = |progress: &Progress<'_>| {
            if let Some(reporter) = &reporter {
                reporter.report(progress);
            }
        };
        tokio::select! {
            outcome = self.run(control, &orders, &signals, watch) => outcome,
            () = signals.received(2) => {
                let message = "a second signal ended the run at once, so there is no result";
                Err(TestFailure::Interrupted.because(message))
            }
            never = serving => match never {},
        }
    }

    fn view(
        &self,
        control: &Control,
        signals: &Signals,
        sampling: Option<&Arc<Sampling>>,
    ) -> Result<Option<Live>, Failure> {
        let redaction = self.redaction.clone();
        self.flags.talk.live.start(live::Setting {
            name: &self.name,
            plan: &self.plan,
            control: control.clone(),
            signals: signals.clone(),
            sampling: sampling.cloned(),
            screen: Arc::clone(&self.screen),
            is_drawable: self.is_drawable,
            is_quiet: self.flags.talk.quiet,
            has_colour: style(self.flags, &io::stderr()).color,
            redact: Box::new(move |text| redaction.redact(text).into_owned()),
        })
    }

    fn page(
        &self,
        control: &Control,
        signals: &Signals,
        sampling: Option<&Arc<Sampling>>,
    ) -> Result<Option<LivePage>, Failure> {
        let redaction = self.redaction.clone();
        let setting = live::PageSetting {
            kind: Kind::K6,
            name: &self.name,
            plan: &self.plan,
            control: control.clone(),
            signals: signals.clone(),
            sampling: sampling.cloned(),
            link: None,
            redact: Box::new(move |text| redaction.redact(text).into_owned()),
        };
        self.flags.talk.page.serve(setting, &self.screen)
    }

    fn rest(&self, orders: &Orders) -> Result<Option<Rest>, Failure> {
        let Some(address) = &self.flags.talk.address else {
            return match self.plan.paused {
                true => Err(Failure::Usage(
                    "a run that is paused waits for `plimsoll resume`, which needs --address, for example \
                     --address localhost:6565"
                        .to_owned(),
                )),
                false => Ok(None),
            };
        };
        let rest = Rest::bind(address, orders.clone(), Snapshot::new(&self.plan));
        let rest = rest.map_err(|error| TestFailure::NoControl.because(error))?;
        tracing::info!("The REST interface answers on http://{}/v1.", rest.address()?);
        Ok(Some(rest))
    }

    async fn run(
        mut self,
        control: Control,
        orders: &Orders,
        signals: &Signals,
        watch: impl Fn(&Progress<'_>),
    ) -> Result<Status, Failure> {
        preflight::raise_open_file_limit();
        self.flags.memory.check(UserKind::Script, &self.plan)?;
        let descriptions = self.outputs.descriptions();
        let outputs = std::mem::take(&mut self.outputs).start(&self.plan, Box::new(io::stdout()));
        let outputs = outputs.map_err(|error| TestFailure::NoFile.because(error))?;
        let sampling = self.flags.watch.attach()?;
        let display = Display::new(Arc::clone(&self.screen), self.audience);
        let display = RefCell::new(display.with_view(self.view(&control, signals, sampling.as_ref())?));
        let page = self.page(&control, signals, sampling.as_ref())?;
        let n_vus = run::max_vus(&self.plan);
        display
            .borrow()
            .begin(&header(&self.name, &descriptions, &self.plan), n_vus);
        let config = RunConfig {
            control,
            samples: outputs.samples(),
            sampling: sampling.clone(),
            ..RunConfig::new(self.plan.clone())
        };
        let shutdown = async {
            tokio::select! {
                () = signals.received(1) => {}
                () = orders.stopped() => {}
            }
        };
        let Users {
            mut registry,
            factory,
            mut stages,
        } = self.users;
        if self.flags.results.summary_mode == SummaryMode::Full || !self.flags.results.report.is_empty() {
            registry.break_down();
        }
        let mut recorder = Recorder::new();
        let n_workers = config.n_workers;
        let observe = |progress: &Progress<'_>| {
            recorder.observe(progress);
            display.borrow_mut().show(progress, terminal::size());
            if let Some(page) = &page {
                page.observe(progress, &recorder);
            }
            watch(progress);
        };
        let result = run::run(config, registry, factory, &mut stages, observe, shutdown).await;
        let accounts = sampling.iter().flat_map(|sampling| sampling.finish());
        let accounts: Vec<_> = accounts.collect();
        let output_report = outputs.finish().await;
        display.into_inner().finish();
        let result = result.map_err(|error| verdict::of_error(&error).because(error))?;
        let results = Results {
            flags: &self.flags.results,
            plan: &self.plan,
            script: &self.name,
            style: style(self.flags, &io::stdout()),
            redaction: &self.redaction,
            no_color: self.flags.talk.no_color || terminal::is_colour_refused(),
        };
        let course = Course {
            kind: Kind::K6,
            name: &self.name,
            plan: &self.plan,
            n_workers,
            recorder,
            health: judge(&result),
            accounts,
            notices: output_report.notices(),
        };
        let summary = results.summary(&result, course);
        let told = results.tell(&summary, &stages).await;
        // A closed standard output is no reason to lose the run.
        self.keeper.keep(&summary);
        self.flags.results.report.write(&summary);
        if let Some(page) = page {
            page.finish(&summary).await;
        }
        told?;
        if self.lingers && self.flags.talk.address.is_some() {
            tracing::info!("The run is over; waiting for a signal because of --linger.");
            signals.received(1).await;
        }
        let verdict = verdict::verdict(&result, orders.is_stopped());
        end(
            verdict.or_else(|| verdict::of_outputs(&output_report)),
            summary.generator.saturated,
        )
    }
}

/// The exit code and the last words of a run, which also say when its figures are not to be believed.
fn end(verdict: Option<(TestFailure, String)>, is_saturated: bool) -> Result<Status, Failure> {
    match verdict {
        None if is_saturated => {
            tracing::warn!("{SATURATED}; the summary says how that is known.");
            Ok(Status::Success)
        }
        None => Ok(Status::Success),
        Some((failure, message)) if is_saturated => Err(failure.because(format!("{message}; {SATURATED}"))),
        Some((failure, message)) => Err(failure.because(message)),
    }
}
