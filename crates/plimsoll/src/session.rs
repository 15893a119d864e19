//! One load test from its first line on standard error to its exit code: the common part of all load tests. The
//! differences are in [`LoadTest`].

mod basis;
mod commands;
mod ending;
mod engine;
mod errors;
mod flags;
mod load_test;
mod log;
mod memory_check;
mod progress;
mod rest;
mod subject;
mod watchers;

use std::{
    convert::Infallible,
    future::pending,
    io::{self, Write},
    sync::Arc,
};

use plimsoll_load::{
    preflight,
    run::{self, Control},
    watch::Sampling,
};
use plimsoll_outputs::{Outputs, Running};
use plimsoll_report::{Headline, Style, Summary};
use plimsoll_script::Redaction;

pub(crate) use self::{
    basis::Basis,
    ending::{Ender, Ends, of_error},
    engine::{EngineTest, Finished, Users},
    flags::{Format, SessionFlags},
    load_test::{Company, Ended, LoadTest},
    log::{LogFormat, LogOutput, LogSettings},
    memory_check::{Crowd, check_memory},
    progress::header,
    rest::USUAL_ADDRESS,
    subject::Subject,
    watchers::Watchers,
};
use self::{
    commands::{Commands, Planned},
    ending::Doubts,
    engine::OnEngine,
    progress::{Audience, Display},
    rest::{Orders, Reporter, Rest, Snapshot},
};
use crate::{
    exit::{Failure, Status, TestFailure},
    fleet::{Errand, Outing},
    live::{self, Live, LivePage},
    report,
    runs::{Keeper, Marks},
    series::Member,
    signals::Signals,
    surroundings::Surroundings,
    watching::WatchArgs,
};

/// The beginning of a session, besides the flags that all load tests have.
#[derive(Debug)]
pub(crate) struct Beginning<'a> {
    pub(crate) log: LogSettings<'a>,
    /// The outputs of samples when no flag names one.
    pub(crate) outputs: &'a [String],
    /// The texts that nothing shows. It may learn more while the test is read.
    pub(crate) redaction: Redaction,
    /// Whether the run waits for a signal at its end although no flag says so.
    pub(crate) lingers: bool,
}

impl Beginning<'static> {
    /// The beginning of a test without secrets and without its own settings.
    pub(crate) fn plain(is_verbose: bool) -> Self {
        Self {
            log: LogSettings::plain(is_verbose),
            outputs: &[],
            redaction: Redaction::default(),
            lingers: false,
        }
    }
}

/// The surroundings of one load test.
pub(crate) struct Session<'a> {
    flags: &'a SessionFlags,
    basis: Basis,
    outputs: Outputs,
    lingers: bool,
    keeper: Keeper,
    commands: Vec<Planned>,
    /// The run's place in a series, whose reports the leading process writes.
    member: Option<Member>,
}

