//! `cargo xtask`: every task that a developer or CI runs on this repository.
//!
//! One program instead of a folder of shell scripts, so that tasks share code, are linted like the product, and need
//! nothing but the Rust toolchain to start. `cargo xtask --help` lists the tasks; `.ci/run` calls `cargo xtask test`.
#![expect(
    clippy::print_stdout,
    reason = "a developer's tool: what it prints is its product"
)]

mod bench;
mod command;
mod debian;
mod dist;
mod fuzz;
mod mutants;
mod repository;
mod site;
mod test;
mod tidy;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Tasks of the Plimsoll repository.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Cli {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Set up what tests need, then run all of them: format, lints, tidy, unit, integration, end-to-end.
    Test(test::Options),
    /// Check the rules that neither rustfmt nor clippy knows.
    Tidy,
    /// Run the fuzz targets of every parser of outside bytes (needs a nightly toolchain).
    Fuzz(fuzz::Options),
    /// Break crates on purpose, and count how many of the breaks their tests notice (needs cargo-mutants).
    Mutants(mutants::Options),
    /// Measure against the physical limit of this machine, and print each budget as met or missed.
    Bench(bench::Options),
    /// Make the files of a release: packages for Debian, npm, Ruby and Python, an image, and archives.
    Dist(dist::Options),
    /// Build the documents as a static site (needs Node.js and npm).
    Site(site::Options),
}

fn main() -> ExitCode {
    let outcome = match Cli::parse().task {
        Task::Test(options) => return test::run(&options),
        Task::Tidy => tidy::run().map_err(Into::into),
        Task::Fuzz(options) => fuzz::run(&options).map_err(Into::into),
        Task::Mutants(options) => mutants::run(&options).map_err(Into::into),
        Task::Bench(options) => bench::run(&options),
        Task::Dist(options) => dist::run(&options).map_err(Into::into),
        Task::Site(options) => site::run(&options).map_err(Into::into),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            println!("error: {}", chain(&*error));
            ExitCode::FAILURE
        }
    }
}

/// What a task may fail with; every task has its own error type, and `main` only prints it.
type BoxedError = Box<dyn std::error::Error>;

/// The error and its causes on one line: `a: b: c`.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}
