//! Runs a bench from checked options to a verdict. The binary calls this module.

use std::{
    fs::{self, File},
    io::{self, Write},
    path::PathBuf,
    sync::Arc,
};

use plimsoll_clients::http::HttpError;
use plimsoll_load::{metrics::SampleSender, preflight::Records, watch::Sampling};
use plimsoll_report::{Summary, summary::Origin};

use crate::{
    agent::{Job, Shared},
    connect, exchange,
    http::{self, HttpOptions, HttpOutcome, HttpResults, HttpRunError},
    interrupt::Interrupt,
    onlooker::Onlooker,
    options::{Connect, Exchange},
    outcome::{self, Outcome},
    output::Console,
    recover::{self, RecoverError, RecoverOptions, RecoverOutcome},
    remote::{Agents, Share},
    run::RunError,
    talk::{Columns, Talk},
};

/// A bench that is ready to start: its workload, and how its result is written.
#[derive(Debug)]
pub enum Bench {
    /// `broadcast` or `echo`.
    Exchange(Box<Exchange>, Results),
    /// `connect`.
    Connect(Box<Connect>, Results),
    /// `http`.
    Http(Box<HttpOptions>, HttpResults),
    /// `recover`.
    Recover(Box<RecoverOptions>, Results),
}

/// How and where a result is written.
#[derive(Debug, Clone)]
pub struct Results {
    /// The form.
    pub format: Format,
    /// The file; `None` for standard output. It is made anew before the bench, with its folders.
    pub path: Option<PathBuf>,
}

/// The form of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Text for people: lines at the end of each step or of the run.
    Text,
    /// One JSON object at the end of the run.
    Json,
}

/// The streams of a bench.
pub struct Streams<'a> {
    /// The stream for results.
    pub stdout: &'a mut dyn Write,
    /// The stream for progress and remarks.
    pub stderr: &'a mut dyn Write,
    /// The number of columns of the terminal that shows the progress; `None` without a terminal.
    pub stderr_columns: Option<Columns>,
    /// Whether no progress is printed. Remarks still are.
    pub is_quiet: bool,
}

/// The outside participants of a bench.
pub struct Company<'a> {
    /// Orders to end the run.
    pub interrupt: Interrupt,
    /// The viewer of the run; `None` without a view.
    pub onlooker: Option<&'a dyn Onlooker>,
    /// The receiver of single samples; `None` in most runs.
    pub samples: Vec<SampleSender>,
    /// The readings of the watched targets; `None` without targets.
    pub sampling: Option<Arc<Sampling>>,
    /// The agents that have the clients; `None` if this process has them. `recover` cannot have any.
    pub agents: Option<Agents>,
}

/// The end of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Everything sent was received, and every client was there.
    Clean,
    /// Messages were lost, or clients failed.
    Faulty,
    /// The run was stopped early. The result covers the time until then.
    Interrupted,
}

impl Verdict {
    pub(crate) fn of(is_interrupted: bool, is_faulty: bool) -> Self {
        match (is_interrupted, is_faulty) {
            (true, _) => Self::Interrupted,
            (false, true) => Self::Faulty,
            (false, false) => Self::Clean,
        }
    }
}

impl Results {
    /// Makes the file; `None` for standard output.
    pub(crate) fn create(&self) -> Result<Option<File>, Error> {
        let file = self.path.as_ref().map(create).transpose();
        file.map_err(|source| self.failed(source))
    }

    /// The result cannot be written.
    pub(crate) fn failed(&self, source: io::Error) -> Error {
        Error::Output {
            path: self.path.clone(),
            source,
        }
    }
}

/// A bench that was done.
#[derive(Debug)]
pub struct Finished {
    /// The verdict, or the reason why the result could not be written.
    pub verdict: Result<Verdict, Error>,
    result: Outcomes,
}

#[derive(Debug)]
enum Outcomes {
    WebSocket(Box<Outcome>),
    Http(Box<HttpOutcome>),
    Recover(Box<RecoverOutcome>),
}

impl Finished {
    pub(crate) fn http(verdict: Result<Verdict, Error>, outcome: HttpOutcome) -> Self {
        Self {
            verdict,
            result: Outcomes::Http(Box::new(outcome)),
        }
    }

