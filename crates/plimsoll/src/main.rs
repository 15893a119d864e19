//! The `plimsoll` command: reads the command line, runs one command, and turns its outcome into an exit code.
//!
//! This is the only crate that knows arguments, signals, standard streams and exit codes.

mod arguments;
mod bench;
mod cli;
mod completion;
mod demo;
mod exit;
mod logging;
mod serve;
mod terminal;

use std::process::ExitCode;

fn main() -> ExitCode {
    let command_line = cli::parse(arguments::with_dashes(std::env::args_os()));
    match cli::execute(command_line) {
        Ok(status) => status.into(),
        Err(failure) => failure.report(),
    }
}
