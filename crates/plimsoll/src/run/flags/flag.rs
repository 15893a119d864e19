//! One flag that sets an option: its names, its help, and the form of its value.

use clap::{Arg, ArgAction};

/// A flag that sets an option.
#[derive(Debug)]
pub(in crate::run::flags) struct Flag {
    /// The option.
    pub(in crate::run::flags) key: &'static str,
    /// The flag, without its dashes.
    pub(in crate::run::flags) long: &'static str,
    pub(in crate::run::flags) short: Option<char>,
    pub(in crate::run::flags) form: Form,
    /// The heading of the flag in the help.
    pub(in crate::run::flags) heading: &'static str,
    pub(in crate::run::flags) help: &'static str,
}

/// The form of a flag's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::run::flags) enum Form {
    /// A value, with its name in the help.
    Value(&'static str),
    /// Several values, separated by commas or each after the flag.
    List(&'static str),
    /// No value, or `=true` or `=false`.
    Switch,
    /// No value, which means the first default, or `=` and a value.
    Optional(&'static str, &'static str),
}

impl Flag {
    pub(in crate::run::flags) fn arg(&self) -> Arg {
        let arg = Arg::new(self.long)
            .long(self.long)
            .help(self.help)
            .help_heading(self.heading);
        let arg = match self.short {
            Some(short) => arg.short(short),
            None => arg,
        };
        match self.form {
            Form::Value(name) => arg.value_name(name).allow_hyphen_values(true),
            Form::List(name) => arg.value_name(name).action(ArgAction::Append),
            Form::Switch => optional(arg, "true", "BOOL"),
            Form::Optional(preset, name) => optional(arg, preset, name),
        }
    }
}

fn optional(arg: Arg, preset: &'static str, name: &'static str) -> Arg {
    arg.value_name(name)
        .num_args(0..=1)
        .require_equals(true)
        .default_missing_value(preset)
}