    pub(crate) fn recover(verdict: Result<Verdict, Error>, outcome: RecoverOutcome) -> Self {
        Self {
            verdict,
            result: Outcomes::Recover(Box::new(outcome)),
        }
    }

    /// The title of the run for people: the command and its target.
    pub fn name(&self) -> String {
        match &self.result {
            Outcomes::WebSocket(outcome) => outcome.name(),
            Outcomes::Http(outcome) => outcome.name(),
            Outcomes::Recover(outcome) => outcome.name(),
        }
    }

    /// What each agent did. Empty if this process had the clients.
    pub fn shares(&self) -> &[Share] {
        match &self.result {
            Outcomes::WebSocket(outcome) => &outcome.shares,
            Outcomes::Http(outcome) => &outcome.shares,
            Outcomes::Recover(_) => &[],
        }
    }

    /// Why a part of the load is missing; `None` if nothing is.
    pub fn missing(&self) -> Option<&str> {
        match &self.result {
            Outcomes::WebSocket(outcome) => outcome.missing.as_deref(),
            Outcomes::Http(outcome) => outcome.missing.as_deref(),
            Outcomes::Recover(_) => None,
        }
    }

    /// Everything there is to say about it.
    pub fn summarize(&self, origin: Origin<'_>) -> Summary {
        match &self.result {
            Outcomes::WebSocket(outcome) => outcome.summarize(origin),
            Outcomes::Http(outcome) => outcome.summarize(origin),
            Outcomes::Recover(outcome) => outcome.summarize(origin),
        }
    }
}

/// The reason why there is no verdict.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The run could not be done.
    #[error(transparent)]
    Run(#[from] RunError),
    /// An error of the `recover` workload.
    #[error(transparent)]
    Recover(#[from] RecoverError),
    /// An error of the `http` workload.
    #[error(transparent)]
    Http(#[from] HttpRunError),
    /// A failure ended the run. The results so far have been written.
    #[error(
        "the run ended after {n_complete} complete requests: {reason}; with -r the run continues and counts such \
         failures"
    )]
    Ended {
        /// The number of complete responses.
        n_complete: u64,
        /// The reason, and what to do.
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
    /// Whether the options are contradictory, so that the run did not start.
    pub fn is_wrong_usage(&self) -> bool {
        matches!(self, Self::Http(HttpRunError::Request(HttpError::Field(_), _)))
    }

    /// Whether it was told to end before it had begun.
    pub fn is_interruption(&self) -> bool {
        matches!(
            self,
            Self::Run(RunError::Interrupted)
                | Self::Http(HttpRunError::Run(RunError::Interrupted))
                | Self::Recover(RecoverError::Run(RunError::Interrupted))
        )
    }
}

impl Bench {
    /// The title of the run for people: the command and its target.
    pub fn name(&self) -> String {
        match self {
            Self::Exchange(options, _) => options.common.title(options.workload()),
            Self::Connect(options, _) => options.common.title(outcome::Workload::Connect),
            Self::Http(options, _) => http::name(&options.shown_url()),
            Self::Recover(options, _) => recover::name(&options.target),
        }
    }

    /// The number of clients (or of concurrent requests) in the first step, and the largest planned number.
    pub fn n_clients(&self) -> (usize, usize) {
        let steps = match self {
            Self::Exchange(options, _) => &options.steps,
            Self::Connect(options, _) => &options.steps,
            Self::Http(options, _) => return (options.concurrency, options.concurrency),
            Self::Recover(options, _) => return (options.n_all(), options.n_all()),
        };
        (steps.n_first, steps.n_clients().unwrap_or(steps.n_first))
    }

    /// Checks what can be checked before agents have to.
    ///
    /// # Errors
    /// The options are contradictory, or cannot be used.
    pub fn check_job(&self) -> Result<(), Error> {
        match self {
            Self::Http(options, _) => Ok(http::check(options)?),
            Self::Exchange(..) | Self::Connect(..) | Self::Recover(..) => Ok(()),
        }
    }

    /// Whether the result means something without the part of an agent that is lost.
    pub fn can_do_without_an_agent(&self) -> bool {
        matches!(self, Self::Http(..))
    }

    /// The records of single messages that the run keeps. Without a planned number of steps, those of the first step.
    pub fn records(&self) -> Records {
        let (_, n_clients) = self.n_clients();
        self.records_for(n_clients)
    }

    fn records_for(&self, n_clients: usize) -> Records {
        let Self::Exchange(options, _) = self else {
            return Records::default();
        };
        options.records(options.steps.n_steps.unwrap_or(1), n_clients)
    }

    /// Whether it asks for the permission to begin a step.
    pub fn is_interactive(&self) -> bool {
        let common = match self {
            Self::Exchange(options, _) => &options.common,
            Self::Connect(options, _) => &options.common,
            Self::Http(..) | Self::Recover(..) => return false,
        };
        common.between_steps.go_ahead.is_some()
    }

    /// Whether failures of connections are expected (ab's `-r`).
    pub fn expects_failures(&self) -> bool {
        match self {
            Self::Http(options, _) => options.goes_on,
            Self::Exchange(..) | Self::Connect(..) | Self::Recover(..) => false,
        }
    }

    /// Runs the bench to its end, or until an order stops it, and writes its result.
    ///
    /// # Errors
    /// [`Error`], when it was not done.
    pub async fn execute(&self, streams: Streams<'_>, company: Company<'_>) -> Result<Finished, Error> {
        match self {
            Self::Http(options, results) => http::execute(options, results, streams, company).await,
            Self::Recover(options, results) => recover::execute(options, results, streams, company).await,
            Self::Exchange(options, results) => {
                let workload = async |interrupt, agents, console: &mut Console<'_>| {
                    exchange::run(options, interrupt, agents, console).await
                };
                execute(workload, results, streams, company).await
            }
            Self::Connect(options, results) => {
                let workload = async |interrupt, agents, console: &mut Console<'_>| {
                    connect::run(options, interrupt, agents, console).await
                };
                execute(workload, results, streams, company).await
            }
        }
    }
}

