//! `plimsoll run`: load tests that are written as k6 scripts, or as files of other tools.

mod archive;
mod artillery;
mod check;
mod config_file;
mod dashboard;
mod dialect;
mod environment;
mod flags;
mod fleet;
mod fleet_secrets;
mod inspect;
mod layers;
mod line;
mod load_test;
mod mistake;
mod options;
mod results;
mod script;
mod secret_source;
mod unsupported;
mod variables;
mod verdict;
mod wsdirector;

use std::ffi::OsString;

use plimsoll_scenario::dialect::Dialect;

pub(crate) use self::{
    archive::Options as ArchiveOptions,
    artillery::{QuickOptions, take_part_in_artillery},
    check::{ArtilleryFlags, Findings, Input, LayerFlags, Located, check},
    dialect::{is_document, is_script},
    fleet::take_part_in_script,
    fleet_secrets::FleetSecrets,
    inspect::Options as InspectOptions,
    line::{Options as LineOptions, SteadyLoad, line_of_bench},
    options::Options,
    secret_source::PackedSecrets,
    unsupported::command as unsupported,
    variables::with_variables,
    wsdirector::take_part_in_wsdirector,
};
#[cfg(test)]
pub(crate) use self::{
    artillery::ABSENT_FLAGS as ABSENT_ARTILLERY_FLAGS,
    unsupported::{COMMANDS as ABSENT_COMMANDS, FLAGS as ABSENT_FLAGS},
    wsdirector::NO_RUBY,
};
use crate::{
    exit::{Failure, Status},
    runtime::run_local,
    series::lead,
    surroundings::Surroundings,
};

/// Runs the file of another tool, when the arguments name one; `None` when they name a script. `arguments` are those of
/// the whole command line.
pub(crate) fn other_dialect(
    arguments: &[OsString],
    surroundings: &Surroundings<'_>,
) -> Option<Result<Status, Failure>> {
    // Behind the program and `run`.
    let own = arguments.get(2..).unwrap_or_default();
    let dialect = match dialect::of_arguments(own, surroundings) {
        Ok(dialect) => dialect?,
        Err(failure) => return Some(Err(failure)),
    };
    let own = dialect::without_as(own);
    Some(match dialect {
        Dialect::Artillery => artillery::execute(&own, surroundings),
        Dialect::Wsdirector => wsdirector::execute(&own, surroundings),
    })
}

impl Options {
    pub(crate) fn execute(mut self, surroundings: &Surroundings<'_>) -> Result<Status, Failure> {
        if self.dialect.is_none() {
            dialect::check_name(&self.script, surroundings)?;
        }
        if let Some(outcome) = lead(&mut self, surroundings) {
            return outcome;
        }
        run_local(load_test::conduct(&self, surroundings))
    }
}

/// The command lines of scripts, Artillery's files, wsdirector's files, `quick`, `line` and `line bench`.
#[cfg(test)]
pub(crate) fn command_lines() -> [clap::Command; 6] {
    use clap::CommandFactory;

    [
        Options::command(),
        artillery::command_line(),
        wsdirector::command_line(),
        QuickOptions::command(),
        LineOptions::command(),
        line::command_line_of_bench(),
    ]
}

#[cfg(test)]
mod tests;
