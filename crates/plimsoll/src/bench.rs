//! `plimsoll bench`: hands the process's streams to the workloads.

use std::io::{self, IsTerminal};

use clap::Parser;
use plimsoll_shootout::{Bench, HttpArgs, Streams, Verdict};

use crate::{
    exit::{Failure, Status},
    terminal,
};

/// Run a workload of websocket-bench or ab against a server.
#[derive(Debug, Parser)]
pub(crate) struct Options {
    #[command(subcommand)]
    bench: Bench,
}

/// Measure how fast a server answers one HTTP request: ab's flags and report, and more.
#[derive(Debug, Parser)]
pub(crate) struct AbOptions {
    #[command(flatten)]
    http: HttpArgs,
}

impl Options {
    pub(crate) fn execute(self) -> Result<Status, Failure> {
        execute(self.bench)
    }
}

impl AbOptions {
    pub(crate) fn execute(self) -> Result<Status, Failure> {
        execute(Bench::Http(Box::new(self.http)))
    }
}

fn execute(bench: Bench) -> Result<Status, Failure> {
    let streams = Streams {
        stdout: &mut io::stdout(),
        stderr: &mut io::stderr(),
        stderr_columns: io::stderr().is_terminal().then_some(|| terminal::size().0),
        stdin_is_terminal: io::stdin().is_terminal(),
    };
    match plimsoll_shootout::execute(bench, streams) {
        Ok(Verdict::Clean) => Ok(Status::Success),
        Ok(Verdict::Faulty) => Ok(Status::BadResult),
        Err(error) if error.is_wrong_usage() => Err(Failure::Usage(error.to_string())),
        Err(error) => Err(error.into()),
    }
}
