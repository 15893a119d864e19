//! The `plimsoll` command: reads the command line, runs one command, and turns its outcome into an exit code.
//!
//! This is the only crate that knows arguments, signals, standard streams and exit codes.

mod allocator;
mod arguments;
mod bench;
mod check;
mod cli;
mod comparing;
#[cfg(test)]
mod compatibility;
mod completion;
mod conform;
mod controller;
mod demo;
mod doctor;
mod exit;
mod fleet;
mod k6;
mod live;
mod logging;
mod man;
mod new;
mod numbers;
mod origin;
mod probe;
mod report;
mod run;
mod runs;
mod runtime;
mod schema;
mod screen;
mod series;
mod serve;
mod session;
mod signals;
mod surroundings;
mod terminal;
mod trust;
mod ui;
mod unknown_flags;
mod watching;

use std::{ffi::OsString, process::ExitCode};

use exit::{Failure, Status};
use surroundings::Surroundings;

fn main() -> ExitCode {
    let arguments = arguments::with_dashes(std::env::args_os());
    match execute(arguments) {
        Ok(status) => status.into(),
        Err(failure) => failure.report(),
    }
}

fn execute(arguments: Vec<OsString>) -> Result<Status, Failure> {
    let arguments = if k6::is_name(arguments.first()) {
        match k6::Call::of(&arguments, k6::is_free).finish()? {
            Ok(status) => return Ok(status),
            Err(arguments) => arguments,
        }
    } else {
        arguments
    };
    cli::run(arguments, &Surroundings::of_process())
}
