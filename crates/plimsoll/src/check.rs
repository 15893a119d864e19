//! `plimsoll check`: what is wrong with a scenario file, without running it.

use std::{
    io::{self, Write as _},
    path::PathBuf,
};

use clap::{Parser, ValueHint};

use crate::{
    exit::{Failure, Status},
    run,
    surroundings::Surroundings,
};

const EXAMPLES: &str = "\
Examples:
  plimsoll check broadcast.yml
  plimsoll check broadcast.yml --scale 1000   its expressions are worked out at this scale

All mistakes are told at once, each with its line, column and keys; the exit code is the one that
the run would end with. For scripts there is `plimsoll inspect`.";

/// Say what is wrong with a wsdirector or Artillery file, without running it.
#[derive(Debug, Parser)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Options {
    /// The file, YAML or JSON.
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    file: PathBuf,
    /// Whose file it is: artillery or wsdirector. Default: what it looks like.
    #[arg(long = "as", value_name = "TOOL")]
    dialect: Option<String>,
    /// What :scale stands for in a wsdirector file.
    #[arg(long, short, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    scale: u32,
}

impl Options {
    pub(crate) fn execute(self, surroundings: &Surroundings<'_>) -> Result<Status, Failure> {
        let dialect = run::check(&self.file, self.dialect.as_deref(), self.scale, surroundings)?;
        writeln!(
            io::stdout(),
            "{}: no mistakes in this {dialect} file",
            self.file.display()
        )?;
        Ok(Status::Success)
    }
}
