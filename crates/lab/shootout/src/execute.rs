//! From checked options to a verdict: what the binary calls.

use std::{
    fmt::Display,
    fs::{self, File},
    io::{self, Write},
    path::PathBuf,
    sync::Arc,
};

use plimsoll_clients::http::HttpError;
use plimsoll_load::{metrics::SampleSender, watch::Sampling};
use plimsoll_report::{Summary, summary::Origin};

use crate::{
    connect, exchange,
    http::{self, HttpOptions, HttpOutcome, HttpResults, HttpRunError},
    interrupt::Interrupt,
    onlooker::Onlooker,
    options::{Connect, Exchange},
    outcome::{self, Outcome},
    output::Console,
    run::RunError,
    talk::{Columns, Talk},
};

/// A bench that is ready to go: what it is to do, and what becomes of its result.
#[derive(Debug)]
pub enum Bench {
    /// `broadcast` or `echo`.
    Exchange(Box<Exchange>, Results),
    /// `connect`.
    Connect(Box<Connect>, Results),
    /// `http`.
    Http(Box<HttpOptions>, HttpResults),
}

/// How a result is written, and where.
#[derive(Debug, Clone)]
pub struct Results {
    /// For whom.
    pub format: Format,
    /// The file; `None` for standard output. It is made anew before the bench, with its folders.
    pub path: Option<PathBuf>,
}

/// How results are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// For people: lines as the step or the run ends.
    Text,
    /// One object, when the run is over.
    Json,
}

/// The streams of a bench.
pub struct Streams<'a> {
    /// For results.
    pub stdout: &'a mut dyn Write,
    /// For progress and remarks.
    pub stderr: &'a mut dyn Write,
    /// How wide the terminal is that shows the progress; `None` where none does.
    pub stderr_columns: Option<Columns>,
    /// Whether nothing is said of the progress. Remarks are.
    pub is_quiet: bool,
}

/// Who takes part in a bench from outside.
pub struct Company<'a> {
    /// Who may end it.
    pub interrupt: Interrupt,
    /// Who looks on, if anybody does.
    pub onlooker: Option<&'a dyn Onlooker>,
    /// Who takes its samples one by one; most often nobody.
    pub samples: Vec<SampleSender>,
    /// Who looks at the watched targets, if there are any.
    pub sampling: Option<Arc<Sampling>>,
}

/// How a run that was done ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Everything sent was received, and every client was there.
    Clean,
    /// Messages were lost, or clients failed.
    Faulty,
    /// It was told to end before its end; the result is what there was by then.
    Interrupted,
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
    /// Whether the options ask for what cannot be, so that nothing was tried.
    pub fn is_wrong_usage(&self) -> bool {
        matches!(self, Self::Http(HttpRunError::Request(HttpError::Field(_), _)))
    }

    /// Whether it was told to end before it had begun.
    pub fn is_interruption(&self) -> bool {
        matches!(
            self,
            Self::Run(RunError::Interrupted) | Self::Http(HttpRunError::Run(RunError::Interrupted))
        )
    }
}

impl Bench {
    /// For people: the command and whom it is about.
    pub fn name(&self) -> String {
        match self {
            Self::Exchange(options, _) => name(options.workload(), &options.common.target),
            Self::Connect(options, _) => name(outcome::Workload::Connect, &options.common.target),
            Self::Http(options, _) => http::name(&options.shown_url()),
        }
    }

    /// How many clients, or requests under way, there are in the first step, and how many at the most, as far as that is planned.
    pub fn n_clients(&self) -> (usize, usize) {
        let steps = match self {
            Self::Exchange(options, _) => &options.steps,
            Self::Connect(options, _) => &options.steps,
            Self::Http(options, _) => return (options.concurrency, options.concurrency),
        };
        (steps.n_first, steps.n_clients().unwrap_or(steps.n_first))
    }

    /// Whether it asks for the permission to begin a step.
    pub fn is_interactive(&self) -> bool {
        let common = match self {
            Self::Exchange(options, _) => &options.common,
            Self::Connect(options, _) => &options.common,
            Self::Http(..) => return false,
        };
        common.between_steps.go_ahead.is_some()
    }

    /// Runs the bench to its end, or until it is told to end, and writes its result.
    ///
    /// # Errors
    /// [`Error`], when it was not done.
    pub async fn execute(&self, streams: Streams<'_>, company: Company<'_>) -> Result<Finished, Error> {
        match self {
            Self::Http(options, results) => http::execute(options, results, streams, company).await,
            Self::Exchange(options, results) => {
                let workload = async |interrupt, console: &mut Console<'_>| {
                    exchange::run(options, interrupt, console).await
                };
                execute(workload, results, streams, company).await
            }
            Self::Connect(options, results) => {
                let workload = async |interrupt, console: &mut Console<'_>| {
                    connect::run(options, interrupt, console).await
                };
                execute(workload, results, streams, company).await
            }
        }
    }
}

fn name(workload: outcome::Workload, target: impl Display) -> String {
    format!("bench {} {target}", workload.name())
}

async fn execute(
    workload: impl AsyncFnOnce(Interrupt, &mut Console<'_>) -> Result<Outcome, RunError>,
    results: &Results,
    streams: Streams<'_>,
    company: Company<'_>,
) -> Result<Finished, Error> {
    let path = results.path.as_ref();
    let failed = |source| Error::Output {
        path: path.cloned(),
        source,
    };
    let mut file = path.map(create).transpose().map_err(failed)?;
    let out = file
        .as_mut()
        .map_or(streams.stdout, |file| file as &mut dyn Write);
    let talk = Talk::new(streams.stderr, streams.stderr_columns);
    let Company {
        interrupt,
        onlooker,
        samples,
        sampling,
    } = company;
    let console = Console::new(out, talk, results.format, streams.is_quiet);
    let mut console = console.with_company(onlooker, samples, sampling);
    let outcome = workload(interrupt, &mut console).await?;
    let told = console.finish(&outcome).map_err(failed);
    let verdict = told.map(|()| match (outcome.is_interrupted, outcome.is_faulty()) {
        (true, _) => Verdict::Interrupted,
        (false, true) => Verdict::Faulty,
        (false, false) => Verdict::Clean,
    });
    Ok(Finished {
        verdict,
        result: Outcomes::WebSocket(Box::new(outcome)),
    })
}

/// Makes the file and its folders.
pub(crate) fn create(path: &PathBuf) -> io::Result<File> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    File::create(path)
}
