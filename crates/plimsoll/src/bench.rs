//! `plimsoll bench`: hands the process's streams to the workloads.

use std::io::{self, IsTerminal};

use clap::Parser;
use plimsoll_shootout::{Bench, Error, HttpArgs, Streams, Verdict};

use crate::exit::{Failure, Status};

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
        stderr_is_terminal: io::stderr().is_terminal(),
        stdin_is_terminal: io::stdin().is_terminal(),
    };
    match plimsoll_shootout::execute(bench, streams) {
        Ok(Verdict::Clean) => Ok(Status::Success),
        Ok(Verdict::Faulty) => Ok(Status::BadResult),
        Err(error @ (Error::Usage(_) | Error::HttpUsage(_))) => Err(Failure::Usage(error.to_string())),
        Err(error) => Err(error.into()),
    }
}
