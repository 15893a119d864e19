//! `--expect` and `--write-expectations`: files of verdicts, read before the run and compared or written after it.

use std::{
    io::{self, Write},
    path::{Path, PathBuf},
};

use plimsoll_conformance::{Case, Expectations, Results};

use super::{flags::Flags, report_file};
use crate::{
    exit::{Failure, Status},
    surroundings::Surroundings,
    terminal,
};

/// The contents of the files before the run.
pub(super) struct Expecting {
    expected: Option<Expectations>,
    /// The file to write, and its lines to keep.
    written: Option<(PathBuf, Expectations)>,
}

impl Expecting {
    /// Reads the files that the flags name. One that is to be written need not be there.
    ///
    /// # Errors
    /// When a file cannot be read, or has mistakes.
    pub(super) fn read(flags: &Flags, surroundings: &Surroundings<'_>) -> Result<Self, Failure> {
        let read = |path: &PathBuf| read(path, surroundings);
        let expected = match flags.expect.as_ref() {
            None => None,
            Some(path) => Some(read(path)?.ok_or_else(|| {
                let path = path.display();
                Failure::Usage(format!(
                    "--expect {path}: there is no such file; --write-expectations {path} makes it"
                ))
            })?),
        };
        let written = match flags.write_expectations.as_ref() {
            None => None,
            Some(path) => {
                report_file::check_writable(path)
                    .map_err(|problem| Failure::Usage(format!("--write-expectations {problem}")))?;
                Some((path.clone(), read(path)?.unwrap_or_default()))
            }
        };
        Ok(Self { expected, written })
    }

    /// Compares and writes. Without expectations, the exit code says whether a case failed.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub(super) fn judge(self, all: &[Case], results: &Results) -> Result<Status, Failure> {
        if let Some((path, before)) = &self.written {
            let header = match before.header.as_slice() {
                [] => vec![format!("# {} of {}.", results.suite, results.target.name)],
                header => header.to_vec(),
            };
            let updated = Expectations {
                header,
                ..before.updated(all, &results.outcomes)
            };
            report_file::write(path, &updated.to_string())?;
        }
        let Some(expected) = &self.expected else {
            // Who writes down what is so accepts it.
            return Ok(if self.written.is_none() && results.has_failures() {
                Status::BadResult
            } else {
                Status::Success
            });
        };
        let comparison = expected.compare(all, &results.outcomes);
        let mut talk = io::stderr();
        let style = terminal::style(&talk);
        write!(talk, "{}", comparison.text(style))?;
        Ok(if comparison.changes.is_empty() {
            Status::Success
        } else {
            Status::BadResult
        })
    }
}

/// The expectations of a file; `None` if the file does not exist.
fn read(path: &Path, surroundings: &Surroundings<'_>) -> Result<Option<Expectations>, Failure> {
    let name = path.display().to_string();
    match (surroundings.read_file)(path) {
        Ok(text) => Expectations::read(&name, &text)
            .map(Some)
            .map_err(|mistakes| Failure::Usage(mistakes.to_string())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Failure::Usage(format!("cannot read {name}: {error}"))),
    }
}
