//! The reference page of the flags that load commands share, made from the program. The test writes it anew with
//! `UPDATE_EXPECT=1 cargo test -p plimsoll load_commands`.

use std::fmt::Write;

use clap::{Command, CommandFactory};
use expect_test::expect_file;

use crate::{bench, demo, run};

/// The flags that every load command has, unless [`GAPS`] says why not.
const FLAGS: [&str; 25] = [
    "out",
    "report",
    "format",
    "watch",
    "at",
    "save",
    "no-save",
    "quiet",
    "no-color",
    "ui",
    "tui",
    "no-tui",
    "address",
    "linger",
    "no-memory-check",
    "fail-on-errors",
    "abort-on-error-rate",
    "repeat",
    "against",
    "tolerance",
    "margin",
    "fleet",
    "agents",
    "on-agent-loss",
    THRESHOLDS,
];

/// The row of thresholds, which have other names in each command.
const THRESHOLDS: &str = "thresholds";

/// How a command gets its thresholds.
const OF_THRESHOLDS: [(&str, &str); 9] = [
    (SCRIPT, "`options.thresholds`"),
    (ARTILLERY, "`ensure`"),
    ("bench broadcast", "`--threshold`"),
    ("bench connect", "`--threshold`"),
    ("bench echo", "`--threshold`"),
    ("bench http", "`--threshold`"),
    ("bench recover", "`--threshold`"),
    (LINE, "`--slo`"),
    (LINE_BENCH, "`--slo`"),
];

const SCRIPT: &str = "run, a script";
const ARTILLERY: &str = "run, an Artillery file";
const WSDIRECTOR: &str = "run, a wsdirector file";
const LINE: &str = "line";
const LINE_BENCH: &str = "line bench";

/// The flags of a fleet.
const FLEET: &[&str] = &["fleet", "agents", "on-agent-loss"];

/// Flags that commands do not have, and the reason.
const GAPS: [(&[&str], &[&str], &str); 13] = [
    (
        &["out"],
        &[LINE, LINE_BENCH],
        "A search is a series of runs with different loads, and only their steady parts count. `plimsoll run --out` \
         and `plimsoll bench --out` write the samples of one load.",
    ),
    (
        &["tui", "no-tui"],
        &[LINE, LINE_BENCH],
        "A search prints a row for each step, and draws the current step below the rows. Charts of single steps \
         would restart every few seconds; the page of --ui and the report have charts of all steps.",
    ),
    (
        &["address", "linger"],
        &[LINE, LINE_BENCH],
        "A search chooses the load itself, so it cannot be paused, resumed or scaled. A signal ends it.",
    ),
    (
        &["at"],
        &[LINE, LINE_BENCH],
        "A search runs many steps with different loads. What a command does to the target in one of them says nothing \
         about the others.",
    ),
    (
        &["against", "tolerance", "margin"],
        &[LINE, LINE_BENCH],
        "`--repeat` of a search repeats its steps, and a search has no figures of one load to compare.",
    ),
    (
        &["against", "tolerance", "margin"],
        &["demo"],
        "The demo starts its own server, so there is no other target. Its `--repeat` makes the runs for `runs compare`.",
    ),
    (
        &["no-memory-check"],
        &[LINE, LINE_BENCH],
        "A step that needs more memory than this machine has is the generator's limit and ends the search.",
    ),
    (
        &["fail-on-errors", "abort-on-error-rate"],
        &[LINE, LINE_BENCH],
        "A search makes a target fail on purpose. Objectives such as `errors==0` say which failures break a step.",
    ),
    (
        FLEET,
        &["demo"],
        "The demo shows what one machine can do, and starts its own server on it.",
    ),
    (
        FLEET,
        &["bench recover"],
        "Not there yet: the clients that this bench cuts off and counts as they come back are in one process.",
    ),
    (
        &[THRESHOLDS],
        &[WSDIRECTOR],
        "Each expectation of a scenario is a check: a client whose expectation is not met fails, and the exit code is 1.",
    ),
    (
        &[THRESHOLDS],
        &["quick"],
        "A quick test has no thresholds. Use a file with `ensure`, or `bench http --threshold`.",
    ),
    (
        &[THRESHOLDS],
        &["demo"],
        "The demo has fixed thresholds: 90 % of its checks must pass, and no message may be lost.",
    ),
];

#[test]
fn the_reference_page_is_up_to_date() {
    expect_file!["../../../../docs/reference/load-commands.md"].assert_eq(&page());
}

