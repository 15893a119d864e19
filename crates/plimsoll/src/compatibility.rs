//! The reference page that compares names with those of k6, Artillery, wsdirector and ab: made from the program's own
//! tables, so that it cannot say what the program does not. The test writes it anew with
//! `UPDATE_EXPECT=1 cargo test -p plimsoll compatibility`. The names of k6's modules are on a page of their own, made by the
//! crate of scripts.

use std::fmt::Write as _;

use clap::{Arg, Command, CommandFactory as _};
use expect_test::expect_file;
use plimsoll_load::{parity::Parity, plan};
use plimsoll_scenario::{
    artillery::{ABSENT_ENGINES, ABSENT_REPORTERS, REPORTERS},
    listing::{self, Row},
};
use plimsoll_script::modules::{ABSENT, K6, catalog};

use crate::{bench, k6, run};

mod flags;

const HEAD: &str = "\
# Every name of k6, Artillery, wsdirector and ab

Written by a test from the tables of the program (`UPDATE_EXPECT=1 cargo test -p plimsoll compatibility`). Compared are k6
2.2, Artillery 2.0.34, wsdirector 1.1 and ab 2.3. `same`: it means the same. `differs`: with the difference. `absent`: its
use stops the run, with this text in the error; a test does so for each. k6's modules, their functions, classes and members
have [a page of their own](k6-compat.md).
";

type Rows = Vec<(String, Parity)>;

#[test]
fn the_page_is_what_the_tables_say() {
    let mut page = HEAD.to_owned();
    for (tool, title, rows) in sections() {
        let _infallible = write!(
            page,
            "\n## {title}\n\n| name | compared with {tool} |\n|---|---|\n"
        );
        for (name, parity) in rows {
            let _infallible = writeln!(
                page,
                "| `{name}` | {} |",
                parity.described(tool).replace('|', "\\|")
            );
        }
    }
    expect_file!["../../../docs/reference/compatibility.md"].assert_eq(&page);
}

fn sections() -> Vec<(&'static str, &'static str, Rows)> {
    let [script, artillery, wsdirector, ..] = run::command_lines();
    let ab = bench::AbOptions::command();
    let (k6, art, director) = ("k6", "Artillery", "wsdirector");
    vec![
        (k6, "k6: options", options()),
        (k6, "k6: scenarios", owned(flags::SCENARIOS)),
        (
            k6,
            "k6: flags of run",
            flags_of(&script, flags::K6, run::ABSENT_FLAGS),
        ),
        (k6, "k6: commands", commands()),
        (
            k6,
            "k6: outputs",
            plimsoll_outputs::catalog()
                .map(|(name, parity)| (name.to_owned(), parity))
                .collect(),
        ),
        (k6, "k6: sources of secrets", owned(flags::SECRETS)),
        (k6, "k6: outputs of the log", owned(flags::LOGS)),
        (art, "Artillery: keys", keys(listing::artillery())),
        (
            art,
            "Artillery: engines",
            with_absent(&["http", "ws"], &ABSENT_ENGINES),
        ),
        (
            art,
            "Artillery: reporters of publish-metrics",
            owned(&REPORTERS)
                .into_iter()
                .chain(with_absent(&[], &ABSENT_REPORTERS))
                .collect(),
        ),
        (
            art,
            "Artillery: flags of run",
            flags_of(&artillery, flags::ARTILLERY, &run::ABSENT_ARTILLERY_FLAGS),
        ),
        (art, "Artillery: commands", owned(flags::ARTILLERY_COMMANDS)),
        (director, "wsdirector: keys", keys(listing::wsdirector())),
        (
            director,
            "wsdirector: flags",
            flags_of(&wsdirector, flags::WSDIRECTOR, &[("require", run::NO_RUBY)]),
        ),
        (
            "ab",
            "ab: flags",
            flags_of(&ab, flags::AB, &bench::ABSENT_AB_FLAGS),
        ),
    ]
}

fn owned(rows: &[(&str, Parity)]) -> Rows {
    rows.iter()
        .map(|&(name, parity)| (name.to_owned(), parity))
        .collect()
}

fn keys(rows: Vec<Row>) -> Rows {
    rows.into_iter().map(|row| (row.path, row.parity)).collect()
}