impl<'a> Session<'a> {
    /// Checks the flags, and starts the log.
    ///
    /// # Errors
    /// Flags that ask for something impossible, or a log that cannot be written.
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
        Ok(Self {
            basis: Basis::begin(beginning.log, beginning.redaction, flags.no_color)?,
            flags,
            outputs,
            lingers: flags.linger || beginning.lingers,
            keeper: flags.save.keeper(flags.quiet, surroundings),
            commands: flags.commands.plan()?,
            member: Member::of(surroundings)?,
        })
    }

    /// Keeps the run with these marks.
    pub(crate) fn mark(&mut self, marks: Marks) {
        self.keeper.mark(marks);
    }

    /// Adds an output of samples; `variable` gives the values of the environment for it.
    ///
    /// # Errors
    /// A value is not valid.
    pub(crate) fn publish(
        &mut self,
        output: &str,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Result<(), Failure> {
        let invalid = |error| TestFailure::InvalidOptions.because(error);
        let more = Outputs::parse(&[output.to_owned()], variable).map_err(invalid)?;
        self.outputs.extend(more).map_err(invalid)
    }

    /// Standard error and the log.
    pub(crate) fn basis(&self) -> &Basis {
        &self.basis
    }

    /// Whether a test may draw its own progress: on a terminal, and no flag asks for another view or for none.
    pub(crate) fn is_drawable(&self) -> bool {
        let flags = self.flags;
        let has_view = flags.live.is_wanted();
        self.basis.is_drawable() && !flags.quiet && !has_view && flags.format == Format::Text
    }

    /// Runs a test on the engine to its exit code. To be polled on a local runtime.
    ///
    /// # Errors
    /// The test could not run, or did not end well.
    pub(crate) async fn run_on_engine<T: EngineTest>(
        self,
        test: T,
        users: Users<T::Stages>,
    ) -> Result<Status, Failure> {
        self.run(OnEngine::new(test, users, None)).await
    }

    /// Runs a test on the engines of a fleet to its exit code. To be polled on a local runtime.
    ///
    /// # Errors
    /// The test could not run, or did not end well.
    pub(crate) async fn run_on_fleet<T: EngineTest>(
        self,
        test: T,
        users: Users<T::Stages>,
        errand: Errand,
    ) -> Result<Status, Failure> {
        self.run(OnEngine::new(test, users, Some(errand))).await
    }

    /// Checks that a fleet can do what the flags of a bench ask for.
    ///
    /// # Errors
    /// It cannot.
    pub(crate) fn check_fleet(&self) -> Result<(), Failure> {
        if !self.outputs.descriptions().is_empty() {
            return Err(Failure::Usage(
                "--out and --fleet exclude each other for benches: their agents send sums, and no single samples. The \
                 figures are in the summary (--format json) and the report (--report)"
                    .to_owned(),
            ));
        }
        Ok(())
    }

    /// Runs a test to its exit code. To be polled on a local runtime.
    ///
    /// # Errors
    /// The test could not run, or did not end well.
    pub(crate) async fn run(self, test: impl LoadTest) -> Result<Status, Failure> {
        let redaction = self.basis.redaction().clone();
        let outcome = self.conduct(test).await;
        outcome.map_err(|failure| failure.in_words(|text| redaction.redact(text).into_owned()))
    }

    /// Runs a test together with the sources of orders and questions.
    async fn conduct<T: LoadTest>(self, test: T) -> Result<Status, Failure> {
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
        let second_signal = async {
            if T::TAKES_SECOND_SIGNAL {
                pending::<()>().await;
            } else {
                signals.received(2).await;
            }
        };
        let ends = Ends::new(signals.clone(), orders, self.flags.errors.guard());
        let repeats = self.basis.repeats().clone();
        let outcome = tokio::select! {
            outcome = self.run_test(test, control, ends, reporter) => outcome,
            () = second_signal => {
                let message = "a second signal ended the run at once, so there is no result";
                Err(TestFailure::Interrupted.because(message))
            }
            never = serving => match never {},
            never = repeats.keep_telling() => match never {},
        };
        repeats.tell();
        outcome
    }

    fn rest(&self, orders: &Orders, subject: Subject<'_>) -> Result<Option<Rest>, Failure> {
        let Some(address) = &self.flags.address else {
            if subject.plan.paused {
                return Err(Failure::Usage(
                    "--paused waits for `plimsoll resume`, which needs --address, for example \
                     --address localhost:6565"
                        .to_owned(),
                ));
            }
            return Ok(None);
        };
        let hosts = &self.flags.address_hosts;
        let rest = Rest::bind(address, hosts, orders.clone(), Snapshot::new(subject.plan));
        let rest = rest.map_err(|error| TestFailure::NoControl.because(error))?;
        tracing::info!("The REST interface answers on http://{}/v1.", rest.address()?);
        Ok(Some(rest))
    }

    async fn run_test<T: LoadTest>(
        mut self,
        mut test: T,
        control: Control,
        ends: Ends,
        reporter: Option<Reporter>,
    ) -> Result<Status, Failure> {
        preflight::raise_open_file_limit();
        if !test.is_elsewhere() {
            self.flags.memory.check(test.subject().crowd)?;
        }
        let descriptions = self.outputs.descriptions();
        let outputs = self.start_outputs(test.subject())?;
        let sampling = self.targets(&test).attach()?;
        // Agents may watch, too.
        let sampling = sampling.or_else(|| test.is_elsewhere().then(Arc::default));
        let header = test.progress(&descriptions);
        let setting = Setting {
            subject: test.subject(),
            control: &control,
            signals: ends.signals(),
            sampling: sampling.as_ref(),
        };
        let guard = ends.guard().clone();
        let commands = Commands::start(std::mem::take(&mut self.commands), &control);
        let display = self.display(&setting, header.is_some())?;
        let page = self.page(&setting)?;
        let watchers = Watchers::new(display, page, reporter, guard.clone(), commands.beginnings());
        let watchers = Arc::new(watchers);
        if let Some(header) = header {
            watchers.begin(&header, run::max_vus(test.subject().plan));
        }
        let outing = Outing::default();
        let company = Company {
            control: control.clone(),
            ends: ends.clone(),
            samples: outputs.samples(),
            sampling: sampling.clone(),
            watchers: Arc::clone(&watchers),
            screen: Arc::clone(self.basis.screen()),
            outing: outing.clone(),
        };
        let ran = test.run(company).await;
        let written = ending::written(outputs, ends.signals()).await;
        watchers.close();
        self.basis.repeats().tell();
        let (result, mut summary) = ran?;
        commands.finish(&control, &mut summary).await;
        summary
            .notices
            .extend(sampling.iter().flat_map(|sampling| sampling.notices()));
        summary.notices.extend(guard.reason());
        summary.notices.extend(written.notices());
        let redaction = self.basis.redaction();
        summary.edit_sentences(|text| redaction.redact(text).into_owned());
        let ender = ends.ender();
        let is_futile = self.flags.errors.is_futile(&summary, test.expects_failures());
        let ended = Ended {
            result: &result,
            summary: &summary,
            ender,
            is_futile,
        };
        let verdict = test.verdict(&ended);
        let end = self
            .flags
            .errors
            .judge(verdict, &guard, &summary, test.expects_failures());
        let end = ending::whole(end, outing.missing());
        let end = ending::ending(end, &written, summary.generator.doubt());
        let mut conclusion = ending::conclusion(
            &end,
            Doubts {
                is_doubtful: summary.generator.doubtful,
                is_empty: T::HAS_ITERATIONS && summary.iterations.began() == 0,
            },
        );
        conclusion.reason = conclusion
            .reason
            .map(|reason| redaction.redact(&reason).into_owned());
        summary.conclusion = Some(conclusion);
        let ended = Ended {
            result: &result,
            summary: &summary,
            ender,
            is_futile,
        };
        let printed = test.print(&ended).await;
        if !test.lists_causes(&ended) {
            self.tell_causes(&summary);
        }
        self.tell_headline(&summary);
        // A closed standard output is no reason to lose the run.
        self.keeper.keep(&summary);
        match &self.member {
            Some(member) => member.hand_over(&summary)?,
            None => {
                if self.flags.report.is_empty() && test.reports_unasked() {
                    report::write_unasked(&summary);
                }
                self.flags.report.write(&summary);
            }
        }
        test.announce(&ended).await;
        if let Some(watchers) = Arc::into_inner(watchers) {
            watchers.finish(&summary).await;
        }
        printed?;
        if self.lingers && self.flags.address.is_some() {
            tracing::info!("The run is over; waiting for a signal because of --linger.");
            ends.signals().received(1).await;
        }
        end
    }

    /// Tells the verdict and the sentence of the run, on standard error: standard output may be JSON, or text of a script's
    /// `handleSummary`.
    fn tell_headline(&self, summary: &Summary) {
        if !self.flags.quiet {
            let style = self.basis.style(&io::stderr());
            let text = Headline::of(summary).text(style);
            self.basis.screen().print(&format!("\n{text}"));
        }
    }

    /// Lists the causes of failures on standard error.
    fn tell_causes(&self, summary: &Summary) {
        if !self.flags.quiet {
            let style = self.basis.style(&io::stderr());
            self.basis.screen().print(&summary.causes(style));
        }
    }

    fn start_outputs(&mut self, subject: Subject<'_>) -> Result<Running, Failure> {
        let outputs = std::mem::take(&mut self.outputs).start(subject.plan, Box::new(io::stdout()));
        outputs.map_err(|error| TestFailure::NoFile.because(error))
    }

    /// The targets that are watched.
    fn targets(&self, test: &impl LoadTest) -> WatchArgs {
        let more = self.flags.watch.targets.iter().cloned();
        WatchArgs {
            targets: test.targets().into_iter().chain(more).collect(),
        }
    }

    fn display(&self, setting: &Setting<'_>, has_progress: bool) -> Result<Display<io::Stderr>, Failure> {
        let audience = if self.flags.quiet || !has_progress {
            Audience::Nobody
        } else if self.basis.is_drawable() {
            Audience::Terminal
        } else {
            Audience::Lines
        };
        let view = self.view(setting)?;
        Ok(Display::new(Arc::clone(self.basis.screen()), audience).with_view(view))
    }

    fn view(&self, setting: &Setting<'_>) -> Result<Option<Live>, Failure> {
        let redaction = self.basis.redaction().clone();
        self.flags.live.start(live::Setting {
            subject: setting.subject,
            control: setting.control.clone(),
            signals: setting.signals.clone(),
            sampling: setting.sampling.cloned(),
            screen: Arc::clone(self.basis.screen()),
            is_drawable: self.basis.is_drawable(),
            is_quiet: self.flags.quiet,
            has_colour: self.basis.style(&io::stderr()).color,
            redact: Box::new(move |text| redaction.redact(text).into_owned()),
        })
    }

    fn page(&self, setting: &Setting<'_>) -> Result<Option<LivePage>, Failure> {
        let redaction = self.basis.redaction().clone();
        let setting = live::PageSetting {
            subject: setting.subject,
            control: setting.control.clone(),
            signals: setting.signals.clone(),
            redact: Box::new(move |text| redaction.redact(text).into_owned()),
        };
        self.flags.page.serve(setting, self.basis.screen())
    }
}

/// The run that is watched.
struct Setting<'a> {
    subject: Subject<'a>,
    control: &'a Control,
    signals: &'a Signals,
    sampling: Option<&'a Arc<Sampling>>,
}

/// The style of text for `output`.
pub(crate) fn style(flags: &SessionFlags, output: &impl io::IsTerminal) -> Style {
    basis::style(output, flags.no_color)
}

/// Prints a result.
///
/// # Errors
/// The result cannot be written; the error names standard output.
pub(crate) fn print(text: &str) -> io::Result<()> {
    print_bytes(text.as_bytes())
}

/// Prints a result that may not be text.
///
/// # Errors
/// The result cannot be written; the error names standard output.
pub(crate) fn print_bytes(result: &[u8]) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    let written = stdout.write_all(result).and_then(|()| stdout.flush());
    written.map_err(|error| io::Error::new(error.kind(), format!("cannot write to standard output: {error}")))
}
