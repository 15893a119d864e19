//! `plimsoll schema`: prints the schemas of scenario files for editors, and of summaries for programs.

use std::io::{self, Write};

use clap::{Parser, ValueEnum};
use plimsoll_scenario::schema;

use crate::exit::{Failure, Status};

const EXAMPLES: &str = "\
Example:
  plimsoll schema wsdirector > wsdirector.schema.json

and as the first line of a scenario:
  # yaml-language-server: $schema=wsdirector.schema.json

Editors that support JSON Schema (draft 7) then complete keys, explain them, and mark mistakes.";

/// Print the JSON Schema of scenario files, for editors, or of summaries.
#[derive(Debug, Parser)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Options {
    /// Kind of file; `summary` is the format of --format json and --report FILE.json.
    #[arg(value_name = "TOOL")]
    tool: Tool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Tool {
    Artillery,
    Wsdirector,
    Summary,
}

impl Options {
    pub(crate) fn execute(self) -> Result<Status, Failure> {
        let schema = match self.tool {
            Tool::Artillery => schema::artillery(),
            Tool::Wsdirector => schema::wsdirector(),
            Tool::Summary => plimsoll_report::schema(),
        };
        writeln!(io::stdout(), "{schema:#}")?;
        Ok(Status::Success)
    }
}
