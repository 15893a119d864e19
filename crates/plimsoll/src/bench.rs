//! `plimsoll bench` and `plimsoll ab`: from flags over a workload to what becomes of its result.

use std::{
    io::{self, IsTerminal},
    sync::Arc,
    time::Duration,
};

use clap::{Args, Parser, Subcommand};
use plimsoll_load::{machine::Machine, metrics::SampleSender, plan::Plan};
use plimsoll_outputs::{OutputReport, Outputs, Running};
use plimsoll_report::summary::Kind;
use plimsoll_shootout::{Bench, Company, Error, Finished, Interrupt, Streams, Verdict};
use tokio::{
    runtime::{Builder, LocalOptions},
    sync::mpsc,
    time::sleep,
};

mod args;
mod enter;
mod http_options;
mod options;
mod trials;
mod typed;

use self::{args::HttpArgs, typed::Typed};
pub(crate) use self::{
    args::{BroadcastArgs, ConnectArgs, EchoArgs},
    options::UsageError,
};
use crate::{
    exit::{Failure, Status, TestFailure},
    live::{BenchScreens, PageFlags},
    origin::origin,
    report::ReportFlags,
    runs::{Keeper, SaveFlags},
    screen::Screen,
    signals::Signals,
    surroundings::Surroundings,
    terminal,
};

/// How long outputs have to write what is left after a second signal. Reason: a file takes less, and a person who has
/// pressed Ctrl-C twice does not want to wait for a database that is away.
const LAST_MOMENT: Duration = Duration::from_secs(1);

/// Run a workload of websocket-bench or ab against a server.
#[derive(Debug, Parser)]
pub(crate) struct Options {
    #[command(subcommand)]
    workload: Workload,
}

/// Measure how fast a server answers one HTTP request: ab's flags and report, and more.
#[derive(Debug, Parser)]
pub(crate) struct AbOptions {
    #[command(flatten)]
    http: Kept<HttpArgs>,
}

#[derive(Debug, Subcommand)]
enum Workload {
    /// Measure how fast a message from one client reaches all, with more and more clients
    Broadcast(Box<Kept<BroadcastArgs>>),
    /// Measure how fast clients get ready when many come at once
    Connect(Box<Kept<ConnectArgs>>),
    /// Measure how fast a message comes back to its sender, with more and more clients
    Echo(Box<Kept<EchoArgs>>),
    /// Measure how fast a server answers one HTTP request, as ab does; also `plimsoll ab`
    Http(Box<Kept<HttpArgs>>),
}

/// A workload with what becomes of its result.
#[derive(Debug, Args)]
struct Kept<A: Args> {
    #[command(flatten)]
    workload: A,
    #[command(flatten)]
    flags: Flags,
}

/// Flags that all workloads have.
#[derive(Debug, Args)]
struct Flags {
    #[command(flatten)]
    report: ReportFlags,
    #[command(flatten)]
    save: SaveFlags,
    #[command(flatten)]
    page: PageFlags,
    /// Write all samples to an output, for example json=samples.json; may be given several times
    #[arg(long, value_name = "NAME[=ARGUMENT]")]
    out: Vec<String>,
    /// No progress: remarks and the result only
    #[arg(long, short, conflicts_with = "tui")]
    quiet: bool,
    /// Show figures and charts in the terminal while the bench goes on
    #[arg(long, overrides_with = "no_tui")]
    tui: bool,
    /// Show a plain progress, which is the default
    #[arg(long, overrides_with = "tui")]
    no_tui: bool,
    /// No colours
    #[arg(long)]
    no_color: bool,
}

impl Options {
    pub(crate) fn execute(self, surroundings: &Surroundings<'_>) -> Result<Status, Failure> {
        match self.workload {
            Workload::Broadcast(it) => it.execute(surroundings),
            Workload::Connect(it) => it.execute(surroundings),
            Workload::Echo(it) => it.execute(surroundings),
            Workload::Http(it) => it.execute(surroundings),
        }
    }
}

impl AbOptions {
    pub(crate) fn execute(self, surroundings: &Surroundings<'_>) -> Result<Status, Failure> {
        self.http.execute(surroundings)
    }
}

impl<A: Typed> Kept<A> {
    fn execute(self, surroundings: &Surroundings<'_>) -> Result<Status, Failure> {
        let Self { workload, flags } = self;
        flags.report.check()?;
        let bench = workload.bench();
        let bench = bench.map_err(|mistake| Failure::Usage(mistake.to_string()))?;
        if flags.tui && bench.is_interactive() {
            let message = "--tui and --interactive both want the keys of the terminal; leave one of them out";
            return Err(Failure::Usage(message.to_owned()));
        }
        let keeper = flags.save.keeper(flags.quiet, surroundings);
        let variable = |name: &str| surroundings.variable(name).map(str::to_owned);
        let outputs = Outputs::parse(&flags.out, &variable);
        let outputs = outputs.map_err(|error| TestFailure::InvalidOptions.because(error))?;
        let runtime = Builder::new_current_thread()
            .enable_all()
            .build_local(LocalOptions::default())?;
        let status = runtime.block_on(flags.conduct(bench, outputs, keeper));
        // The system may still be looking for a host that an interrupted bench does not need any more.
        runtime.shutdown_background();
        status
    }
}

