//! `plimsoll runs show`: a summary as the run printed it.

use std::io::{self, Write};

use clap::Parser;
use plimsoll_report::{Layout, Style, Summary, json, summary::Kind};

use super::{history, one, summary};
use crate::{
    exit::{Failure, Status},
    session::Format,
    surroundings::Surroundings,
    terminal,
};

/// Print the summary of a run.
#[derive(Debug, Parser)]
pub(super) struct Options {
    /// The beginning of its id, a tag, latest or latest~1.
    #[arg(value_name = "RUN", default_value = "latest")]
    run: String,
    /// How to print it.
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = Format::Text)]
    format: Format,
}

impl Options {
    pub(super) fn execute(self, surroundings: &Surroundings<'_>) -> Result<Status, Failure> {
        let history = history(surroundings)?;
        let run = one(&history, &self.run)?;
        let summary = summary(&history, &run.id)?;
        let mut stdout = io::stdout();
        match self.format {
            Format::Json => writeln!(stdout, "{}", json(&summary)?)?,
            Format::Text => {
                writeln!(stdout, "{}  {}  {}", run.id, run.started_at, run.command)?;
                let more = run.tags.iter().map(|tag| format!("[{tag}]")).chain(run.note);
                let more = more.collect::<Vec<_>>().join("  ");
                if !more.is_empty() {
                    writeln!(stdout, "{more}")?;
                }
                let style = terminal::style(&stdout);
                write!(stdout, "\n{}", text(&summary, style))?;
            }
        }
        stdout.flush()?;
        Ok(Status::Success)
    }
}

/// In the layout that runs of this kind have.
fn text(summary: &Summary, style: Style) -> String {
    match summary.metadata.kind {
        Kind::K6 => summary.end_of_test(Layout::default(), style),
        Kind::Artillery | Kind::Wsdirector | Kind::Demo | Kind::Bench => summary.text(style),
    }
}
