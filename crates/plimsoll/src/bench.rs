//! `plimsoll bench`: hands the process's streams to the workloads.

use std::io::{self, IsTerminal};

use clap::Parser;
use plimsoll_shootout::{Bench, Streams, Verdict};

use crate::exit::{Failure, Status};

/// Run a workload of websocket-bench against a server.
#[derive(Debug, Parser)]
pub(crate) struct Options {
    #[command(subcommand)]
    bench: Bench,
}

impl Options {
    pub(crate) fn execute(self) -> Result<Status, Failure> {
        let streams = Streams {
            stdout: &mut io::stdout(),
            stderr: &mut io::stderr(),
            stderr_is_terminal: io::stderr().is_terminal(),
            stdin_is_terminal: io::stdin().is_terminal(),
        };
        match plimsoll_shootout::execute(self.bench, streams) {
            Ok(Verdict::Clean) => Ok(Status::Success),
            Ok(Verdict::Faulty) => Ok(Status::BadResult),
            Err(plimsoll_shootout::Error::Usage(error)) => Err(Failure::Usage(error.to_string())),
            Err(error) => Err(error.into()),
        }
    }
}
