//! From the parsed command line to a verdict: what the binary calls.

use std::{
    fmt::Display,
    fs::{self, File},
    future::pending,
    io::{self, Write},
    path::PathBuf,
};

use plimsoll_clients::http::HttpError;
use plimsoll_report::{Summary, summary::Origin};
use tokio::{runtime::Builder, signal::ctrl_c, sync::mpsc};

use crate::{
    args::{Bench, Format, HttpArgs},
    connect, exchange,
    http::{self, HttpOptions, HttpOutcome, HttpRunError, HttpUsageError},
    interrupt::Interrupt,
    onlooker::Audience,
    options::{Connect, Exchange, UsageError},
    outcome::{self, Outcome},
    output::Console,
    run::RunError,
    talk::{Columns, Talk},
};

/// The process's streams, as far as a bench needs them.
pub struct Streams<'a> {
    /// For results.
    pub stdout: &'a mut dyn Write,
    /// For progress and remarks.
    pub stderr: &'a mut dyn Write,
    /// How wide the terminal is that shows the progress; `None` where none does.
    pub stderr_columns: Option<Columns>,
    /// Whether somebody can press Enter.
    pub stdin_is_terminal: bool,
}

/// How a run that was done ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Everything sent was received, and every client was there.
    Clean,
    /// Messages were lost, or clients failed.
    Faulty,
}

/// A bench that was done.
#[derive(Debug)]
pub struct Finished {
    /// How it went, or why its result could not be told.
    pub verdict: Result<Verdict, Error>,
    result: Outcomes,
}

#[derive(Debug)]
enum Outcomes {
    WebSocket(Box<Outcome>),
    Http(Box<HttpOutcome>),
}

impl Finished {
    pub(crate) fn http(verdict: Result<Verdict, Error>, outcome: HttpOutcome) -> Self {
        Self {
            verdict,
            result: Outcomes::Http(Box::new(outcome)),
        }
    }

    /// For people: the command and whom it is about.
    pub fn name(&self) -> String {
        match &self.result {
            Outcomes::WebSocket(outcome) => outcome.name(),
            Outcomes::Http(outcome) => outcome.name(),
        }
    }

    /// Everything there is to say about it.
    pub fn summarize(&self, origin: Origin<'_>) -> Summary {
        match &self.result {
            Outcomes::WebSocket(outcome) => outcome.summarize(origin),
            Outcomes::Http(outcome) => outcome.summarize(origin),
        }
    }
}

/// Why there is no verdict.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The command line is not usable.
    #[error(transparent)]
    Usage(#[from] UsageError),
    /// The same for `http`.
    #[error(transparent)]
    HttpUsage(#[from] HttpUsageError),
    /// The run could not be done.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The same for `http`.
    #[error(transparent)]
    Http(#[from] HttpRunError),
    /// A failure ended the run, and what there is has been reported.
    #[error(
        "the run ended after {n_complete} complete requests: {reason}; -r goes on and counts such failures"
    )]
    Ended {
        /// How many responses were whole.
        n_complete: u64,
        /// Why, and what to do.
        reason: String,
    },
    /// The result could not be written.
    #[error("cannot write the result to {}: {source}", path.as_ref().map_or("standard output".into(), |path| path.display().to_string()))]
    Output {
        /// The file, if it was to be one.
        path: Option<PathBuf>,
        /// The system's answer.
        source: io::Error,
    },
}

impl Error {
    /// Whether the command line asks for what cannot be, so that nothing was tried.
    pub fn is_wrong_usage(&self) -> bool {
        match self {
            Self::Usage(_) | Self::HttpUsage(_) => true,
            Self::Http(HttpRunError::Request(error, _)) => matches!(error, HttpError::Field(_)),
            Self::Run(_) | Self::Http(_) | Self::Ended { .. } | Self::Output { .. } => false,
        }
    }
}

/// A bench whose options are checked.
pub struct Prepared(Kind);

enum Kind {
    WebSocket(Box<WebSocket>),
    Http(Box<HttpArgs>, Box<HttpOptions>),
}

struct WebSocket {
    workload: Workload,
    is_interactive: bool,
    /// Where results go instead of standard output.
    path: Option<PathBuf>,
    format: Format,
}

/// A bench with checked options.
enum Workload {
    Exchange(Exchange),
    Connect(Connect),
}

impl TryFrom<Bench> for Prepared {
    type Error = Error;

