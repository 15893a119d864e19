//! `plimsoll run FILE.yml`: load tests that are written as Artillery's files.

use std::{ffi::OsString, path::PathBuf};

use crate::{
    exit::{Failure, Status},
    numbers,
    runtime::run_local,
    series::lead,
    surroundings::Surroundings,
};

mod file_test;
mod fleet;
mod gateways;
mod guard;
mod input;
mod library;
mod marks;
mod names;
mod options;
mod processor;
mod quick;
mod reports;
mod slack;
mod summary;

pub(crate) use self::fleet::take_part_in_artillery;
pub(super) use self::fleet::{Read, errand_of_step, of_search};
pub(super) use self::input::{Input, Source, read_files};
pub(super) use self::library::{Kept, Library};
#[cfg(test)]
pub(crate) use self::options::ABSENT as ABSENT_FLAGS;
use self::options::Options;
pub(crate) use self::options::{LayerFlags, TestFlags};
pub(crate) use self::quick::Options as QuickOptions;

/// Runs the file that `arguments` of `plimsoll run` name.
pub(super) fn execute(arguments: &[OsString], surroundings: &Surroundings<'_>) -> Result<Status, Failure> {
    let mut options: Options = numbers::parse(arguments);
    if let Some(outcome) = lead(&mut options, surroundings) {
        return outcome;
    }
    let sources = read_files(&options.test_files, &options.test, surroundings)?;
    run_local(file_test::conduct(&options, sources, None, surroundings))
}

/// The flags of a file.
#[cfg(test)]
pub(super) fn command_line() -> clap::Command {
    <Options as clap::CommandFactory>::command()
}

/// Reads a test without running it. Returns the warnings of a run.
pub(super) fn check(
    files: &[PathBuf],
    flags: &TestFlags,
    surroundings: &Surroundings<'_>,
) -> Result<Vec<String>, Failure> {
    let sources = read_files(files, flags, surroundings)?;
    let test = Input::new(flags).read(&sources, surroundings)?;
    test.plan().map_err(|error| Failure::Usage(error.to_string()))?;
    Ok(test.warnings().to_vec())
}
