//! `plimsoll schema`: what editors need to know of scenario files, and programs of summaries.

use std::io::{self, Write};

use clap::{Parser, ValueEnum};
use plimsoll_scenario::schema;

use crate::exit::{Failure, Status};

const EXAMPLES: &str = "\
Example:
  plimsoll schema wsdirector > wsdirector.schema.json

and as the first line of a scenario:
  # yaml-language-server: $schema=wsdirector.schema.json

Editors that know JSON Schema (draft 7) then complete keys, say what they mean, and mark mistakes.";

/// Print the JSON Schema of scenario files, for editors, or of summaries.
#[derive(Debug, Parser)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Options {
    /// Whose files; `summary` is what --format json and --report FILE.json write.
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
