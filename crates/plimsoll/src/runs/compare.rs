//! `plimsoll runs compare`: is it better than last week?

use std::io::{self, Write};

use clap::{Parser, ValueEnum};
use plimsoll_history::History;
use plimsoll_report::{
    Summary,
    comparison::{Comparison, TOLERANCE, Verdict},
};

use super::lookup::{history, summary};
use crate::{
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

Several runs on each side show the normal variation, so that smaller changes can be found.
Exit codes: 0 no significant difference, or improved; 3 regressed; 4 cannot tell.";

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
    /// Smallest change that counts, in percent.
    #[arg(long, value_name = "PERCENT", default_value_t = TOLERANCE * 100.0, value_parser = percent)]
    tolerance: f64,
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

fn percent(text: &str) -> Result<f64, String> {
    let number = text
        .parse()
        .ok()
        .filter(|percent| (0.0..=1000.0).contains(percent));
    number.ok_or_else(|| "expected percent from 0 to 1000, for example 5".to_owned())
}

impl Options {
    pub(super) fn execute(self, surroundings: &Surroundings<'_>) -> Result<Status, Failure> {
        let mut names = self.baseline.iter().chain(&self.sides);
        let baseline = names.next().map_or("", String::as_str);
        let candidates: Vec<_> = names.collect();
        if candidates.is_empty() {
            return Err(Failure::Usage(format!(
                "compare `{baseline}` with what? Expected two runs, for example: plimsoll runs compare latest~1 latest"
            )));
        }
        let history = history(surroundings)?;
        let baseline = side(&history, baseline)?;
        let comparisons = candidates
            .into_iter()
            .map(|name| {
                let candidate = side(&history, name)?;
                let (baseline, candidate) = (
                    baseline.iter().collect::<Vec<_>>(),
                    candidate.iter().collect::<Vec<_>>(),
                );
                Ok(Comparison::new(&baseline, &candidate, self.tolerance / 100.0)?)
            })
            .collect::<Result<Vec<_>, Failure>>()?;
        print(&comparisons, self.format)?;
        Ok(status(&comparisons))
    }
}

/// The summaries of all runs that a side names.
fn side(history: &History, names: &str) -> Result<Vec<Summary>, Failure> {
    let mut summaries = Vec::new();
    for name in names.split(',') {
        for run in history.find(name)? {
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

/// The worst of all comparisons.
pub(crate) fn status(comparisons: &[Comparison]) -> Status {
    let has = |verdict| comparisons.iter().any(|comparison| comparison.verdict == verdict);
    if has(Verdict::Regressed) {
        Status::BadResult
    } else if has(Verdict::CannotTell) {
        Status::CannotTell
    } else {
        Status::Success
    }
}
