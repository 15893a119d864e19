//! A settings file as text: sections in the order of the table, values as TOML spells them.

use std::{any::TypeId, ffi::OsStr, fmt::Write};

use clap::{Arg, ArgMatches, Command};

use super::{
    catalog::{argument, is_boolean, is_list, is_switch},
    table::{SETTINGS, Setting},
};

/// One key of the document, without its section.
pub(super) struct Entry<'a> {
    pub(super) name: &'static str,
    pub(super) setting: &'static Setting,
    pub(super) arg: &'a Arg,
}

/// A document with what `write` makes of each key.
pub(super) fn document(serve: &Command, write: impl Fn(&Entry<'_>) -> String) -> String {
    let mut text = String::new();
    let mut section = "";
    for (key, entry) in entries(serve) {
        let (of_key, _) = split(key);
        if of_key != section {
            section = of_key;
            let _infallible = write!(text, "\n[{section}]\n");
        }
        text.push_str(&write(&entry));
    }
    text
}

/// All keys of the document with their sections, in its order.
pub(super) fn entries(serve: &Command) -> impl Iterator<Item = (&'static str, Entry<'_>)> {
    SETTINGS.iter().filter_map(|setting| {
        let (key, arg) = (setting.key?, argument(serve, setting.flag)?);
        let (_, name) = split(key);
        Some((key, Entry { name, setting, arg }))
    })
}

/// The section and the name of a key.
fn split(key: &'static str) -> (&'static str, &'static str) {
    key.rsplit_once('.').unwrap_or(("", key))
}

/// The value of the setting in clap's matches, in TOML; `None` without a value.
pub(super) fn value(entry: &Entry<'_>, matches: &ArgMatches) -> Option<String> {
    let id = entry.arg.get_id().as_str();
    if is_switch(entry.arg) {
        return Some(matches.get_flag(id).to_string());
    }
    spelled(entry, matches.get_raw(id)?)
}

/// The values in TOML; `None` without values.
pub(super) fn spelled<'a>(entry: &Entry<'_>, values: impl Iterator<Item = &'a OsStr>) -> Option<String> {
    let values: Vec<_> = values.map(OsStr::to_string_lossy).collect();
    if !is_list(entry.setting, entry.arg) {
        return values.first().map(|value| one(entry.arg, value));
    }
    let values = values.iter().flat_map(|value| value.split(','));
    let values: Vec<String> = values
        .filter(|value| !value.is_empty())
        .map(|value| one(entry.arg, value.trim()))
        .collect();
    Some(format!("[{}]", values.join(", ")))
}

fn one(arg: &Arg, text: &str) -> String {
    let is_text = arg.get_value_parser().type_id() == TypeId::of::<String>();
    let is_number = || text.parse::<i64>().is_ok_and(|number| number.to_string() == text);
    if is_boolean(arg) || (!is_text && is_number()) {
        text.to_owned()
    } else {
        quoted(text)
    }
}

/// A basic string of TOML 1.0.
pub(super) fn quoted(text: &str) -> String {
    let mut quoted = String::from('"');
    for character in text.chars() {
        match character {
            '"' | '\\' => quoted.extend(['\\', character]),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            character if character.is_control() => {
                let _infallible = write!(quoted, "\\u{:04X}", u32::from(character));
            }
            character => quoted.push(character),
        }
    }
    quoted.push('"');
    quoted
}
