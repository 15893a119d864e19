//! The commands of `plimsoll`.

use std::{
    ffi::OsString,
    io::{self, Write},
};

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::{
    arguments, bench, check, completion, conform, controller, demo, doctor,
    exit::{Failure, Status},
    fleet, man, new, numbers, probe, report, run, runs, schema,
    serve::{
        self,
        settings::{self, Known, ReadError, Reading},
    },
    surroundings::Surroundings,
    ui,
};

/// A real-time cable server, and the load laboratory that finds its line.
#[derive(Debug, Parser)]
#[command(
    name = "plimsoll",
    version,
    long_version = env!("PLIMSOLL_VERSION"),
    propagate_version = true,
    help_template = overview::TEMPLATE,
    after_help = overview::COMMANDS,
    max_term_width = 110
)]
pub(crate) struct CommandLine {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Demo(demo::Options),
    Bench(Box<bench::Options>),
    Ab(Box<bench::AbOptions>),
    Serve(Box<serve::Options>),
    Doctor(doctor::Options),
    Run(Box<run::Options>),
    Line(Box<run::LineOptions>),
    Quick(Box<run::QuickOptions>),
    Probe(Box<probe::Options>),
    Inspect(run::InspectOptions),
    Archive(Box<run::ArchiveOptions>),
    Report(report::Options),
    Check(check::Options),
    Conform(Box<conform::Options>),
    Runs(Box<runs::Options>),
    Ui(ui::Options),
    Schema(schema::Options),
    New(new::Options),
    Status(controller::StatusOptions),
    Pause(controller::PauseOptions),
    Resume(controller::ResumeOptions),
    Scale(controller::ScaleOptions),
    Stats(controller::StatsOptions),
    Agent(fleet::AgentOptions),
    Agents(fleet::AgentsOptions),
    Completion(completion::Options),
    Man(man::Options),
}

/// Runs the command that the arguments name. On wrong usage clap explains and ends the process with code 2.
pub(crate) fn run(arguments: Vec<OsString>, surroundings: &Surroundings<'_>) -> Result<Status, Failure> {
    // Who has settings beside the command line.
    match arguments.get(1).and_then(|command| command.to_str()) {
        Some("serve") => serve(arguments, surroundings),
        Some("line") if arguments.get(2).is_some_and(|word| word == "bench") => {
            run::line_of_bench(&arguments, surroundings)
        }
        Some("run") if let Some(outcome) = run::other_dialect(&arguments, surroundings) => outcome,
        Some("run" | "inspect" | "archive") => {
            let arguments = run::with_variables(&CommandLine::command(), arguments, surroundings)?;
            execute(numbers::parse(arguments), &Known::default(), surroundings)
        }
        command => match command.and_then(run::unsupported) {
            Some(refusal) => Err(Failure::Usage(refusal)),
            None => execute(numbers::parse(arguments), &Known::default(), surroundings),
        },
    }
}

fn serve(arguments: Vec<OsString>, surroundings: &Surroundings<'_>) -> Result<Status, Failure> {
    let reading = read_settings(arguments, surroundings)?;
    if let Some(text) = reading.printed {
        for warning in reading.known.warnings {
            writeln!(io::stderr(), "warning: {warning}")?;
        }
        io::stdout().write_all(text.as_bytes())?;
        return Ok(Status::Success);
    }
    match CommandLine::from_arg_matches(&reading.matches) {
        Ok(command_line) => execute(command_line, &reading.known, surroundings),
        Err(error) => error.exit(),
    }
}

/// Checks the server that `plimsoll serve` would start with the flags behind `--`.
fn diagnose(options: &doctor::Options, surroundings: &Surroundings<'_>) -> Result<Status, Failure> {
    let front = ["plimsoll", "serve"].map(OsString::from);
    let arguments = arguments::with_dashes(front.into_iter().chain(options.serve.iter().cloned()));
    let reading = read_settings(arguments, surroundings)?;
    match CommandLine::from_arg_matches(&reading.matches) {
        Ok(CommandLine {
            command: Command::Serve(server),
        }) => options.execute(*server, &reading.known.warnings),
        Ok(_) => Err(Failure::Usage(
            "behind -- only flags of serve are expected".to_owned(),
        )),
        Err(error) => error.exit(),
    }
}

fn read_settings(arguments: Vec<OsString>, surroundings: &Surroundings<'_>) -> Result<Reading, Failure> {
    match settings::read(&CommandLine::command(), arguments, surroundings) {
        Ok(reading) => Ok(reading),
        Err(ReadError::CommandLine(error)) => error.exit(),
        Err(ReadError::Below(wrong)) => Err(Failure::Usage(wrong.join("\n       "))),
    }
}

fn execute(
    command_line: CommandLine,
    known: &Known,
    surroundings: &Surroundings<'_>,
) -> Result<Status, Failure> {
    match command_line.command {
        Command::Demo(options) => options.execute(surroundings),
        Command::Bench(options) => options.execute(surroundings),
        Command::Ab(options) => options.execute(surroundings),
        Command::Serve(options) => options.execute(known),
        Command::Doctor(options) => diagnose(&options, surroundings),
        Command::Run(options) => options.execute(surroundings),
        Command::Line(options) => options.execute(surroundings),
        Command::Quick(options) => options.execute(surroundings),
        Command::Probe(options) => options.execute(),
        Command::Inspect(options) => options.execute(surroundings),
        Command::Archive(options) => options.execute(surroundings),
        Command::Report(options) => options.execute(surroundings),
        Command::Check(options) => options.execute(surroundings),
        Command::Conform(options) => options.execute(surroundings),
        Command::Runs(options) => options.execute(surroundings),
        Command::Ui(options) => options.execute(surroundings),
        Command::Schema(options) => options.execute(),
        Command::New(options) => options.execute(),
        Command::Status(options) => options.execute(),
        Command::Pause(options) => options.execute(),
        Command::Resume(options) => options.execute(),
        Command::Scale(options) => options.execute(),
        Command::Stats(options) => options.execute(),
        Command::Agent(options) => options.execute(surroundings),
        Command::Agents(options) => options.execute(),
        Command::Completion(options) => options.execute(CommandLine::command()),
        Command::Man(options) => options.execute(CommandLine::command()),
    }
}

mod overview;

#[cfg(test)]
mod load_commands;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        CommandLine::command().debug_assert();
    }
}
