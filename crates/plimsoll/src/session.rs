//! One load test from its first line on standard error to its exit code: what all of them have in common. What differs is a
//! [`LoadTest`].

mod course;
mod ending;
mod flags;
mod load_test;
mod log;
mod memory_check;
mod progress;
mod rest;

use std::{
    cell::RefCell,
    convert::Infallible,
    future::pending,
    io::{self, Write},
    sync::Arc,
};

use plimsoll_load::{
    generator::{self, Health},
    preflight,
    run::{self, Control, Progress, RunConfig, RunResult},
    watch::Sampling,
};
use plimsoll_outputs::Outputs;
use plimsoll_report::{Style, timeline::Recorder};
use plimsoll_script::Redaction;

use self::{
    course::Course,
    progress::{Audience, Display},
    rest::{Orders, Rest, Snapshot},
};
pub(crate) use self::{
    ending::{ended_early, of_error},
    flags::{Format, SessionFlags},
    load_test::{Finished, LoadTest, Subject, Users},
    log::{Console, Log, LogFormat, LogOutput},
    progress::header,
    rest::USUAL_ADDRESS,
};
use crate::{
    exit::{Failure, Status, TestFailure},
    live::{self, Live, LivePage},
    report,
    runs::Keeper,
    screen::Screen,
    signals::Signals,
    surroundings::Surroundings,
    terminal,
    watching::WatchArgs,
};

/// What a session begins with, besides the flags that all load tests have.
#[derive(Debug)]
pub(crate) struct Beginning<'a> {
    pub(crate) log: LogSettings<'a>,
    /// Where samples go when no flag says it.
    pub(crate) outputs: &'a [String],
    /// What no text shows. It may learn more while the test is read.
    pub(crate) redaction: Redaction,
    /// Whether the run waits for a signal at its end although no flag says so.
    pub(crate) lingers: bool,
}

/// What the log is to be.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LogSettings<'a> {
    pub(crate) output: &'a LogOutput,
    pub(crate) format: LogFormat,
    /// Whether lines of level debug are written.
    pub(crate) is_verbose: bool,
}

impl Beginning<'static> {
    /// Of a test that knows no secrets and has no settings of its own for this.
    pub(crate) fn plain(is_verbose: bool) -> Self {
        Self {
            log: LogSettings {
                output: &LogOutput::Stderr,
                format: LogFormat::Text,
                is_verbose,
            },
            outputs: &[],
            redaction: Redaction::default(),
            lingers: false,
        }
    }
}

/// The surroundings of one load test.
pub(crate) struct Session<'a> {
    flags: &'a SessionFlags,
    screen: Arc<Screen<io::Stderr>>,
    /// Whether standard error is a terminal that can be drawn on.
    is_drawable: bool,
    console: Console,
    outputs: Outputs,
    redaction: Redaction,
    lingers: bool,
    keeper: Keeper,
}

/// Who may end a run early.
struct Ends<'a> {
    signals: &'a Signals,
    orders: &'a Orders,
}

/// What observes a run while it goes on.
struct Watchers {
    sampling: Option<Arc<Sampling>>,
    display: RefCell<Display<io::Stderr>>,
    page: Option<LivePage>,
}

impl<'a> Session<'a> {
    /// Checks the flags, and starts the log.
    ///
    /// # Errors
    /// Flags that ask for what cannot be, or a log that cannot be written.
    pub(crate) fn begin(
        flags: &'a SessionFlags,
        beginning: Beginning<'_>,
        surroundings: &Surroundings<'_>,
    ) -> Result<Self, Failure> {
        flags.report.check()?;
        let outputs = if flags.out.is_empty() {
            beginning.outputs
        } else {
            &flags.out
        };
        let variable = |name: &str| surroundings.variable(name).map(str::to_owned);
        let outputs =
            Outputs::parse(outputs, &variable).map_err(|error| TestFailure::InvalidOptions.because(error))?;
        let (screen, is_drawable) = Screen::stderr();
        let screen = Arc::new(screen);
        let log = Log {
            output: beginning.log.output,
            format: beginning.log.format,
            is_verbose: beginning.log.is_verbose,
            has_colour: style(flags, &io::stderr()).color,
            screen: Arc::clone(&screen),
            redaction: beginning.redaction.clone(),
            hides_users: false,
        };
        Ok(Self {
            console: log.start()?,
            flags,
            screen,
            is_drawable,
            outputs,
            redaction: beginning.redaction,
            lingers: flags.linger || beginning.lingers,
            keeper: flags.save.keeper(flags.quiet, surroundings),
        })
    }

