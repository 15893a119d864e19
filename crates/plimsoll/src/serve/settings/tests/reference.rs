//! Makes the reference page and the sample file from the table. `UPDATE_EXPECT=1 cargo test -p plimsoll reference`
//! writes them again.

use std::fmt::Write;

use clap::{Arg, Command, CommandFactory};
use expect_test::expect_file;

use super::{
    super::{
        catalog::{argument, is_switch, upper_snake},
        document::{Entry, document, spelled},
        renamed::{RENAMED, Sets},
        table::SETTINGS,
        unsupported::UNSUPPORTED,
    },
    COMMAND_LINE_ONLY, Start,
};
use crate::serve::Options;

#[test]
fn the_reference_page_is_up_to_date() {
    expect_file!["../../../../../../docs/reference/serve-options.md"].assert_eq(&page(&Options::command()));
}

#[test]
fn the_sample_file_is_up_to_date_and_valid() {
    let sample = sample(&Options::command());
    expect_file!["../../../../../../docs/reference/anycable.toml"].assert_eq(&sample);
    let active: String = sample
        .lines()
        .map(|line| match line.strip_prefix('#') {
            Some(entry) if !entry.starts_with(' ') => format!("{entry}\n"),
            _ => format!("{line}\n"),
        })
        .collect();
    for text in [&sample, &active] {
        let start = Start {
            file: text,
            ..Start::default()
        };
        let reading = start.read().expect("valid");
        assert_eq!(reading.known.warnings, Vec::<String>::new());
    }
}

fn sample(serve: &Command) -> String {
    let entries = document(serve, |entry| {
        let value = default(entry).unwrap_or_else(|| "\"\"".to_owned());
        format!("\n{}#{} = {value}\n", comment(&meaning(entry.arg)), entry.name)
    });
    format!(
        "# Settings of `plimsoll serve`, each with its default; an empty value counts as not given.\n\
         # Put it as plimsoll.toml or anycable.toml where the server starts, or name it with --config-path.\n\
         {entries}"
    )
}

fn page(serve: &Command) -> String {
    let mut page = String::from(
        "# Settings of `plimsoll serve`\n\n\
         Made from the program by `UPDATE_EXPECT=1 cargo test -p plimsoll reference`. How the layers work is in\n\
         [serve.md](serve.md#settings); [anycable.toml](anycable.toml) is a sample file.\n\n\
         The variables are `PLIMSOLL_` and `ANYCABLE_` with the flag in capitals and `_` for `-`:\n\
         `--ping-interval` is `PLIMSOLL_PING_INTERVAL` or `ANYCABLE_PING_INTERVAL`.\n\n\
         | flag | key in a file | default | meaning |\n|---|---|---|---|\n",
    );
    for setting in SETTINGS {
        let Some(arg) = argument(serve, setting.flag) else {
            continue;
        };
        let default = default(&Entry {
            name: setting.flag,
            setting,
            arg,
        });
        let also = setting
            .variable
            .map_or_else(String::new, |variable| format!(" Also `{variable}`."));
        let _infallible = writeln!(
            page,
            "| `--{}` | {} | {} | {}{also} |",
            setting.flag,
            code(setting.key),
            code(default.as_deref()),
            cell(&meaning(arg)),
        );
    }
    page.push_str("\n## At the command line only\n\n| flag | meaning |\n|---|---|\n");
    for arg in COMMAND_LINE_ONLY.iter().filter_map(|flag| argument(serve, flag)) {
        if !arg.is_hide_set() {
            let flag = arg.get_long().unwrap_or_default();
            let _infallible = writeln!(page, "| `--{flag}` | {} |", cell(&meaning(arg)));
        }
    }
    page.push_str(&old_names());
    page.push_str(&unsupported());
    page
}

fn old_names() -> String {
    let mut text = String::from(
        "\n## Old names\n\nThey work, with a warning.\n\n| old flag | old key | says |\n|---|---|---|\n",
    );
    for renamed in RENAMED {
        let sets = renamed.sets.iter().map(|(flag, sets)| match sets {
            Sets::Same => format!("`--{flag}`"),
            Sets::To(value) => format!("`--{flag}={value}`"),
        });
        let sets: Vec<String> = sets.collect();
        let _infallible = writeln!(
            text,
            "| `--{}` | {} | {} |",
            renamed.flag,
            code(renamed.key),
            sets.join(", ")
        );
    }
    text
}

fn unsupported() -> String {
    let mut text = String::from(
        "\n## Options of AnyCable's that have no effect\n\nThey are named at start.\n\n\
         | flags and variables | keys | what happens instead |\n|---|---|---|\n",
    );
    for options in UNSUPPORTED.chunk_by(|one, next| one.instead == next.instead) {
        let names = options.iter().filter_map(|option| {
            Some(match (option.flag?, option.key) {
                (flag, Some(_)) => format!("`--{flag}`"),
                (flag, None) => format!("`ANYCABLE_{}`", upper_snake(flag)),
            })
        });
        let keys = options
            .iter()
            .filter_map(|option| Some(format!("`{}`", option.key?)));
        let _infallible = writeln!(
            text,
            "| {} | {} | {} |",
            listed(names),
            listed(keys),
            cell(options[0].instead)
        );
    }
    text
}

fn listed(names: impl Iterator<Item = String>) -> String {
    let names: Vec<String> = names.collect();
    if names.is_empty() {
        "–".to_owned()
    } else {
        names.join(", ")
    }
}

/// The default as TOML spells it.
fn default(entry: &Entry<'_>) -> Option<String> {
    if is_switch(entry.arg) {
        return Some("false".to_owned());
    }
    let values = entry.arg.get_default_values();
    if values.is_empty() {
        None
    } else {
        spelled(entry, values.iter().map(clap::builder::OsStr::as_os_str))
    }
}

/// Help and possible values.
fn meaning(arg: &Arg) -> String {
    let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
    let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
    let values = arg.get_possible_values();
    let names: Vec<&str> = values
        .iter()
        .map(clap::builder::PossibleValue::get_name)
        .collect();
    if names.is_empty() || is_switch(arg) {
        format!("{help}.")
    } else {
        format!("{help}. One of: {}.", names.join(", "))
    }
}

/// Lines of a comment, broken between words.
fn comment(text: &str) -> String {
    let mut lines = String::new();
    let mut line = String::from("#");
    for word in text.split_whitespace() {
        if line.chars().count() + word.chars().count() >= 100 {
            lines.push_str(&line);
            lines.push('\n');
            line = String::from("#");
        }
        line.push(' ');
        line.push_str(word);
    }
    lines + &line + "\n"
}

fn code(text: Option<&str>) -> String {
    text.map_or_else(|| "–".to_owned(), |text| format!("`{text}`"))
}

/// Text in a table of Markdown.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('<', "&lt;")
}