impl Flags {
    /// Runs the bench, and takes care of what it came to. To be polled on a local runtime.
    async fn conduct(self, bench: Bench, outputs: Outputs, keeper: Keeper) -> Result<Status, Failure> {
        let signals = Signals::listen()?;
        let mut screens = self.screens(&bench.name(), &signals)?;
        // Outputs read the thresholds of a plan and which tags there are: none and k6's.
        let outputs = outputs.start(&Plan::new(Vec::new()), Box::new(io::stdout()));
        let outputs = outputs.map_err(|error| TestFailure::NoFile.because(error))?;
        let finished = self
            .run(bench, &signals, screens.as_ref(), outputs.samples())
            .await;
        let written = finish(outputs, &signals).await;
        if let Some(screens) = &mut screens {
            screens.close_view();
        }
        let finished = finished.map_err(failure)?;
        let mut summary = finished.summarize(origin(Kind::Bench, &finished.name(), &Machine::read()));
        summary.notices.extend(written.notices());
        keeper.keep(&summary);
        self.report.write(&summary);
        if let Some(screens) = screens {
            screens.finish(&summary).await;
        }
        end(finished.verdict.map_err(failure)?, &written)
    }

    fn screens(&self, name: &str, signals: &Signals) -> Result<Option<BenchScreens>, Failure> {
        let (screen, is_drawable) = Screen::stderr();
        let has_colour = terminal::style(&io::stderr()).color && !self.no_color;
        let screen = (Arc::new(screen), is_drawable);
        self.page.show_bench(name, self.tui, has_colour, signals, screen)
    }

    async fn run(
        &self,
        bench: Bench,
        signals: &Signals,
        screens: Option<&BenchScreens>,
        samples: Vec<SampleSender>,
    ) -> Result<Finished, Error> {
        let beside = screens.and_then(BenchScreens::streams);
        let has_view = beside.is_some();
        let (mut stdout, mut stderr) =
            beside.unwrap_or_else(|| (Box::new(io::stdout()), Box::new(io::stderr())));
        let is_terminal = io::stderr().is_terminal() && !has_view;
        let streams = Streams {
            stdout: &mut *stdout,
            stderr: &mut *stderr,
            stderr_columns: is_terminal.then_some(|| terminal::size().0),
            is_quiet: self.quiet || has_view,
        };
        let (orders, interrupt) = mpsc::channel(2);
        tokio::task::spawn_local(pass_on(signals.clone(), orders));
        let company = Company {
            interrupt: Interrupt::new(interrupt),
            onlooker: screens.map(BenchScreens::onlooker),
            samples,
        };
        bench.execute(streams, company).await
    }
}

/// Waits until outputs have written everything, or until a second signal allows them a moment only.
async fn finish(outputs: Running, signals: &Signals) -> OutputReport {
    let names = outputs.names();
    tokio::select! {
        report = outputs.finish() => report,
        () = async {
            signals.received(2).await;
            sleep(LAST_MOMENT).await;
        } => OutputReport::given_up(names),
    }
}

/// Makes orders of signals: the first one ends the bench in good order, the second one at once.
async fn pass_on(signals: Signals, orders: mpsc::Sender<()>) {
    for n in [1, 2] {
        signals.received(n).await;
        // There is room for both.
        let _over = orders.try_send(());
    }
}

/// The exit code. What ended the bench counts before what its samples lack, and that before how it went.
fn end(verdict: Verdict, written: &OutputReport) -> Result<Status, Failure> {
    let lost = written.notices();
    match verdict {
        Verdict::Interrupted => {
            let reason = "the run was interrupted by a signal".to_owned();
            let all: Vec<_> = [reason].into_iter().chain(lost).collect();
            Err(TestFailure::Interrupted.because(all.join("; ")))
        }
        Verdict::Clean | Verdict::Faulty if !lost.is_empty() => {
            Err(TestFailure::SamplesLost.because(lost.join("; ")))
        }
        Verdict::Clean => Ok(Status::Success),
        Verdict::Faulty => Ok(Status::BadResult),
    }
}

fn failure(error: Error) -> Failure {
    if error.is_wrong_usage() {
        return Failure::Usage(error.to_string());
    }
    if error.is_interruption() {
        return TestFailure::Interrupted
            .because("the run was interrupted by a signal before it began, so there is no result");
    }
    error.into()
}
