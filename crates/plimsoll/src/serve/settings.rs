//! The sources of the settings of `plimsoll serve`: defaults, then a file, then the environment, then the command
//! line. Later sources override earlier ones.
//!
//! clap declares the flags, and [`table`] joins them with variables and keys. The lower layers become arguments in
//! front of those that were typed, so all values go through one parser. Every one of them is first parsed on its own,
//! so that a bad value is reported with its place.

mod catalog;
mod command_line;
mod document;
mod effect;
mod effective;
mod environment;
mod file;
mod layer;
mod merge;
mod renamed;
mod table;
#[cfg(test)]
mod tests;
mod typed;
mod unsupported;

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
};

use clap::{ArgMatches, Command};
use plimsoll_server::Setting;

pub(crate) use self::catalog::is_setting;
use self::{
    catalog::{Catalog, argument, without_rules},
    layer::Layer,
    merge::Merger,
    typed::is_typed,
};
use crate::{numbers::explained, surroundings::Surroundings, unknown_flags};

/// The command line with all layers below it.
#[derive(Debug)]
pub(crate) struct Reading {
    /// All arguments of the program.
    pub(crate) matches: ArgMatches,
    /// What is known of the settings besides their values.
    pub(crate) known: Known,
    /// All settings as a file, if `--print-config` asks for it.
    pub(crate) printed: Option<String>,
}

/// What is known of the settings of a start besides their values.
#[derive(Debug, Default)]
pub(crate) struct Known {
    /// Warnings for the log.
    pub(crate) warnings: Vec<String>,
    /// All settings with their origins, for operators.
    pub(crate) settings: Vec<Setting>,
}

/// Why the settings cannot be used.
#[derive(Debug)]
pub(crate) enum ReadError {
    /// The command line is wrong, or asks for help: clap says it.
    CommandLine(clap::Error),
    /// Mistakes in the layers below, one line for each.
    Below(Vec<String>),
}

impl From<clap::Error> for ReadError {
    fn from(error: clap::Error) -> Self {
        Self::CommandLine(error)
    }
}

/// Reads the arguments of the whole program, of which the first two are `plimsoll serve`.
pub(crate) fn read(
    program: &Command,
    arguments: Vec<OsString>,
    surroundings: &Surroundings<'_>,
) -> Result<Reading, ReadError> {
    let serve = serve(program);
    let catalog = Catalog::new(serve);
    let mut arguments = arguments.into_iter();
    let front: Vec<OsString> = arguments.by_ref().take(2).collect();
    let sorted = command_line::sort(&catalog, arguments);

    let typed = front.iter().chain(&sorted.arguments);
    let typed = relaxed(program.clone(), |_| true)
        .try_get_matches_from(typed)
        .map_err(|error| explained(unknown_flags::suggest(error, program, &front), program))?;
    let typed = typed.subcommand_matches("serve").unwrap_or(&typed);

    let environment = environment::read(&catalog, &surroundings.environment);
    let file = match wanted_file(typed, [&sorted.layer, &environment]) {
        Wanted::None => Layer::default(),
        Wanted::Named(path) => file::read(&catalog, &[&path], surroundings),
        Wanted::Usual => file::read(&catalog, &file::USUAL.map(Path::new), surroundings),
    };
    let (below, mut warnings) = Merger::new(serve, typed)
        .take(sorted.layer)
        .take(environment)
        .take(file)
        .finish()
        .map_err(ReadError::Below)?;
    if !below.contains_key("host") && !is_typed(typed, "host") {
        warnings.extend(environment::warn_of_platform(&surroundings.environment));
    }

    let below_as_arguments = below
        .iter()
        .filter_map(|(flag, assignment)| merge::spelled(argument(serve, flag)?, assignment));
    let all = front.iter().cloned().chain(below_as_arguments);
    let matches = relaxed(program.clone(), |flag| below.contains_key(flag))
        .try_get_matches_from(all.chain(sorted.arguments))
        .map_err(|error| explained(unknown_flags::suggest(error, program, &front), program))?;
    let of_serve = matches.subcommand_matches("serve");
    if let Some(matches) = of_serve {
        warnings.extend(effect::warn_of_no_effect(serve, matches, &below));
    }
    let printed = of_serve
        .filter(|matches| matches.get_flag("print_config"))
        .map(|matches| effective::print(serve, matches, &below));
    let settings = of_serve.map_or_else(Vec::new, |matches| effective::list(serve, matches, &below));
    Ok(Reading {
        known: Known { warnings, settings },
        matches,
        printed,
    })
}

fn serve(program: &Command) -> &Command {
    program.find_subcommand("serve").unwrap_or(program)
}

/// The command without the rules about flags that need or exclude each other, for the flags that `is_below` names.
/// These rules are for people at a command line. A variable that is shared with the application is not a
/// contradiction.
fn relaxed(program: Command, is_below: impl Fn(&str) -> bool) -> Command {
    program.mut_subcommand("serve", |serve| {
        serve.mut_args(|arg| {
            if arg.get_long().is_some_and(&is_below) {
                without_rules(arg)
            } else {
                arg
            }
        })
    })
}

/// The settings file to read.
enum Wanted {
    None,
    Named(PathBuf),
    /// The first that exists of those that are looked for.
    Usual,
}

/// The chosen settings file: the command line counts before the layers, and these one after the other.
fn wanted_file(typed: &ArgMatches, layers: [&Layer; 2]) -> Wanted {
    if let Some(path) = typed.get_one::<PathBuf>("config_path") {
        return Wanted::Named(path.clone());
    }
    if typed.get_flag("ignore_config_path") {
        return Wanted::None;
    }
    let wanted = layers.into_iter().find_map(|Layer { assignments, .. }| {
        match (
            assignments.get("ignore-config-path"),
            assignments.get("config-path"),
        ) {
            (Some(ignore), _) if ignore.value == "true" => Some(Wanted::None),
            (_, Some(path)) => Some(Wanted::Named(PathBuf::from(&path.value))),
            _ => None,
        }
    });
    wanted.unwrap_or(Wanted::Usual)
}
