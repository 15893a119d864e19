//! `plimsoll conform matrix`: results of several targets side by side.

use std::{
    io::{self, Write},
    path::{Path, PathBuf},
};

use clap::{Parser, ValueHint};
use plimsoll_conformance::{Results, matrix};

use super::report_file;
use crate::{
    exit::{Failure, Status},
    surroundings::Surroundings,
};

const EXAMPLES: &str = "\
Example:
  plimsoll conform websocket ws://127.0.0.1:9001 --name ours --report ours.json
  plimsoll conform websocket ws://127.0.0.1:9002 --name theirs --report theirs.json
  plimsoll conform matrix ours.json theirs.json -o matrix.html";

/// Create a page from results of --report FILE.json, with a column for each target.
#[derive(Debug, Parser)]
#[command(after_help = EXAMPLES)]
pub(super) struct Options {
    /// Files that --report FILE.json and --format json write, in the order of the columns.
    #[arg(value_name = "FILE", required = true, value_hint = ValueHint::FilePath)]
    files: Vec<PathBuf>,
    /// Write the page to this file. Default: print it.
    #[arg(long, short, value_name = "FILE.html", value_hint = ValueHint::FilePath)]
    output: Option<PathBuf>,
}

/// The largest number of columns of a page. Reason: more columns do not fit side by side.
const MOST_TARGETS: usize = 12;

impl Options {
    pub(super) fn execute(self, surroundings: &Surroundings<'_>) -> Result<Status, Failure> {
        let n = self.files.len();
        if n > MOST_TARGETS {
            return Err(Failure::Usage(format!(
                "{n} targets are too many for one page; expected at most {MOST_TARGETS}"
            )));
        }
        if let Some(output) = &self.output {
            report_file::check_writable(output).map_err(|problem| Failure::Usage(format!("-o {problem}")))?;
        }
        let read = |path: &PathBuf| read(path, surroundings);
        let results: Vec<_> = self.files.iter().map(read).collect::<Result<_, _>>()?;
        let page = matrix(&results);
        match &self.output {
            None => io::stdout().write_all(page.as_bytes())?,
            Some(output) => {
                report_file::write(output, &page)?;
                writeln!(io::stdout(), "{}", output.display())?;
            }
        }
        Ok(Status::Success)
    }
}

fn read(path: &Path, surroundings: &Surroundings<'_>) -> Result<Results, Failure> {
    let name = path.display();
    let text = (surroundings.read_file)(path)
        .map_err(|error| Failure::Usage(format!("cannot read {name}: {error}")))?;
    Results::read(&text).map_err(|error| Failure::Usage(format!("{name} {error}")))
}