    /// Where scripts write with `console`.
    pub(crate) fn console(&self) -> &Console {
        &self.console
    }

    /// Standard error, which the log and the progress share.
    pub(crate) fn screen(&self) -> &Arc<Screen<io::Stderr>> {
        &self.screen
    }

    /// What no text shows.
    pub(crate) fn redaction(&self) -> &Redaction {
        &self.redaction
    }

    /// Runs a test to its exit code. To be polled on a `LocalSet`.
    ///
    /// # Errors
    /// When it could not run, or did not end well.
    pub(crate) async fn run<T: LoadTest>(self, test: T, users: Users<T::Stages>) -> Result<Status, Failure> {
        let redaction = self.redaction.clone();
        let outcome = self.conduct(test, users).await;
        outcome.map_err(|failure| failure.in_words(|text| redaction.redact(text).into_owned()))
    }

    /// Runs a test beside everyone who may end it at once or ask how it is doing.
    async fn conduct<T: LoadTest>(self, test: T, users: Users<T::Stages>) -> Result<Status, Failure> {
        let signals = Signals::listen()?;
        let control = Control::of(test.subject().plan);
        let orders = Orders::new(control.clone());
        let rest = self.rest(&orders, test.subject())?;
        let reporter = rest.as_ref().map(Rest::reporter);
        let serving = async {
            match rest {
                Some(rest) => rest.serve().await,
                None => pending::<Infallible>().await,
            }
        };
        let report = |progress: &Progress<'_>| {
            if let Some(reporter) = &reporter {
                reporter.report(progress);
            }
        };
        let ends = Ends {
            signals: &signals,
            orders: &orders,
        };
        tokio::select! {
            outcome = self.run_test((test, users), control, ends, report) => outcome,
            () = signals.received(2) => {
                let message = "a second signal ended the run at once, so there is no result";
                Err(TestFailure::Interrupted.because(message))
            }
            never = serving => match never {},
        }
    }

    fn rest(&self, orders: &Orders, subject: Subject<'_>) -> Result<Option<Rest>, Failure> {
        let Some(address) = &self.flags.address else {
            if subject.plan.paused {
                return Err(Failure::Usage(
                    "a run that is paused waits for `plimsoll resume`, which needs --address, for example \
                     --address localhost:6565"
                        .to_owned(),
                ));
            }
            return Ok(None);
        };
        let rest = Rest::bind(address, orders.clone(), Snapshot::new(subject.plan));
        let rest = rest.map_err(|error| TestFailure::NoControl.because(error))?;
        tracing::info!("The REST interface answers on http://{}/v1.", rest.address()?);
        Ok(Some(rest))
    }

    async fn run_test<T: LoadTest>(
        mut self,
        (mut test, users): (T, Users<T::Stages>),
        control: Control,
        Ends { signals, orders }: Ends<'_>,
        report: impl Fn(&Progress<'_>),
    ) -> Result<Status, Failure> {
        preflight::raise_open_file_limit();
        let subject = test.subject();
        let plan = subject.plan.clone();
        self.flags.memory.check(subject.user_kind, &plan)?;
        let descriptions = self.outputs.descriptions();
        let outputs = std::mem::take(&mut self.outputs).start(&plan, Box::new(io::stdout()));
        let outputs = outputs.map_err(|error| TestFailure::NoFile.because(error))?;
        let sampling = self.targets(&test).attach()?;
        let Watchers {
            sampling,
            display,
            page,
        } = self.watchers(&test, &control, signals, sampling)?;
        if let Some(header) = test.header(&descriptions) {
            display.borrow().begin(&header, run::max_vus(&plan));
        }
        let config = RunConfig {
            control,
            samples: outputs.samples(),
            sampling: sampling.clone(),
            ..RunConfig::new(plan)
        };
        let n_workers = config.n_workers;
        let Users {
            registry,
            factory,
            mut stages,
        } = users;
        let mut recorder = Recorder::new();
        let observe = |progress: &Progress<'_>| {
            recorder.observe(progress);
            display.borrow_mut().show(progress, terminal::size());
            if let Some(page) = &page {
                page.observe(progress, &recorder);
            }
            test.observe(progress);
            report(progress);
        };
        let end = async {
            tokio::select! {
                () = signals.received(1) => {}
                () = orders.stopped() => {}
                () = test.breached() => {}
            }
        };
        let result = run::run(config, registry, factory, &mut stages, observe, end).await;
        let accounts = sampling.iter().flat_map(|sampling| sampling.finish()).collect();
        let output_report = outputs.finish().await;
        display.into_inner().finish();
        let result = result.map_err(|error| of_error(&error).because(error))?;
        test.finish(&result);
        let course = Course {
            subject: test.subject(),
            n_workers,
            recorder,
            health: health(&test, &result),
            accounts,
            notices: output_report.notices(),
        };
        let mut summary = course.summarize(&result);
        test.complete(&mut summary);
        summary.edit_sentences(|text| self.redaction.redact(text).into_owned());
        let finished = Finished {
            result: &result,
            summary: &summary,
            was_stopped: orders.is_stopped(),
        };
        let printed = test.print(&finished, &stages).await;
        // A closed standard output is no reason to lose the run.
        self.keeper.keep(&summary);
        if self.flags.report.is_empty() && test.reports_unasked() {
            report::write_unasked(&summary);
        }
        self.flags.report.write(&summary);
        if let Some(page) = page {
            page.finish(&summary).await;
        }
        printed?;
        if self.lingers && self.flags.address.is_some() {
            tracing::info!("The run is over; waiting for a signal because of --linger.");
            signals.received(1).await;
        }
        ending::ending(
            test.verdict(&finished),
            &output_report,
            summary.generator.saturated,
        )
    }

    /// What is watched.
    fn targets(&self, test: &impl LoadTest) -> WatchArgs {
        let more = self.flags.watch.targets.iter().cloned();
        WatchArgs {
            targets: test.targets().into_iter().chain(more).collect(),
        }
    }

    fn watchers(
        &self,
        test: &impl LoadTest,
        control: &Control,
        signals: &Signals,
        sampling: Option<Arc<Sampling>>,
    ) -> Result<Watchers, Failure> {
        let subject = test.subject();
        let audience = if self.flags.quiet || !test.has_progress() {
            Audience::Nobody
        } else if self.is_drawable {
            Audience::Terminal
        } else {
            Audience::Lines
        };
        let view = self.view(subject, control, signals, sampling.as_ref())?;
        let page = self.page(subject, control, signals, sampling.as_ref())?;
        let display = Display::new(Arc::clone(&self.screen), audience).with_view(view);
        Ok(Watchers {
            sampling,
            display: RefCell::new(display),
            page,
        })
    }

    fn view(
        &self,
        subject: Subject<'_>,
        control: &Control,
        signals: &Signals,
        sampling: Option<&Arc<Sampling>>,
    ) -> Result<Option<Live>, Failure> {
        let redaction = self.redaction.clone();
        self.flags.live.start(live::Setting {
            name: subject.name,
            plan: subject.plan,
            control: control.clone(),
            signals: signals.clone(),
            sampling: sampling.cloned(),
            screen: Arc::clone(&self.screen),
            is_drawable: self.is_drawable,
            is_quiet: self.flags.quiet,
            has_colour: style(self.flags, &io::stderr()).color,
            redact: Box::new(move |text| redaction.redact(text).into_owned()),
        })
    }

    fn page(
        &self,
        subject: Subject<'_>,
        control: &Control,
        signals: &Signals,
        sampling: Option<&Arc<Sampling>>,
    ) -> Result<Option<LivePage>, Failure> {
        let redaction = self.redaction.clone();
        let setting = live::PageSetting {
            subject,
            control: control.clone(),
            signals: signals.clone(),
            sampling: sampling.cloned(),
            redact: Box::new(move |text| redaction.redact(text).into_owned()),
        };
        self.flags.page.serve(setting, &self.screen)
    }
}

/// Whether the generator was the bottleneck.
pub(crate) fn health(test: &impl LoadTest, result: &RunResult) -> Health {
    generator::judge(&result.generator, result.schedule, test.latency(result))
}

/// The style of what goes to `output`.
pub(crate) fn style(flags: &SessionFlags, output: &impl io::IsTerminal) -> Style {
    let style = terminal::style(output);
    Style {
        color: style.color && !flags.no_color,
        ..style
    }
}

/// Prints a result.
///
/// # Errors
/// When it cannot be written; the error names standard output.
pub(crate) fn print(text: &str) -> io::Result<()> {
    print_bytes(text.as_bytes())
}

/// Prints a result that may be something else than text.
///
/// # Errors
/// When it cannot be written; the error names standard output.
pub(crate) fn print_bytes(result: &[u8]) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    let written = stdout.write_all(result).and_then(|()| stdout.flush());
    written.map_err(|error| io::Error::new(error.kind(), format!("cannot write to standard output: {error}")))
}
