//! Reports of runs: `--report` of the load commands, and `plimsoll report`, which reads earlier results.

use std::{
    io::{self, Write},
    path::{Path, PathBuf},
};

use clap::{Parser, ValueEnum, ValueHint};
use plimsoll_report::{Summary, comparison::Comparison};

use crate::{
    comparing::{self, TermsFlags},
    exit::{Failure, Status},
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
  plimsoll run chat.js --report chat.json          keep the result of a run
  plimsoll report chat.json                        its page: chat.html
  plimsoll report before.json after.json           both side by side: comparison.html
  plimsoll report before.json after.json --md      the comparison as a table for a pull request
  plimsoll report chat.json -o /srv/www/chat.html

Exit codes of a comparison: 0 equal within --margin; 3 worse; 4 inconclusive; 5 better.";

/// Create a report from files of --report FILE.json: a page for one run, or a comparison of several runs.
#[derive(Debug, Parser)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Options {
    /// Files that --report FILE.json and --format json write. The first file is the baseline of a comparison.
    #[arg(value_name = "FILE", required = true, value_hint = ValueHint::FilePath)]
    files: Vec<PathBuf>,
    /// Write to this file: a page (.html), data (.json) or a table (.md). Default: a page with the name of the first
    /// file, in the working directory.
    #[arg(long, short, value_name = "FILE", value_parser = ReportFile::parser(), value_hint = ValueHint::FilePath)]
    output: Option<ReportFile>,
    /// Print Markdown, for a pull request.
    #[arg(long, conflicts_with_all = ["output", "format"])]
    md: bool,
    /// Print in this form.
    #[arg(long, value_enum, value_name = "FORMAT", conflicts_with = "output")]
    format: Option<Format>,
    #[command(flatten)]
    terms: TermsFlags,
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

/// The largest number of runs in one comparison. Reason: readers cannot distinguish more lines in one chart.
pub(crate) const MOST_RUNS: usize = 12;

impl Options {
    pub(crate) fn execute(self, surroundings: &Surroundings<'_>) -> Result<Status, Failure> {
        if self.files.len() > MOST_RUNS {
            let n = self.files.len();
            return Err(Failure::Usage(format!(
                "{n} runs are too many for one page; expected at most {MOST_RUNS}"
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
        let names = comparing::names_of_files(&self.files);
        let comparisons = comparing::with_the_first(&names, &summaries, self.terms.terms()?)?;
        if let Some(form) = printed {
            io::stdout().write_all(form.of_runs(&summaries, &comparisons)?.as_bytes())?;
            return Ok(comparing::status(&comparisons));
        }
        let file = match self.output {
            Some(file) => file,
            None => ReportFile::new(default_name(&self.files))?,
        };
        file.check().map_err(Failure::Usage)?;
        file.write(&file.form().of_runs(&summaries, &comparisons)?)
            .map_err(|error| io::Error::new(error.kind(), format!("cannot write {file}: {error}")))?;
        writeln!(io::stdout(), "{file}")?;
        tell(&comparisons);
        Ok(comparing::status(&comparisons))
    }
}

/// Says the verdicts, which the exit code and a page that is not open yet do not explain.
fn tell(comparisons: &[Comparison]) {
    for comparison in comparisons {
        let line = format!("{}: {}", comparison.candidate.label, comparison.headline());
        // A closed stderr has no reader, so the error is ignored.
        let _unread = writeln!(io::stderr(), "{line}");
        for advice in &comparison.advice {
            let _unread = writeln!(io::stderr(), "  {advice}");
        }
    }
}

fn read(path: &Path, surroundings: &Surroundings<'_>) -> Result<Summary, Failure> {
    // It may be a URL.
    let name = path.to_string_lossy();
    let name = plimsoll_redacted::url_with_query(&name);
    let text = (surroundings.read_file)(path)
        .map_err(|error| Failure::Usage(format!("cannot read {name}: {error}")))?;
    Summary::read(&text).map_err(|error| Failure::Usage(format!("{name} {error}")))
}

/// The default file in the working directory: the name of the file with the first run.
fn default_name(files: &[PathBuf]) -> PathBuf {
    match files {
        [one] => Path::new(one.file_stem().unwrap_or("report".as_ref())).with_added_extension("html"),
        _ => "comparison.html".into(),
    }
}
