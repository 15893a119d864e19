//! `plimsoll run`: load tests that are written as k6 scripts, or as files of other tools.

mod artillery;
mod check;
mod config_file;
mod dialect;
mod environment;
mod flags;
mod inspect;
mod layers;
mod line;
mod load_test;
mod log;
mod memory_check;
mod options;
mod progress;
mod rest;
mod results;
mod script;
mod secret_source;
mod unsupported;
mod variables;
mod verdict;
mod wsdirector;

use std::ffi::OsString;

use plimsoll_scenario::dialect::Dialect;
use tokio::task::LocalSet;

pub(crate) use self::{
    artillery::QuickOptions,
    check::{Findings, Input, check},
    dialect::{is_document, is_script},
    inspect::Options as InspectOptions,
    line::{Options as LineOptions, line_of_bench},
    options::{Format, Options},
    rest::USUAL_ADDRESS,
    unsupported::command as unsupported,
    variables::with_variables,
};
use crate::{
    exit::{Failure, Status},
    surroundings::Surroundings,
};

/// Runs the file of another tool, when the arguments name one; `None` when they name a script.
pub(crate) fn other_dialect(
    arguments: &[OsString],
    surroundings: &Surroundings<'_>,
) -> Option<Result<Status, Failure>> {
    let dialect = match dialect::of_arguments(arguments, surroundings) {
        Ok(dialect) => dialect?,
        Err(failure) => return Some(Err(failure)),
    };
    let arguments = dialect::without_as(arguments);
    Some(match dialect {
        Dialect::Artillery => artillery::execute(&arguments, surroundings),
        Dialect::Wsdirector => wsdirector::execute(&arguments, surroundings),
    })
}

impl Options {
    pub(crate) fn execute(self, surroundings: &Surroundings<'_>) -> Result<Status, Failure> {
        if self.dialect.is_none() {
            dialect::check_name(&self.script, surroundings)?;
        }
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        LocalSet::new().block_on(&runtime, load_test::conduct(&self, surroundings))
    }
}

#[cfg(test)]
mod tests;
