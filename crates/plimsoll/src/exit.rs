//! How a command ends: every exit code, in one place (documented in `docs/reference/exit-codes.md`).

use std::{
    error::Error,
    io::{self, Write},
    process::ExitCode,
};

/// How a command that ran to its end went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Status {
    /// Exit code 0.
    Success,
    /// Exit code 3: the run is complete, and something was lost, failed or below its threshold.
    BadResult,
}

/// A command that could not be carried out.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Exit code 2: the command line asks for something impossible. (clap ends with 2 by itself as well.)
    Usage(String),
    /// Exit code 1: something outside failed.
    Runtime(Box<dyn Error>),
}

impl From<Status> for ExitCode {
    fn from(status: Status) -> Self {
        match status {
            Status::Success => Self::SUCCESS,
            Status::BadResult => Self::from(3),
        }
    }
}

impl<E: Error + 'static> From<E> for Failure {
    fn from(error: E) -> Self {
        Self::Runtime(Box::new(error))
    }
}

impl Failure {
    /// Says on stderr what went wrong.
    pub(crate) fn report(self) -> ExitCode {
        let (message, code) = match self {
            Self::Usage(message) => (message, 2),
            Self::Runtime(error) => (error.to_string(), 1),
        };
        // If stderr is closed there is nobody to tell; the code remains.
        let _nobody_reads = writeln!(io::stderr(), "error: {message}");
        ExitCode::from(code)
    }
}
