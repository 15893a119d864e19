//! All exit codes, in one place (documented in `docs/reference/exit-codes.md`).

use std::{
    error::Error,
    fmt::Display,
    io::{self, Write},
    path::Path,
    process::ExitCode,
    sync::mpsc,
    thread,
    time::Duration,
};

use plimsoll_report::Verdict;

/// The longest that an error text may take to be written.
const PATIENCE: Duration = Duration::from_secs(1);

/// The status of a command that ran to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Status {
    /// Exit code 0.
    Success,
    /// Exit code 3: the run is complete, and something was lost, failed or below its threshold; or the candidate of a
    /// comparison is worse; or a case of a conformance suite failed, or changed.
    BadResult,
    /// Exit code 4: a comparison or a search of the load line is inconclusive, or the line is above the largest load of
    /// this program.
    CannotTell,
    /// Exit code 5: the candidate of a comparison is better.
    Better,
}

/// A command that could not be carried out, or a load test that did not end well.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Exit code 2: the command line asks for something impossible. (clap also ends with 2.)
    Usage(String),
    /// Exit code 1: something outside failed.
    Runtime(Box<dyn Error>),
    /// Exit codes 99 to 111, and 255: `plimsoll run`.
    Test(TestFailure, String),
    /// The exit code of a run of a series, which has told its own reason.
    Run {
        /// Never 0.
        code: u8,
        /// The meaning for the series.
        message: String,
    },
}

/// Why a load test did not end well, with k6's exit codes where k6 has one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum TestFailure {
    /// A check of an Artillery file does not hold; the code is Artillery's. Clients of a wsdirector scenario failed; the code
    /// is that tool's.
    ChecksFailed = 1,
    /// An output lost samples, or too many iterations, requests or connections failed; the code is that of
    /// [`Status::BadResult`].
    BadResult = 3,
    /// Expectations of an Artillery file were not met; the code is Artillery's.
    ExpectationsFailed = 21,
    /// A threshold does not hold.
    ThresholdsCrossed = 99,
    /// `setup` took too long.
    SetupTimedOut = 100,
    /// `teardown` took too long.
    TeardownTimedOut = 101,
    /// A client of the REST interface stopped the run.
    Stopped = 103,
    /// Options that cannot be.
    InvalidOptions = 104,
    /// A signal ended it.
    Interrupted = 105,
    /// The REST interface cannot be there.
    NoControl = 106,
    /// The script cannot be read, or threw outside of iterations.
    ScriptFailed = 107,
    /// The script ended it.
    Aborted = 108,
    /// A defect of this program.
    Panicked = 109,
    /// The script marked it as failed.
    MarkedFailed = 110,
    /// A fleet could not carry it out, or lost an agent.
    FleetFailed = 111,
    /// The script does not exist, or an output cannot start.
    NoFile = 255,
}

impl TestFailure {
    /// The end of the command, with the reason for people.
    pub(crate) fn because(self, reason: impl Display) -> Failure {
        Failure::Test(self, reason.to_string())
    }
}

impl Failure {
    /// The input file of a load test cannot be read.
    pub(crate) fn unreadable(file: &Path, error: &io::Error) -> Self {
        // It may be a URL.
        let file = file.to_string_lossy();
        let shown = plimsoll_redacted::url_with_query(&file);
        TestFailure::NoFile.because(format!("cannot read {shown}: {error}"))
    }
}

impl Status {
    /// The exit code.
    pub(crate) fn code(self) -> u8 {
        match self {
            Self::Success => 0,
            Self::BadResult => 3,
            Self::CannotTell => 4,
            Self::Better => 5,
        }
    }
}

impl From<Status> for ExitCode {
    fn from(status: Status) -> Self {
        Self::from(status.code())
    }
}

