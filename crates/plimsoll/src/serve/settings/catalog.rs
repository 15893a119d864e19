//! The table joined with clap's arguments: the meaning of each flag, variable and key.

use std::{any::TypeId, collections::BTreeMap};

use clap::{Arg, ArgAction, Command, Id, builder::Resettable};
use plimsoll_load::nearest::nearest;

use super::{
    renamed::{RENAMED, Renamed},
    table::{SETTINGS, Setting, Shape, is_of_platforms},
    unsupported::{UNSUPPORTED, Unsupported},
};

/// The beginnings of the variables, strongest first: AnyCable's names are shared with the application's gem.
const PREFIXES: [&str; 2] = ["PLIMSOLL_", "ANYCABLE_"];

/// The meaning of a name.
#[derive(Debug, Clone, Copy)]
pub(super) enum Meaning<'a> {
    /// A setting, with the argument that says its type, default and help.
    Setting(&'static Setting, &'a Arg),
    /// An option of AnyCable's that has no effect.
    Unsupported(&'static Unsupported),
    /// An old name.
    Renamed(&'static Renamed),
}

/// The meaning of a variable of the environment.
#[derive(Debug, Clone, Copy)]
pub(super) struct Variable<'a> {
    pub(super) meaning: Meaning<'a>,
    /// The rank. Of several variables for one setting, the lowest rank counts.
    pub(super) rank: usize,
}

/// All names.
pub(super) struct Catalog<'a> {
    flags: BTreeMap<&'static str, Meaning<'a>>,
    keys: BTreeMap<&'static str, Meaning<'a>>,
    variables: BTreeMap<String, Variable<'a>>,
}

impl<'a> Catalog<'a> {
    /// Joins the tables with the arguments of `serve`.
    pub(super) fn new(serve: &'a Command) -> Self {
        let mut catalog = Self {
            flags: BTreeMap::new(),
            keys: BTreeMap::new(),
            variables: BTreeMap::new(),
        };
        for setting in SETTINGS {
            let Some(arg) = argument(serve, setting.flag) else {
                continue;
            };
            let meaning = Meaning::Setting(setting, arg);
            catalog.insert(Some(setting.flag), setting.key, meaning);
            if let Some(variable) = setting.variable {
                let rank = PREFIXES.len();
                catalog
                    .variables
                    .insert(variable.to_owned(), Variable { meaning, rank });
            }
        }
        for option in UNSUPPORTED {
            catalog.insert(option.flag, option.key, Meaning::Unsupported(option));
        }
        for renamed in RENAMED {
            catalog.insert(Some(renamed.flag), renamed.key, Meaning::Renamed(renamed));
        }
        catalog
    }

    fn insert(&mut self, flag: Option<&'static str>, key: Option<&'static str>, meaning: Meaning<'a>) {
        if let Some(key) = key {
            self.keys.insert(key, meaning);
        }
        let Some(flag) = flag else { return };
        self.flags.insert(flag, meaning);
        for (rank, prefix) in PREFIXES.into_iter().enumerate() {
            self.variables.insert(
                format!("{prefix}{}", upper_snake(flag)),
                Variable { meaning, rank },
            );
        }
    }

    /// The meaning of a flag, without its leading dashes.
    pub(super) fn flag(&self, name: &str) -> Option<Meaning<'a>> {
        self.flags.get(name).copied()
    }

    /// The meaning of a key of a settings file, with its section.
    pub(super) fn key(&self, key: &str) -> Option<Meaning<'a>> {
        self.keys.get(key).copied()
    }

    /// Whether a settings file has this section.
    pub(super) fn has_section(&self, section: &str) -> bool {
        let inside = |key: &&str| {
            key.strip_prefix(section)
                .is_some_and(|rest| rest.starts_with('.'))
        };
        self.keys.keys().any(inside)
    }

    /// The meaning of a variable of the environment.
    pub(super) fn variable(&self, name: &str) -> Option<Variable<'a>> {
        self.variables.get(name).copied()
    }

    /// The key that was probably meant: one like it, or the key of the flag that is called like it.
    pub(super) fn nearest_key(&self, wrong: &str) -> Option<&'static str> {
        let name = wrong.rsplit('.').next().unwrap_or(wrong);
        let of_flag = || match self.flag(&name.replace('_', "-"))? {
            Meaning::Setting(setting, _) => setting.key,
            Meaning::Unsupported(_) | Meaning::Renamed(_) => None,
        };
        let elsewhere = || {
            let mut same_name = self
                .supported_keys()
                .filter(|key| key.rsplit('.').next() == Some(name));
            let first = same_name.next()?;
            same_name.next().is_none().then_some(first)
        };
        of_flag()
            .or_else(|| nearest(wrong, self.supported_keys()))
            .or_else(elsewhere)
    }

    /// The section that was probably meant.
    pub(super) fn nearest_section(&self, wrong: &str) -> Option<&'static str> {
        nearest(
            wrong,
            self.keys.keys().filter_map(|key| Some(key.rsplit_once('.')?.0)),
        )
    }

    /// The variable that was probably meant.
    pub(super) fn nearest_variable(&self, wrong: &str) -> Option<&str> {
        nearest(wrong, self.variables.keys().map(String::as_str))
    }

    fn supported_keys(&self) -> impl Iterator<Item = &'static str> {
        self.keys
            .iter()
            .filter(|(_, meaning)| matches!(meaning, Meaning::Setting(..)))
            .map(|(key, _)| *key)
    }
}

/// Whether a variable can be a setting of this program: its own, AnyCable's, or one of a hosting platform.
pub(crate) fn is_setting(variable: &str) -> bool {
    PREFIXES.iter().any(|prefix| variable.starts_with(prefix)) || is_of_platforms(variable)
}

/// The argument without its rules about other flags.
pub(super) fn without_rules(arg: Arg) -> Arg {
    arg.requires(Resettable::<Id>::Reset)
        .conflicts_with(Resettable::<Id>::Reset)
}

/// The argument with this flag.
pub(super) fn argument<'a>(serve: &'a Command, flag: &str) -> Option<&'a Arg> {
    serve.get_arguments().find(|arg| arg.get_long() == Some(flag))
}

/// `ping-interval` → `PING_INTERVAL`.
pub(super) fn upper_snake(flag: &str) -> String {
    flag.to_uppercase().replace('-', "_")
}

/// Whether the argument is on or off.
pub(super) fn is_boolean(arg: &Arg) -> bool {
    is_switch(arg) || arg.get_value_parser().type_id() == TypeId::of::<bool>()
}

/// Whether the argument is on or off and takes no value on the command line.
pub(super) fn is_switch(arg: &Arg) -> bool {
    matches!(arg.get_action(), ArgAction::SetTrue)
}

/// Whether the setting takes several values.
pub(super) fn is_list(setting: &Setting, arg: &Arg) -> bool {
    setting.shape != Shape::OfArgument || arg.get_value_delimiter().is_some()
}