impl Shared for Bench {
    fn job(&mut self, n_workers: usize) -> Option<Job> {
        match self {
            Self::Exchange(options, _) => Some(options.job(n_workers)),
            Self::Connect(options, _) => Some(options.job(n_workers)),
            Self::Http(options, _) => {
                options.n_workers = n_workers;
                Some(http::Job::new(options).into())
            }
            Self::Recover(..) => None,
        }
    }

    fn contents_of_job(&self) -> &[u8] {
        match self {
            Self::Http(options, _) => &options.request.body,
            Self::Exchange(..) | Self::Connect(..) | Self::Recover(..) => &[],
        }
    }

    fn n_workers(&self) -> Option<usize> {
        match self {
            Self::Exchange(options, _) => Some(options.common.n_workers),
            Self::Connect(options, _) => Some(options.common.n_workers),
            Self::Http(options, _) => Some(options.n_workers),
            Self::Recover(..) => None,
        }
    }

    fn records_of_agent(&self, n_agents: usize) -> Records {
        let (_, n_clients) = self.n_clients();
        self.records_for(n_clients.div_ceil(n_agents.max(1)))
    }
}

async fn execute(
    workload: impl AsyncFnOnce(Interrupt, Option<Agents>, &mut Console<'_>) -> Result<Outcome, RunError>,
    results: &Results,
    streams: Streams<'_>,
    company: Company<'_>,
) -> Result<Finished, Error> {
    let mut file = results.create()?;
    let out = file
        .as_mut()
        .map_or(streams.stdout, |file| file as &mut dyn Write);
    let talk = Talk::new(streams.stderr, streams.stderr_columns);
    let Company {
        interrupt,
        onlooker,
        samples,
        sampling,
        agents,
    } = company;
    let console = Console::new(out, talk, results.format, streams.is_quiet);
    let mut console = console.with_company(onlooker, samples, sampling);
    let outcome = workload(interrupt, agents, &mut console).await?;
    let told = console.finish(&outcome).map_err(|source| results.failed(source));
    let verdict = told.map(|()| Verdict::of(outcome.is_interrupted, outcome.is_faulty()));
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
