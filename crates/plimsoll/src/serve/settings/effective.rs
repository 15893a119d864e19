//! The effective settings of the server with the origin of each value: for `--print-config` as a settings file, and for the
//! page of operators.

use std::collections::BTreeMap;

use clap::{ArgMatches, Command, parser::ValueSource};
use plimsoll_server::Setting;

use super::{
    document::{Entry, document, entries, quoted, value},
    layer::{Assignment, Origin},
};

/// The settings file. What must not be printed is commented out, so that the rest of it can be used again.
pub(super) fn print(
    serve: &Command,
    matches: &ArgMatches,
    below: &BTreeMap<&'static str, Assignment>,
) -> String {
    let entries = document(serve, |entry| {
        let name = entry.name;
        match (value(entry, matches), masked(entry, matches)) {
            (Some(_), Some(masked)) => {
                format!("# {name} = {masked}  # {}\n", origin(entry, matches, below))
            }
            (Some(value), None) => format!("{name} = {value}  # {}\n", origin(entry, matches, below)),
            (None, _) => format!("# {name} is not set\n"),
        }
    });
    format!("# What `plimsoll serve` would run with. Secrets are left out.\n\n{entries}")
}

/// All settings, for operators.
pub(super) fn list(
    serve: &Command,
    matches: &ArgMatches,
    below: &BTreeMap<&'static str, Assignment>,
) -> Vec<Setting> {
    entries(serve)
        .map(|(key, entry)| Setting {
            name: key,
            value: masked(&entry, matches).or_else(|| value(&entry, matches)),
            origin: origin(&entry, matches, below),
        })
        .collect()
}

/// The replacement of a value that must not be printed.
fn masked(entry: &Entry<'_>, matches: &ArgMatches) -> Option<String> {
    let text = matches.get_raw(entry.arg.get_id().as_str())?.next()?;
    let masked = entry.setting.secrecy.masked(&text.to_string_lossy())?;
    Some(quoted(&masked))
}

fn origin(entry: &Entry<'_>, matches: &ArgMatches, below: &BTreeMap<&'static str, Assignment>) -> String {
    let is_given = matches.value_source(entry.arg.get_id().as_str()) == Some(ValueSource::CommandLine);
    match below.get(entry.setting.flag) {
        Some(Assignment {
            origin: Origin::File { path, line, .. },
            ..
        }) => format!("{path}:{line}"),
        Some(Assignment { origin, .. }) => origin.to_string(),
        None if is_given => "command line".to_owned(),
        None => Setting::BY_DEFAULT.to_owned(),
    }
}
