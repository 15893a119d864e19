//! `plimsoll run FILE.yml`: load tests that are written as Artillery's files.

use std::{ffi::OsString, io, path::Path};

use crate::{
    exit::{Failure, Status},
    numbers,
    runtime::run_local,
    series::lead,
    surroundings::Surroundings,
};

mod file_test;
mod guard;
mod input;
mod names;
mod options;
mod processor;
mod quick;
mod reports;
mod summary;

pub(super) use self::input::Input;
use self::options::Options;
pub(crate) use self::options::TestFlags;
pub(crate) use self::quick::Options as QuickOptions;

/// Runs the file that `arguments` of `plimsoll run` name.
pub(super) fn execute(arguments: &[OsString], surroundings: &Surroundings<'_>) -> Result<Status, Failure> {
    let mut options: Options = numbers::parse(arguments);
    if let Some(outcome) = lead(&mut options, surroundings) {
        return outcome;
    }
    let path = &options.file;
    let unreadable = |error| io::Error::other(format!("cannot read {}: {error}", path.display()));
    let text = (surroundings.read_file)(path).map_err(unreadable)?;
    run_local(file_test::conduct(&options, &text, surroundings))
}

/// The flags of a file.
#[cfg(test)]
pub(super) fn command_line() -> clap::Command {
    <Options as clap::CommandFactory>::command()
}

/// Reads a file without running it. Returns the warnings of a run.
pub(super) fn check(
    file: &Path,
    flags: &TestFlags,
    surroundings: &Surroundings<'_>,
) -> Result<Vec<String>, Failure> {
    let text = (surroundings.read_file)(file)?;
    let test = Input::new(file, flags).read(&text, surroundings)?;
    test.plan().map_err(|error| Failure::Usage(error.to_string()))?;
    Ok(test.warnings().to_vec())
}