#[test]
fn every_gap_has_one_reason_and_every_reason_a_gap() {
    let commands = commands();
    for (name, command) in &commands {
        for flag in FLAGS {
            let n_reasons = reasons(flag, name).count();
            assert_eq!(
                n_reasons,
                usize::from(!has(name, command, flag)),
                "{name} --{flag}"
            );
        }
    }
    for (flags, names, reason) in GAPS {
        let is_known = |name: &&str| commands.iter().any(|(known, _)| known == name);
        assert!(names.iter().all(is_known), "{reason}");
        assert!(flags.iter().all(|flag| FLAGS.contains(flag)), "{reason}");
    }
}

/// All load commands with their flags.
fn commands() -> Vec<(&'static str, Command)> {
    let [script, artillery, wsdirector, quick, line, line_bench] = run::command_lines();
    let benches = bench::Options::command();
    let bench = |name: &str| {
        let command = benches.find_subcommand(name);
        command
            .unwrap_or_else(|| panic!("there is no bench {name}"))
            .clone()
    };
    vec![
        (SCRIPT, script),
        (ARTILLERY, artillery),
        (WSDIRECTOR, wsdirector),
        ("quick", quick),
        ("demo", demo::Options::command()),
        ("bench broadcast", bench("broadcast")),
        ("bench connect", bench("connect")),
        ("bench echo", bench("echo")),
        ("bench http", bench("http")),
        ("bench recover", bench("recover")),
        (LINE, line),
        (LINE_BENCH, line_bench),
    ]
}

#[test]
fn ab_is_bench_http() {
    let flags = |command: &Command| -> Vec<_> {
        let flags = command.get_arguments().filter_map(|arg| arg.get_long());
        flags.map(str::to_owned).collect()
    };
    let http = bench::Options::command().find_subcommand("http").map(flags);
    assert_eq!(Some(flags(&bench::AbOptions::command())), http);
}

fn has(name: &str, command: &Command, flag: &str) -> bool {
    match flag {
        THRESHOLDS => of_thresholds(name).is_some(),
        flag => is_flag(command, flag),
    }
}

fn is_flag(command: &Command, flag: &str) -> bool {
    let is_shown = |arg: &clap::Arg| !arg.is_hide_set();
    command
        .get_arguments()
        .any(|arg| arg.get_long() == Some(flag) && is_shown(arg))
}

fn of_thresholds(name: &str) -> Option<&'static str> {
    let (_, cell) = OF_THRESHOLDS.iter().find(|(known, _)| *known == name)?;
    Some(cell)
}

/// The numbers, from 1, of the reasons why a command lacks a flag.
fn reasons(flag: &str, name: &str) -> impl Iterator<Item = usize> {
    let gaps = GAPS.iter().enumerate();
    gaps.filter(move |(_, (flags, names, _))| flags.contains(&flag) && names.contains(&name))
        .map(|(at, _)| at + 1)
}

fn page() -> String {
    let commands = commands();
    let mut page = String::from(
        "# Load commands and their flags\n\n\
         Made from the program by `UPDATE_EXPECT=1 cargo test -p plimsoll load_commands`. Every load command has the flags\n\
         below, writes the same summary, saves it in the [history](runs.md), and uses the same\n\
         [exit codes](exit-codes.md#load-tests). SIGINT, SIGTERM and SIGHUP stop each command in an orderly way. A number\n\
         refers to the reason for a missing flag. `plimsoll ab` is `bench http`.\n\n| flag |",
    );
    let mut write = |text: &str| {
        let _infallible = page.write_str(text);
    };
    commands
        .iter()
        .for_each(|(name, _)| write(&format!(" `{name}` |")));
    write(&format!("\n|---|{}\n", "---|".repeat(commands.len())));
    for flag in FLAGS {
        let title = match flag {
            THRESHOLDS => flag.to_owned(),
            flag => format!("`--{flag}`"),
        };
        let cells = commands.iter().map(|(name, command)| cell(flag, name, command));
        write(&format!(
            "| {title} | {} |\n",
            cells.collect::<Vec<_>>().join(" | ")
        ));
    }
    write("\n## Gaps\n\n");
    for (at, (_, _, reason)) in GAPS.iter().enumerate() {
        write(&format!("{}. {reason}\n", at + 1));
    }
    page
}

fn cell(flag: &str, name: &str, command: &Command) -> String {
    if let Some(number) = reasons(flag, name).next() {
        return format!("({number})");
    }
    match flag {
        THRESHOLDS => {
            let cell = of_thresholds(name).unwrap_or_default();
            if let Some(flag) = cell.strip_prefix("`--") {
                assert!(is_flag(command, flag.trim_end_matches('`')), "{name} {cell}");
            }
            cell.to_owned()
        }
        _ => "✓".to_owned(),
    }
}
