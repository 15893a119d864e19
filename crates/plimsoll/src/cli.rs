//! The commands of `plimsoll`.

use std::ffi::OsString;

use clap::{Parser, Subcommand};

use crate::{
    bench, completion, demo,
    exit::{Failure, Status},
    serve,
};

/// A real-time cable server, and the load laboratory that finds its line.
#[derive(Debug, Parser)]
#[command(name = "plimsoll", version, propagate_version = true, max_term_width = 110)]
pub(crate) struct CommandLine {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Demo(demo::Options),
    Bench(Box<bench::Options>),
    Serve(Box<serve::Options>),
    Completion(completion::Options),
}

/// Reads the command line; on wrong usage clap explains and ends the process with code 2.
pub(crate) fn parse(arguments: Vec<OsString>) -> CommandLine {
    CommandLine::parse_from(arguments)
}

/// Runs the command.
pub(crate) fn execute(command_line: CommandLine) -> Result<Status, Failure> {
    match command_line.command {
        Command::Demo(options) => options.execute(),
        Command::Bench(options) => options.execute(),
        Command::Serve(options) => options.execute(),
        Command::Completion(options) => options.execute(),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        CommandLine::command().debug_assert();
    }
}
