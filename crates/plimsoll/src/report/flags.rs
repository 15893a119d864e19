//! `--report` of every command that makes load: checked before the run, written after it, and never the reason why
//! results are lost.

use std::{
    fs::OpenOptions,
    io::{self, Write},
    path::PathBuf,
};

use clap::{Args, ValueHint};
use plimsoll_report::{Summary, comparison::Comparison};

use super::{Form, ReportFile};
use crate::exit::Failure;

/// Where reports of a run go.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct ReportFlags {
    /// Write a report of the run: a page with charts (.html), data (.json) or a table (.md); may be given several times.
    #[arg(
        long = "report",
        value_name = "FILE",
        value_parser = ReportFile::parser(),
        value_hint = ValueHint::FilePath
    )]
    files: Vec<ReportFile>,
}

impl ReportFlags {
    pub(crate) fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Refuses before a run a file that could not be written after it.
    ///
    /// # Errors
    /// Wrong usage.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        let checked = self.files.iter().try_for_each(ReportFile::check);
        checked.map_err(|problem| Failure::Usage(format!("--report {problem}")))
    }

    /// Writes the report of each of several runs of one test: FILE-1.html, FILE-2.html and so on for FILE.html.
    pub(crate) fn write_each(&self, summaries: &[&Summary]) {
        for file in &self.files {
            for (n, summary) in (1..).zip(summaries) {
                write(&file.numbered(n), &[summary], &[]);
            }
        }
    }

    /// Writes the comparison of runs to all reports and says where they are, as [`Self::write`] does.
    pub(crate) fn write_comparison(&self, summaries: &[&Summary], comparisons: &[Comparison]) {
        for file in &self.files {
            write(file, summaries, comparisons);
        }
    }

    /// Writes all reports and says where they are. What cannot be written where it was wanted goes to the folder for
    /// temporary files.
    pub(crate) fn write(&self, summary: &Summary) {
        for file in &self.files {
            write(file, &[summary], &[]);
        }
    }
}

fn write(file: &ReportFile, summaries: &[&Summary], comparisons: &[Comparison]) {
    let outcome = match file.form().of_runs(summaries, comparisons) {
        Ok(text) => write_or_save(file, &text, summaries),
        Err(error) => Err(format!("cannot write {file}: {error}")),
    };
    say(&outcome);
}

/// Writes a page to the folder for temporary files, unless a report was requested.
pub(crate) fn write_unasked(summary: &Summary) {
    let text = plimsoll_report::html::page(&[summary], &[]);
    let outcome = save(Form::Html, &text, &[summary]);
    say(&outcome
        .map(|path| path.display().to_string())
        .map_err(|error| format!("cannot write a report: {error}; --report FILE.html writes it elsewhere")));
}

fn write_or_save(file: &ReportFile, text: &str, summaries: &[&Summary]) -> Result<String, String> {
    let Err(error) = file.write(text) else {
        return Ok(file.to_string());
    };
    let problem = format!("cannot write {file}: {error}");
    match save(file.form(), text, summaries) {
        Ok(path) => Err(format!("{problem}; the report is in {} instead", path.display())),
        Err(error) => Err(format!(
            "{problem}; it could not be saved in the folder for temporary files either: {error}"
        )),
    }
}

/// Writes a new file to the folder for temporary files.
fn save(form: Form, text: &str, summaries: &[&Summary]) -> io::Result<PathBuf> {
    let id = summaries.last().map_or("none", |summary| &summary.metadata.id);
    let path = std::env::temp_dir().join(format!("plimsoll-{id}.{}", form.extension()));
    // Others may write there, too: what is there already is not followed and not overwritten.
    let mut file = OpenOptions::new().write(true).create_new(true).open(&path)?;
    file.write_all(text.as_bytes())?;
    Ok(path)
}

fn say(outcome: &Result<String, String>) {
    let mut talk = io::stderr();
    // A closed stderr has no reader, so the error is ignored.
    let _nobody_reads = match outcome {
        Ok(place) => writeln!(talk, "Report: {place}"),
        Err(problem) => writeln!(talk, "error: {problem}"),
    };
}