    fn try_from(bench: Bench) -> Result<Self, Error> {
        let (common, workload) = match bench {
            Bench::Broadcast(args) => (args.common.clone(), args.try_into().map(Workload::Exchange)),
            Bench::Echo(args) => (args.common.clone(), args.try_into().map(Workload::Exchange)),
            Bench::Connect(args) => (args.common.clone(), args.try_into().map(Workload::Connect)),
            Bench::Http(args) => {
                let options = HttpOptions::try_from(&*args)?;
                return Ok(Self(Kind::Http(args, Box::new(options))));
            }
        };
        Ok(Self(Kind::WebSocket(Box::new(WebSocket {
            workload: workload?,
            is_interactive: common.interactive,
            path: common.filename,
            format: common.format,
        }))))
    }
}

impl Prepared {
    /// For people: the command and whom it is about.
    pub fn name(&self) -> String {
        match &self.0 {
            Kind::WebSocket(bench) => match &bench.workload {
                Workload::Exchange(options) => name(options.workload(), &options.common.target),
                Workload::Connect(options) => name(outcome::Workload::Connect, &options.common.target),
            },
            Kind::Http(_, options) => http::name(&options.shown_url()),
        }
    }

    /// Runs the bench to its end. Ctrl-C ends it early with what there is; a second one does not wait for what is in
    /// flight. So do the stops of the audience, if there is one.
    ///
    /// # Errors
    /// [`Error`], when it was not done.
    pub fn execute(
        self,
        mut streams: Streams<'_>,
        audience: Option<Audience<'_>>,
    ) -> Result<Finished, Error> {
        match self.0 {
            Kind::WebSocket(bench) => bench.execute(streams, audience),
            Kind::Http(args, options) => http::execute(&args, &options, &mut streams, audience),
        }
    }
}

fn name(workload: outcome::Workload, target: impl Display) -> String {
    format!("bench {} {target}", workload.name())
}

impl WebSocket {
    fn execute(self, streams: Streams<'_>, audience: Option<Audience<'_>>) -> Result<Finished, Error> {
        if self.is_interactive && !streams.stdin_is_terminal {
            return Err(UsageError::NoTerminal.into());
        }
        let failed = |source| Error::Output {
            path: self.path.clone(),
            source,
        };
        let mut file = self.path.as_ref().map(create).transpose().map_err(failed)?;
        let results = file
            .as_mut()
            .map_or(streams.stdout, |file| file as &mut dyn Write);
        let talk = Talk::new(streams.stderr, streams.stderr_columns);
        let (onlooker, stops) = audience.map(|it| (it.onlooker, it.stops)).unzip();
        let mut console = Console::new(results, talk, self.format, onlooker);
        let runtime = Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(RunError::Start)?;
        let outcome = runtime.block_on(self.workload.run(stops, &mut console))?;
        let told = console.finish(&outcome).map_err(failed);
        let verdict = told.map(|()| {
            if outcome.is_faulty() {
                Verdict::Faulty
            } else {
                Verdict::Clean
            }
        });
        Ok(Finished {
            verdict,
            result: Outcomes::WebSocket(Box::new(outcome)),
        })
    }
}

impl Workload {
    async fn run(
        &self,
        stops: Option<mpsc::Receiver<()>>,
        console: &mut Console<'_>,
    ) -> Result<Outcome, RunError> {
        let (signals, interrupt) = mpsc::channel(2);
        let watch = tokio::spawn(forward_stops(stops, signals));
        let outcome = match self {
            Self::Exchange(options) => exchange::run(options, Interrupt::new(interrupt), console).await,
            Self::Connect(options) => connect::run(options, Interrupt::new(interrupt), console).await,
        };
        watch.abort();
        outcome
    }
}

/// Ctrl-C of the process, and `stops` of somebody else, as messages, for as long as it is polled.
pub(crate) async fn forward_stops(mut stops: Option<mpsc::Receiver<()>>, signals: mpsc::Sender<()>) {
    // A full channel means that two have not been looked at yet: the run is ending as fast as it can.
    loop {
        tokio::select! {
            Ok(()) = ctrl_c() => {}
            () = next(&mut stops) => {}
            else => return,
        }
        let _ = signals.try_send(());
    }
}

/// Waits for one more, or for ever when none can come.
async fn next(stops: &mut Option<mpsc::Receiver<()>>) {
    if let Some(stops) = stops
        && stops.recv().await.is_some()
    {
        return;
    }
    pending::<()>().await;
}

/// Makes the file and its folders.
pub(crate) fn create(path: &PathBuf) -> io::Result<File> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    File::create(path)
}
