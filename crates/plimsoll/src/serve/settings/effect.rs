//! Settings that have no effect, because a setting that they belong to is off. They are named at start.

use std::collections::BTreeMap;

use clap::{Arg, ArgMatches, Command};

use super::{
    catalog::{argument, is_boolean},
    layer::{Assignment, Origin},
    table::{Condition, SETTINGS, Setting, is_of_platforms},
    typed::is_typed,
};

/// Warns of each setting without effect. `below` are the values that are not from the command line; `matches` has
/// them, too.
pub(super) fn warn_of_no_effect(
    serve: &Command,
    matches: &ArgMatches,
    below: &BTreeMap<&'static str, Assignment>,
) -> Vec<String> {
    let given = Given { serve, matches };
    SETTINGS
        .iter()
        .filter(|setting| given.is_changed(setting.flag))
        .filter_map(|setting| {
            let why = given.why_not(setting)?;
            let origin = below.get(setting.flag).map(|assignment| &assignment.origin);
            let name = match origin {
                // It may be there for another program.
                Some(Origin::Variable(name)) if is_of_platforms(name) => return None,
                Some(origin) => origin.to_string(),
                None => shown(setting.flag),
            };
            Some(format!("{name} has no effect {why}."))
        })
        .collect()
}

/// All settings of a start.
struct Given<'a> {
    serve: &'a Command,
    matches: &'a ArgMatches,
}

impl Given<'_> {
    /// Why a setting has no effect; `None` when it has.
    fn why_not(&self, setting: &Setting) -> Option<String> {
        if let Some(other) = setting.excluded_by.iter().find(|flag| self.is_set(flag)) {
            return Some(format!("beside {}", shown(other)));
        }
        if setting.needs.is_empty() || setting.needs.iter().any(|condition| self.holds(*condition)) {
            return None;
        }
        let names: Vec<String> = setting.needs.iter().filter_map(named).collect();
        Some(format!("without {}", names.join(" or ")))
    }

    fn holds(&self, condition: Condition) -> bool {
        match condition {
            Condition::Set(flag) => self.is_set(flag),
            Condition::Unset(flag) => !self.is_set(flag),
            Condition::Has(flag, value) => self.values(flag).iter().any(|given| given == value),
        }
    }

    /// Whether it is on, or has a value that is not its default.
    fn is_set(&self, flag: &str) -> bool {
        let is_off = |arg: &Arg| is_boolean(arg) && self.values(flag) == ["false"];
        self.is_changed(flag) && !argument(self.serve, flag).is_some_and(is_off)
    }

    fn is_changed(&self, flag: &str) -> bool {
        let Some(arg) = argument(self.serve, flag) else {
            return false;
        };
        let values = self.values(flag);
        let is_empty = values.iter().all(String::is_empty);
        let defaults = arg.get_default_values().iter();
        let is_default = defaults.eq(values.iter().map(String::as_str));
        is_typed(self.matches, arg.get_id().as_str()) && !is_empty && !is_default
    }

    /// The values as they were written; a switch has `true` or `false`.
    fn values(&self, flag: &str) -> Vec<String> {
        let raw = argument(self.serve, flag).and_then(|arg| self.matches.get_raw(arg.get_id().as_str()));
        raw.into_iter()
            .flatten()
            .map(|value| value.to_string_lossy().into_owned())
            .collect()
    }
}

/// The setting that a condition requires; `None` for a condition that excludes one.
fn named(condition: &Condition) -> Option<String> {
    match condition {
        Condition::Set(flag) => Some(shown(flag)),
        Condition::Has(flag, value) => Some(format!("{} {value}", shown(flag))),
        Condition::Unset(_) => None,
    }
}

/// `--sse_path`
fn shown(flag: &str) -> String {
    format!("--{}", flag.replace('-', "_"))
}