fn with_absent(present: &[&str], absent: &[(&str, &'static str)]) -> Rows {
    let present = present.iter().map(|name| ((*name).to_owned(), Parity::Same));
    let absent = absent
        .iter()
        .map(|&(name, why)| (name.to_owned(), Parity::Absent(why)));
    present.chain(absent).collect()
}

fn options() -> Rows {
    let names = plan::Options::names();
    names
        .map(|name| (name.to_owned(), plan::Options::parity(name)))
        .collect()
}

fn commands() -> Rows {
    let present = k6::COMMANDS.iter().map(|name| ((*name).to_owned(), Parity::Same));
    let absent = run::ABSENT_COMMANDS
        .iter()
        .map(|&(name, why)| (name.to_owned(), Parity::Absent(why)));
    present.chain(absent).collect()
}

/// The flags of a tool with their comparison, then those of this program alone. Each flag of the tool that is not refused
/// must be a flag of the command.
fn flags_of(
    command: &Command,
    of_tool: &[(&'static str, Parity)],
    absent: &[(&'static str, &'static str)],
) -> Rows {
    let own: Vec<&Arg> = command
        .get_arguments()
        .filter(|arg| !arg.is_positional())
        .collect();
    let mut rows: Rows = Vec::new();
    for &(name, parity) in of_tool {
        assert!(
            own.iter().any(|arg| is_called(arg, name)),
            "{name} is not a flag of {}",
            command.get_name()
        );
        rows.push((dashed(name), parity));
    }
    for &(name, why) in absent {
        let arg = own.iter().find(|arg| is_called(arg, name));
        assert!(
            arg.is_some_and(|arg| arg.is_hide_set()),
            "{name} is not refused by {}",
            command.get_name()
        );
        rows.push((dashed(name), Parity::Absent(why)));
    }
    let is_listed = |arg: &Arg| {
        let tools = of_tool
            .iter()
            .map(|(name, _)| *name)
            .chain(absent.iter().map(|(name, _)| *name));
        tools.into_iter().any(|name| is_called(arg, name))
    };
    let beyond = own.iter().filter(|arg| !arg.is_hide_set() && !is_listed(arg));
    rows.extend(beyond.filter_map(|arg| Some((dashed(arg.get_long()?), Parity::Beyond("")))));
    rows
}

fn is_called(arg: &Arg, name: &str) -> bool {
    let name = name.trim_start_matches('-');
    let aliases = arg.get_all_aliases().unwrap_or_default();
    arg.get_long() == Some(name)
        || aliases.contains(&name)
        || arg
            .get_short()
            .is_some_and(|short| name.len() == 1 && name.starts_with(short))
}

fn dashed(name: &str) -> String {
    match name {
        name if name.starts_with('-') => name.to_owned(),
        name => format!("--{name}"),
    }
}

#[test]
fn scenarios_have_the_fields_that_the_page_says() {
    for (name, _) in flags::SCENARIOS {
        let Some(executor) = name.strip_prefix("scenarios.*.executor: ") else {
            continue;
        };
        let (executor, _) = executor.split_once(' ').unwrap_or((executor, ""));
        let fields = flags::fields_of(executor);
        let options = serde_json::json!({ "scenarios": { "s": fields } });
        let read = plan::Options::from_json(&options);
        assert!(read.is_ok(), "{executor}: {read:?}");
    }
}

/// The README's list of what is missing has the names of all modules, outputs, engines, reporters and keys that are absent,
/// and no other names.
#[test]
fn the_readme_lists_what_is_absent() {
    let readme = include_str!("../../../README.md");
    let (_, part) = readme.split_once("## What is not there yet").unwrap_or_default();
    let part = part.split("\n## ").next().unwrap_or_default();
    let named: Vec<&str> = part.split('`').skip(1).step_by(2).collect();
    let mut absent: Vec<String> = ABSENT.iter().map(|(id, _)| (*id).to_owned()).collect();
    // Flags and commands are only in the tables.
    let listed = ["outputs", "secrets", "log", "engines", "reporters", "keys"];
    let sections = sections().into_iter();
    for (_, _, rows) in sections.filter(|(_, title, _)| listed.iter().any(|part| title.contains(part))) {
        let rows = rows
            .into_iter()
            .filter(|(_, parity)| matches!(parity, Parity::Absent(_)));
        absent.extend(rows.map(|(name, _)| name.rsplit('.').next().unwrap_or_default().to_owned()));
    }
    absent.retain(|name| !ALIASES.contains(&name.as_str()));
    let missing: Vec<_> = absent
        .iter()
        .filter(|name| !named.contains(&name.as_str()))
        .collect();
    assert!(
        missing.is_empty(),
        "the README does not list {missing:?}, which are absent"
    );
    let there: Vec<_> = named
        .iter()
        .filter(|name| !absent.iter().any(|absent| absent == *name))
        .collect();
    assert!(
        there.is_empty(),
        "the README lists {there:?}, which are not absent"
    );
}

/// Other names of absent outputs, and the key of the map of environments that a map of environments cannot have.
const ALIASES: [&str; 5] = [
    "dashboard",
    "output-statsd",
    "xk6-influxdb",
    "xk6-kafka",
    "environments",
];

/// Absent functions of modules are on the page of the modules.
#[test]
fn modules_have_their_own_page() {
    let page = include_str!("../../../docs/reference/k6-compat.md");
    for (id, reason) in ABSENT {
        assert!(page.contains(&format!("## `{id}`\n\nabsent: {reason}")), "{id}");
    }
    for (id, api) in catalog() {
        let absent = api
            .into_iter()
            .flatten()
            .filter(|entry| matches!(entry.k6, K6::Absent(_)));
        for entry in absent {
            assert!(
                page.contains(&format!("| `{}` | absent: ", entry.name)),
                "{id} {}",
                entry.name
            );
        }
    }
}
