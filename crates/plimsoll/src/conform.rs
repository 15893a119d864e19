//! `plimsoll conform`: proves cable servers, WebSocket servers and WebSocket clients right or wrong, case by case.

mod cable;
mod cases;
mod conduct;
mod expecting;
mod flags;
mod matrix;
mod progress;
mod report_file;
mod websocket;

use clap::{Parser, Subcommand};

use crate::{
    exit::{Failure, Status},
    surroundings::Surroundings,
};

const EXAMPLES: &str = "\
Examples:
  plimsoll conform websocket ws://localhost:9001/
  plimsoll conform websocket --listen 127.0.0.1:9001
  plimsoll conform cable ws://localhost:8080/cable
  plimsoll conform matrix ours.json theirs.json -o matrix.html

Exit codes: 0 no case failed, or all verdicts are as expected; 3 a case failed, or a verdict changed.";

/// Test whether servers and clients follow the protocols, case by case.
#[derive(Debug, Parser)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Options {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Cable(Box<cable::Options>),
    Matrix(matrix::Options),
    Websocket(Box<websocket::Options>),
}

impl Options {
    pub(crate) fn execute(self, surroundings: &Surroundings<'_>) -> Result<Status, Failure> {
        match self.command {
            Command::Cable(options) => options.execute(surroundings),
            Command::Matrix(options) => options.execute(surroundings),
            Command::Websocket(options) => options.execute(surroundings),
        }
    }
}
