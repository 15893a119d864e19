//! `plimsoll runs compare`: is it better than last week?

use std::io::{self, Write};

use clap::{Parser, ValueEnum};
use plimsoll_history::History;
use plimsoll_line::report::Change;
use plimsoll_report::{
    Summary,
    comparison::{Comparison, Runs, distinct},
};

use super::{
    lookup::{history, kinds, several, summary},
    searches,
};
use crate::{
    comparing::{self, TermsFlags},
    exit::{Failure, Status},
    surroundings::Surroundings,
    terminal,
};

const EXAMPLES: &str = "\
Examples:
  plimsoll runs compare latest~1 latest
  plimsoll runs compare --baseline main latest   with all runs that have the tag `main`
  plimsoll runs compare main branch              all runs of one tag with all of another
  plimsoll runs compare latest~2 latest~1,latest one run with two runs of the same version
  plimsoll runs compare main latest --format md  a table for a pull request

Two searches of plimsoll line are compared by their intervals: did the line rise or fall?
latest and latest~1 count only runs, or only searches, whichever the other names are; without other names, whichever
the newest is.
Several runs on each side, made in turn, show the normal variation, so that smaller changes can be found:
--repeat and --against of every load command make them.
Exit codes: 0 equal within --margin; 3 worse; 4 inconclusive; 5 better.";

/// Show whether a run is better or worse than another one, and with what confidence.
#[derive(Debug, Parser)]
#[command(after_help = EXAMPLES)]
pub(super) struct Options {
    /// Runs to compare, the baseline first: beginnings of ids, latest, or tags, which stand for all runs with the
    /// tag; several runs of one side are comma-separated.
    #[arg(value_name = "RUNS", required = true)]
    sides: Vec<String>,
    /// Baseline, if it is not the first of RUNS.
    #[arg(long, value_name = "RUNS")]
    baseline: Option<String>,
    #[command(flatten)]
    terms: TermsFlags,
    /// How to print it.
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = Format::Text)]
    format: Format,
}

/// Forms of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people.
    Text,
    /// A table in Markdown.
    Md,
    /// An array with one object for each candidate.
    Json,
}

impl Options {
    pub(super) fn execute(self, surroundings: &Surroundings<'_>) -> Result<Status, Failure> {
        let names: Vec<&str> = self
            .baseline
            .iter()
            .chain(&self.sides)
            .map(String::as_str)
            .collect();
        let (baseline, candidates) = names
            .split_first()
            .map_or(("", &[][..]), |(first, rest)| (*first, rest));
        if candidates.is_empty() {
            return Err(Failure::Usage(format!(
                "compare `{baseline}` with what? Expected two runs, for example: plimsoll runs compare latest~1 latest"
            )));
        }
        let terms = self.terms.terms()?;
        let history = history(surroundings)?;
        if searches::are_meant(&history, &names)? {
            let changes = searches::changes(&history, baseline, candidates)?;
            print_changes(&changes, self.format)?;
            return Ok(searches::status(&changes));
        }
        let labels = distinct(&names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>());
        let sides = names
            .iter()
            .map(|name| side(&history, name))
            .collect::<Result<Vec<_>, _>>()?;
        let sides: Vec<Vec<_>> = sides.iter().map(|side| side.iter().collect()).collect();
        let mut sides = labels
            .iter()
            .zip(&sides)
            .map(|(label, summaries)| Runs { label, summaries });
        let Some(baseline) = sides.next() else {
            return Ok(Status::Success);
        };
        let comparisons = sides.map(|candidate| Comparison::new(baseline, candidate, terms));
        let comparisons = comparisons.collect::<Result<Vec<_>, _>>()?;
        print(&comparisons, self.format)?;
        Ok(comparing::status(&comparisons))
    }
}

/// The summaries of all runs that a side names.
fn side(history: &History, names: &str) -> Result<Vec<Summary>, Failure> {
    let mut summaries = Vec::new();
    for name in names.split(',') {
        for run in several(history, name, kinds(false))? {
            summaries.push(summary(history, &run)?);
        }
    }
    Ok(summaries)
}

fn print(comparisons: &[Comparison], format: Format) -> Result<(), Failure> {
    let mut stdout = io::stdout();
    let style = terminal::style(&stdout);
    match format {
        Format::Json => writeln!(stdout, "{}", serde_json::to_string_pretty(comparisons)?)?,
        Format::Text => {
            for comparison in comparisons {
                stdout.write_all(comparison.text(style).as_bytes())?;
            }
        }
        Format::Md => {
            for comparison in comparisons {
                stdout.write_all(comparison.markdown().as_bytes())?;
            }
        }
    }
    stdout.flush()?;
    Ok(())
}

fn print_changes(changes: &[Change], format: Format) -> Result<(), Failure> {
    let mut stdout = io::stdout();
    match format {
        Format::Json => writeln!(stdout, "{}", serde_json::to_string_pretty(changes)?)?,
        Format::Text => {
            for change in changes {
                stdout.write_all(change.text().as_bytes())?;
            }
        }
        Format::Md => {
            for change in changes {
                stdout.write_all(change.markdown().as_bytes())?;
            }
        }
    }
    stdout.flush()?;
    Ok(())
}
