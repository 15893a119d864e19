//! The `plimsoll` command: reads the command line, runs one command, and turns its outcome into an exit code.
//!
//! This is the only crate that knows arguments, signals, standard streams and exit codes.

mod allocator;
mod arguments;
mod bench;
mod check;
mod cli;
mod comparing;
mod completion;
mod conform;
mod controller;
mod demo;
mod exit;
mod live;
mod logging;
mod new;
mod numbers;
mod origin;
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
mod ui;
mod unknown_flags;
mod watching;

use std::process::ExitCode;

use surroundings::Surroundings;

fn main() -> ExitCode {
    let arguments = arguments::with_dashes(std::env::args_os());
    match cli::run(arguments, &Surroundings::of_process()) {
        Ok(status) => status.into(),
        Err(failure) => failure.report(),
    }
}