impl TestFailure {
    /// The verdict of a load test that ends so.
    fn verdict(self) -> Verdict {
        match self {
            Self::ChecksFailed
            | Self::BadResult
            | Self::ExpectationsFailed
            | Self::ThresholdsCrossed
            | Self::TeardownTimedOut
            | Self::MarkedFailed => Verdict::Fail,
            Self::SetupTimedOut
            | Self::Stopped
            | Self::InvalidOptions
            | Self::Interrupted
            | Self::NoControl
            | Self::ScriptFailed
            | Self::Aborted
            | Self::Panicked
            | Self::FleetFailed
            | Self::NoFile => Verdict::Incomplete,
        }
    }
}

/// The verdict of a load test that ends so, if its generator was no bottleneck.
pub(crate) fn verdict(end: &Result<Status, Failure>) -> Verdict {
    match end {
        Ok(Status::Success | Status::Better) => Verdict::Pass,
        Ok(Status::BadResult) => Verdict::Fail,
        Ok(Status::CannotTell) => Verdict::Doubtful,
        Err(Failure::Test(failure, _)) => failure.verdict(),
        Err(Failure::Usage(_) | Failure::Runtime(_) | Failure::Run { .. }) => Verdict::Incomplete,
    }
}

impl<E: Error + 'static> From<E> for Failure {
    fn from(error: E) -> Self {
        Self::Runtime(Box::new(error))
    }
}

/// Whether there was no room for the output, according to the system's error alone. Only standard output has no other
/// message; see [`Failure::is_end_of_reading`].
fn is_full(error: &io::Error) -> bool {
    let kind = error.kind();
    error.raw_os_error().is_some()
        && matches!(kind, io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}

impl Failure {
    /// Whether a script or its options are the reason, wherever it runs.
    pub(crate) fn is_of_script(&self) -> bool {
        matches!(
            self,
            Self::Test(
                TestFailure::ScriptFailed | TestFailure::Aborted | TestFailure::InvalidOptions,
                _
            )
        )
    }

    /// The failure with an edited message. An error whose message does not change keeps its type.
    pub(crate) fn in_words(self, edit: impl Fn(&str) -> String) -> Self {
        match self {
            Self::Usage(message) => Self::Usage(edit(&message)),
            Self::Runtime(error) => {
                let text = error.to_string();
                let edited = edit(&text);
                if edited == text {
                    Self::Runtime(error)
                } else {
                    Self::Runtime(edited.into())
                }
            }
            Self::Test(failure, message) => Self::Test(failure, edit(&message)),
            Self::Run { code, message } => Self::Run {
                code,
                message: edit(&message),
            },
        }
    }

    /// The message for people.
    pub(crate) fn message(&self) -> String {
        match self {
            Self::Usage(message) | Self::Test(_, message) | Self::Run { message, .. } => message.clone(),
            Self::Runtime(error) => match error.downcast_ref::<io::Error>() {
                Some(error) if is_full(error) => format!("cannot write to standard output: {error}"),
                _ => error.to_string(),
            },
        }
    }

    /// Whether the reader of our output has closed it, as `head` does. Errors of other files name the file in their
    /// own message.
    fn is_end_of_reading(&self) -> bool {
        let Self::Runtime(error) = self else { return false };
        let error = error.downcast_ref::<io::Error>();
        error.is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
    }

    /// The exit code.
    pub(crate) fn code(&self) -> u8 {
        match self {
            Self::Usage(_) => 2,
            Self::Runtime(_) => 1,
            Self::Test(failure, _) => *failure as u8,
            Self::Run { code, .. } => *code,
        }
    }

    /// Prints the message on stderr.
    pub(crate) fn report(self) -> ExitCode {
        let (message, code) = (self.message(), self.code());
        if !self.is_end_of_reading() {
            say(format!("error: {message}\n"));
        }
        ExitCode::from(code)
    }
}

/// Writes to stderr, but does not wait forever for a pipe without a reader. The exit code tells the result in any
/// case.
fn say(text: String) {
    let (told, has_told) = mpsc::channel();
    let write = move || {
        let _nobody_reads = io::stderr().write_all(text.as_bytes());
        let _nobody_waits = told.send(());
    };
    if thread::Builder::new().spawn(write).is_ok() {
        let _nobody_reads = has_told.recv_timeout(PATIENCE);
    }
}
