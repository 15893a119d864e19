//! One layer of settings: a file, the environment or old names on the command line, each value with its place.

use std::{collections::BTreeMap, fmt};

use super::{
    catalog::{Meaning, is_boolean, is_list, upper_snake},
    renamed::{Renamed, Sets},
    table::{SETTINGS, Setting},
};

/// The place of a value. Messages begin with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Origin {
    /// A settings file; line and column count from 1.
    File {
        path: String,
        line: usize,
        column: usize,
        key: String,
    },
    /// A variable of the environment.
    Variable(String),
    /// A flag.
    Flag(String),
}

/// A value as it was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Given {
    /// A string, number or boolean.
    One(String),
    /// A list.
    Several(Vec<String>),
}

impl Given {
    fn is_empty(&self) -> bool {
        match self {
            Self::One(text) => text.is_empty(),
            Self::Several(values) => values.is_empty(),
        }
    }
}

/// The value of one setting in one layer.
#[derive(Debug, Clone)]
pub(super) struct Assignment {
    /// The value as written after the flag; `true` or `false` for a switch.
    pub(super) value: String,
    pub(super) origin: Origin,
}

/// The settings of one layer.
#[derive(Debug, Default)]
pub(super) struct Layer {
    /// The assignments by flag.
    pub(super) assignments: BTreeMap<&'static str, Assignment>,
    /// Warnings about settings without effect.
    pub(super) warnings: Vec<String>,
    /// Errors that prevent the start of the server.
    pub(super) errors: Vec<String>,
}

impl Layer {
    /// Adds a value. The first value of a setting stays; old names only set settings without a value.
    pub(super) fn note(&mut self, meaning: Meaning<'_>, given: Given, origin: Origin) {
        // An empty value is how environments and templates spell "not given".
        if given.is_empty() {
            return;
        }
        match meaning {
            Meaning::Setting(setting, arg) => match text(setting, arg, given) {
                Ok(value) => self.assign(setting.flag, value, origin),
                Err(wrong) => self.errors.push(format!("{origin}: {wrong}")),
            },
            Meaning::Unsupported(option) => {
                if !(option.is_switch && is_off(&given)) {
                    self.warnings
                        .push(format!("{origin} is not supported: {}", option.instead));
                }
            }
            Meaning::Renamed(renamed) => self.note_renamed(renamed, given, &origin),
        }
    }

    fn note_renamed(&mut self, renamed: &Renamed, given: Given, origin: &Origin) {
        if renamed.is_switch && is_off(&given) {
            return;
        }
        let Given::One(value) = given else {
            self.errors
                .push(format!("{origin}: expected one value, not a list"));
            return;
        };
        let names: Vec<String> = renamed
            .sets
            .iter()
            .map(|(flag, sets)| match sets {
                Sets::Same => origin.sibling(flag),
                Sets::To(value) => format!("{}={value}", origin.sibling(flag)),
            })
            .collect();
        self.warnings
            .push(format!("{origin} is an old name; use {}.", names.join(" and ")));
        for (flag, sets) in renamed.sets {
            let value = match sets {
                Sets::Same => value.clone(),
                Sets::To(value) => (*value).to_owned(),
            };
            self.assign(flag, value, origin.clone());
        }
    }

    fn assign(&mut self, flag: &'static str, value: String, origin: Origin) {
        self.assignments
            .entry(flag)
            .or_insert(Assignment { value, origin });
    }
}

/// The value as it would be written behind the flag.
fn text(setting: &Setting, arg: &clap::Arg, given: Given) -> Result<String, String> {
    match given {
        Given::Several(values) if is_list(setting, arg) => Ok(values.join(",")),
        Given::Several(_) => Err("expected one value, not a list".to_owned()),
        Given::One(text) if is_boolean(arg) => match boolean(&text) {
            Some(value) => Ok(value.to_string()),
            None => Err(format!("expected true or false, not {text:?}")),
        },
        Given::One(text) => Ok(text),
    }
}

/// The common words for on and off, in any case.
pub(super) fn boolean(text: &str) -> Option<bool> {
    match text.to_lowercase().as_str() {
        "true" | "t" | "1" | "yes" | "y" | "on" => Some(true),
        "false" | "f" | "0" | "no" | "n" | "off" => Some(false),
        _ => None,
    }
}

fn is_off(given: &Given) -> bool {
    matches!(given, Given::One(text) if boolean(text) == Some(false))
}

impl Origin {
    /// The name of the setting in the same place.
    fn sibling(&self, flag: &str) -> String {
        let of_file = || SETTINGS.iter().find(|setting| setting.flag == flag)?.key;
        match self {
            Self::File { .. } => of_file().unwrap_or(flag).to_owned(),
            Self::Variable(name) => {
                let prefix = name.split_inclusive('_').next().unwrap_or_default();
                format!("{prefix}{}", upper_snake(flag))
            }
            Self::Flag(_) => format!("--{flag}"),
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File {
                path,
                line,
                column,
                key,
            } => write!(f, "{path}:{line}:{column}: {key}"),
            Self::Variable(name) => f.write_str(name),
            Self::Flag(flag) => write!(f, "--{flag}"),
        }
    }
}
