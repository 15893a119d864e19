//! `plimsoll doctor`: can `plimsoll serve` work here with these settings, and for how many clients? `serve --check` is
//! the same without a number of clients.

mod diagnosis;
mod machine;

use std::ffi::OsString;

use clap::Parser;

pub(crate) use self::{
    diagnosis::{Check, Diagnosis},
    machine::Machine,
};
use crate::{
    exit::{Failure, Status},
    serve,
    session::Format,
};

const EXAMPLES: &str = "\
Examples:
  plimsoll doctor                                  with the settings that serve would read
  plimsoll doctor --clients 100000                 what breaks at that number, and what fixes it
  plimsoll doctor -- --rpc_host app:50051 --port 80   with flags of serve
  plimsoll doctor --format json

It binds the ports for a moment and connects to the application, to Redis and to NATS, at most for six seconds. It changes nothing.

Exit codes: 0 no problem (warnings do not count); 3 a problem; 1 and 2 as serve, when it would not start at all.";

/// Check whether serve can work on this machine, and what breaks at a number of clients.
#[derive(Debug, Parser)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Options {
    /// Number of clients that are connected at the same time.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=100_000_000))]
    clients: Option<u64>,
    /// How to print the result.
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = Format::Text)]
    format: Format,
    /// Flags of serve.
    #[arg(last = true, value_name = "SERVE FLAGS")]
    pub(crate) serve: Vec<OsString>,
}

impl Options {
    /// Checks the machine and the settings of `server`. `warnings` come from reading them.
    pub(crate) fn execute(&self, server: serve::Options, warnings: &[String]) -> Result<Status, Failure> {
        server.diagnose(warnings, self.clients)?.print(self.format)
    }
}
