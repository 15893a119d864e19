//! Layers and error texts, without files and without a process.

mod anycable;
mod layers;
mod mistakes;
mod reference;

use std::{collections::BTreeSet, ffi::OsString, io, path::Path};

use clap::{CommandFactory, FromArgMatches};
use expect_test::Expect;

use super::{
    ReadError, Reading, Surroundings, catalog::argument, read, renamed::RENAMED, table::SETTINGS,
    unsupported::UNSUPPORTED,
};
use crate::{cli::CommandLine, serve::Options};

/// Flags about one start of the program. No variable and no key stands for them.
const COMMAND_LINE_ONLY: [&str; 5] = [
    "announce",
    "check",
    "demo-page",
    "exit-with-stdin",
    "print-config",
];

/// The inputs of a server's start.
#[derive(Default, Clone, Copy)]
struct Start<'a> {
    /// The only file there is: `anycable.toml`.
    file: &'a str,
    environment: &'a [(&'a str, &'a str)],
    arguments: &'a [&'a str],
}

impl Start<'_> {
    fn read(&self) -> Result<Reading, ReadError> {
        let read_file = |path: &Path| match path.to_str() {
            Some("anycable.toml") if !self.file.is_empty() => Ok(self.file.to_owned()),
            _ => Err(io::Error::from(io::ErrorKind::NotFound)),
        };
        let surroundings = Surroundings {
            environment: self
                .environment
                .iter()
                .map(|(name, value)| (name.into(), value.into()))
                .collect(),
            read_file: &read_file,
        };
        let arguments = ["plimsoll", "serve"].iter().chain(self.arguments);
        let program = CommandLine::command();
        let reading = read(&program, arguments.map(OsString::from).collect(), &surroundings)?;
        CommandLine::from_arg_matches(&reading.matches)?;
        Ok(reading)
    }

    /// Warnings, and either the values that `--print-config` prints and that are not defaults, or the errors.
    fn outcome(&self) -> String {
        let arguments: Vec<&str> = self.arguments.iter().copied().chain(["--print-config"]).collect();
        let start = Start {
            arguments: &arguments,
            ..*self
        };
        match start.read() {
            Ok(reading) => {
                let text = reading.printed.expect("asked for");
                let given = |line: &&str| line.contains("  # ") && !line.ends_with("# default");
                let warnings = reading
                    .known
                    .warnings
                    .iter()
                    .map(|text| format!("warning: {text}"));
                let lines: Vec<String> = warnings
                    .chain(text.lines().filter(given).map(str::to_owned))
                    .collect();
                lines.join("\n")
            }
            Err(ReadError::Below(errors)) => errors.join("\n"),
            Err(ReadError::CommandLine(error)) => error.to_string(),
        }
    }
}

#[track_caller]
fn check(start: Start<'_>, expected: &Expect) {
    expected.assert_eq(&start.outcome());
}

#[track_caller]
fn check_file(file: &str, expected: &Expect) {
    check(
        Start {
            file,
            ..Start::default()
        },
        expected,
    );
}

#[track_caller]
fn check_environment(environment: &[(&str, &str)], expected: &Expect) {
    check(
        Start {
            environment,
            ..Start::default()
        },
        expected,
    );
}

#[track_caller]
fn check_arguments(arguments: &[&str], expected: &Expect) {
    check(
        Start {
            arguments,
            ..Start::default()
        },
        expected,
    );
}

/// Every flag of `plimsoll serve` can be given in the environment and in a file, or is named as one that cannot. And
/// every row is about a flag that there is.
#[test]
fn the_table_has_every_flag_and_no_other() {
    let serve = Options::command();
    let has_row =
        |flag| SETTINGS.iter().any(|setting| setting.flag == flag) || COMMAND_LINE_ONLY.contains(&flag);
    let missing: Vec<&str> = serve
        .get_arguments()
        .filter_map(clap::Arg::get_long)
        .filter(|flag| !has_row(flag))
        .collect();
    assert!(
        missing.is_empty(),
        "flags without a row: {missing:?}. Add a line like setting(\"the-flag\", \"section.key\") to SETTINGS in \
         crates/plimsoll/src/serve/settings/table.rs, beside its section, with .secret() if the value must not be \
         printed; the variables follow from the flag",
    );
    let stale: Vec<&str> = SETTINGS
        .iter()
        .map(|setting| setting.flag)
        .filter(|flag| argument(&serve, flag).is_none())
        .collect();
    assert!(
        stale.is_empty(),
        "rows without a flag: {stale:?}. Delete them from table.rs; a row in unsupported.rs says what happens instead \
         of an option of AnyCable's",
    );
    for flag in COMMAND_LINE_ONLY {
        assert!(argument(&serve, flag).is_some(), "--{flag} is gone: delete it");
    }
}

#[test]
fn every_name_stands_for_one_thing() {
    let settings = SETTINGS.iter().map(|row| (Some(row.flag), row.key));
    let renamed = RENAMED.iter().map(|row| (Some(row.flag), row.key));
    let unsupported = UNSUPPORTED.iter().map(|row| (row.flag, row.key));
    let (mut flags, mut keys) = (BTreeSet::new(), BTreeSet::new());
    for (flag, key) in settings.chain(renamed).chain(unsupported) {
        assert!(
            flag.is_none_or(|flag| flags.insert(flag)),
            "{flag:?} has two rows"
        );
        assert!(key.is_none_or(|key| keys.insert(key)), "{key:?} has two rows");
    }
    for (flag, _) in RENAMED.iter().flat_map(|row| row.sets) {
        assert!(SETTINGS.iter().any(|row| row.flag == *flag), "{flag} has no row");
    }
}
