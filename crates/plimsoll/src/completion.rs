//! `plimsoll completion`: a completion script for the user's shell.

use std::io;

use clap::{Command, Parser};
use clap_complete::Shell;

use crate::exit::{Failure, Status};

/// Print a completion script for a shell.
#[derive(Debug, Parser)]
#[command(
    after_help = "Example:\n  plimsoll completion bash > ~/.local/share/bash-completion/completions/plimsoll"
)]
pub(crate) struct Options {
    /// The shell.
    shell: Shell,
}

impl Options {
    /// Prints the script for `program`, the whole command line.
    pub(crate) fn execute(self, mut program: Command) -> Result<Status, Failure> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut program, "plimsoll", &mut script);
        io::Write::write_all(&mut io::stdout(), &script)?;
        Ok(Status::Success)
    }
}
