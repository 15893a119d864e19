//! `plimsoll runs show`: a summary as the run printed it, or a search of `plimsoll line`.

use std::io::{self, Write};

use clap::Parser;
use plimsoll_history::{History, Run};
use plimsoll_line::report::Kept;
use plimsoll_report::{Layout, Style, Summary, json, summary::Kind};

use super::{
    imported::{IMPORTED, Imported},
    lookup::{LINE, history, one, summary},
};
use crate::{
    exit::{Failure, Status},
    session::Format,
    surroundings::Surroundings,
    terminal,
};

/// Print the summary of a run.
#[derive(Debug, Parser)]
pub(super) struct Options {
    /// Run: the beginning of its id, a tag, latest or latest~1.
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
        let mut stdout = io::stdout();
        match self.format {
            Format::Json if [LINE, IMPORTED].contains(&run.kind.as_str()) => {
                writeln!(stdout, "{}", history.document(&run.id)?)?;
            }
            Format::Json => writeln!(stdout, "{}", json(&summary(&history, &run)?)?)?,
            Format::Text => {
                writeln!(stdout, "{}  {}  {}", run.id, run.started_at, run.command)?;
                let more = run
                    .tags
                    .iter()
                    .map(|tag| format!("[{tag}]"))
                    .chain(run.note.clone());
                let more = more.collect::<Vec<_>>().join("  ");
                if !more.is_empty() {
                    writeln!(stdout, "{more}")?;
                }
                let style = terminal::style(&stdout);
                write!(stdout, "\n{}", text(&history, &run, style)?)?;
            }
        }
        stdout.flush()?;
        Ok(Status::Success)
    }
}

/// The text of a run, in the layout that runs of its kind have.
fn text(history: &History, run: &Run, style: Style) -> Result<String, Failure> {
    if run.kind == IMPORTED {
        let imported = Imported::read(&history.document(&run.id)?);
        let newer =
            || Failure::Runtime(format!("run {} cannot be read; use a newer plimsoll", run.id).into());
        return Ok(imported.ok_or_else(newer)?.text(style));
    }
    if run.kind != LINE {
        return Ok(text_of_summary(&summary(history, run)?, style));
    }
    let kept = Kept::read(&history.document(&run.id)?);
    let kept = kept.map_err(|error| Failure::Runtime(format!("run {} {error}", run.id).into()))?;
    Ok(kept.text(style))
}

fn text_of_summary(summary: &Summary, style: Style) -> String {
    match summary.metadata.kind {
        Kind::K6 => summary.end_of_test(Layout::default(), style),
        Kind::Artillery | Kind::Wsdirector | Kind::Demo | Kind::Bench => summary.text(style),
    }
}
