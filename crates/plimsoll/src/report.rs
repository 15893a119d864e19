//! Reports of runs: `--report` of the commands that make load, and `plimsoll report`, which makes them of what was
//! written before.

use std::{
    io::{self, Write},
    path::{Path, PathBuf},
};

use clap::{Parser, ValueEnum, ValueHint};
use plimsoll_report::{
    Summary,
    comparison::{Comparison, NoRuns, TOLERANCE},
};

use crate::{
    exit::{Failure, Status},
    runs,
    surroundings::Surroundings,
};

mod file;
mod flags;

pub(crate) use self::{
    file::{Form, ReportFile},
    flags::{ReportFlags, write_unasked},
};

const EXAMPLES: &str = "\
Examples:
  plimsoll run chat.js --report chat.json          keep what a run came to
  plimsoll report chat.json                        its page: chat.html
  plimsoll report before.json after.json           both beside each other: comparison.html
  plimsoll report before.json after.json --md      the same as a table for a pull request
  plimsoll report chat.json -o /srv/www/chat.html

Exit codes of a comparison: 0 no significant difference, or improved; 3 regressed; 4 cannot tell.";

/// Make a report of runs that were written with --report FILE.json: a page of one, or a comparison of several.
#[derive(Debug, Parser)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Options {
    /// What --report FILE.json and --format json write. The first of several is what the others are compared with.
    #[arg(value_name = "FILE", required = true, value_hint = ValueHint::FilePath)]
    files: Vec<PathBuf>,
    /// Write to this file: a page (.html), data (.json) or a table (.md). Default: a page that is called like the first
    /// file, in the working directory.
    #[arg(long, short, value_name = "FILE", value_parser = ReportFile::parser(), value_hint = ValueHint::FilePath)]
    output: Option<ReportFile>,
    /// Print Markdown, for a pull request.
    #[arg(long, conflicts_with_all = ["output", "format"])]
    md: bool,
    /// Print in this form.
    #[arg(long, value_enum, value_name = "FORMAT", conflicts_with = "output")]
    format: Option<Format>,
}

/// Forms that are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// A page.
    Html,
    /// A table for a pull request.
    Md,
    /// For programs.
    Json,
}

/// Runs of one comparison. Reason: nobody tells more lines apart in one chart.
pub(crate) const MOST_RUNS: usize = 12;

impl Options {
    pub(crate) fn execute(self, surroundings: &Surroundings<'_>) -> Result<Status, Failure> {
        if self.files.len() > MOST_RUNS {
            let n = self.files.len();
            return Err(Failure::Usage(format!(
                "{n} runs are too many to look at; expected {MOST_RUNS} at the most"
            )));
        }
        let read = |path: &PathBuf| read(path, surroundings);
        let summaries: Vec<Summary> = self.files.iter().map(read).collect::<Result<_, _>>()?;
        let summaries: Vec<_> = summaries.iter().collect();
        let printed = match (self.md, self.format) {
            (true, _) | (false, Some(Format::Md)) => Some(Form::Markdown),
            (false, Some(Format::Html)) => Some(Form::Html),
            (false, Some(Format::Json)) => Some(Form::Json),
            (false, None) => None,
        };
        let comparisons = compare(&summaries)?;
        if let Some(form) = printed {
            io::stdout().write_all(form.of_runs(&summaries, &comparisons)?.as_bytes())?;
            return Ok(runs::status(&comparisons));
        }
        let file = match self.output {
            Some(file) => file,
            None => ReportFile::new(default_name(&self.files))?,
        };
        file.check().map_err(Failure::Usage)?;
        file.write(&file.form().of_runs(&summaries, &comparisons)?)
            .map_err(|error| io::Error::new(error.kind(), format!("cannot write {file}: {error}")))?;
        writeln!(io::stdout(), "{file}")?;
        Ok(runs::status(&comparisons))
    }
}

/// Each run but the first with the first.
pub(crate) fn compare(summaries: &[&Summary]) -> Result<Vec<Comparison>, NoRuns> {
    let Some((baseline, candidates)) = summaries.split_first() else {
        return Ok(Vec::new());
    };
    let compared = candidates
        .iter()
        .map(|candidate| Comparison::new(&[*baseline], &[*candidate], TOLERANCE));
    compared.collect()
}

fn read(path: &Path, surroundings: &Surroundings<'_>) -> Result<Summary, Failure> {
    let name = path.display();
    let text = (surroundings.read_file)(path)
        .map_err(|error| Failure::Usage(format!("cannot read {name}: {error}")))?;
    Summary::read(&text).map_err(|error| Failure::Usage(format!("{name} {error}")))
}

/// In the working directory: like the file that one run was read from.
fn default_name(files: &[PathBuf]) -> PathBuf {
    match files {
        [one] => Path::new(one.file_stem().unwrap_or("report".as_ref())).with_added_extension("html"),
        _ => "comparison.html".into(),
    }
}
