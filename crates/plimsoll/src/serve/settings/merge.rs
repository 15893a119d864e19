//! Several layers made one: of each setting the strongest value that was not typed and that nothing above excludes.

use std::{
    collections::BTreeMap,
    ffi::{OsStr, OsString},
};

use clap::{Arg, ArgMatches, Command};

use super::{
    catalog::{argument, is_switch, upper_snake, without_rules},
    layer::{Assignment, Layer, Origin},
    table::{self, Secrecy},
    typed::is_typed,
};
use crate::numbers::explained;

/// Values by flag, and warnings.
type Merged = (BTreeMap<&'static str, Assignment>, Vec<String>);

/// Takes one layer after the other, strongest first.
pub(super) struct Merger<'a> {
    serve: &'a Command,
    typed: &'a ArgMatches,
    /// Parses one value on its own.
    checker: Command,
    merged: BTreeMap<&'static str, Assignment>,
    warnings: Vec<String>,
    errors: Vec<String>,
}

impl<'a> Merger<'a> {
    /// A merger for the layers below the `typed` command line.
    pub(super) fn new(serve: &'a Command, typed: &'a ArgMatches) -> Self {
        Self {
            serve,
            typed,
            checker: serve.clone().mut_args(without_rules),
            merged: BTreeMap::new(),
            warnings: Vec::new(),
            errors: Vec::new(),
        }
    }

    /// Takes the next weaker layer. Values that do not count are checked all the same.
    pub(super) fn take(mut self, layer: Layer) -> Self {
        self.warnings.extend(layer.warnings);
        self.errors.extend(layer.errors);
        let mut accepted = Vec::new();
        for (flag, assignment) in layer.assignments {
            let Some(arg) = argument(self.serve, flag) else {
                continue;
            };
            self.check(arg, flag, &assignment);
            let has_stronger = is_typed(self.typed, arg.get_id().as_str()) || self.merged.contains_key(flag);
            if !has_stronger && !self.is_excluded(arg, flag, &assignment) {
                accepted.push((flag, assignment));
            }
        }
        self.merged.extend(accepted);
        self
    }

    /// The effective values with warnings, or all errors.
    pub(super) fn finish(self) -> Result<Merged, Vec<String>> {
        if self.errors.is_empty() {
            Ok((self.merged, self.warnings))
        } else {
            Err(self.errors)
        }
    }

    fn check(&mut self, arg: &Arg, flag: &str, assignment: &Assignment) {
        let Some(argument) = spelled(arg, assignment) else {
            return;
        };
        let Err(error) = self
            .checker
            .try_get_matches_from_mut([OsStr::new("serve"), &argument])
        else {
            return;
        };
        let mut reason = reason(&explained(error, self.serve));
        if let Some(masked) = table::secrecy(flag).masked(&assignment.value) {
            // Some texts show it with quotes and backslashes escaped.
            let escaped = assignment.value.escape_debug().to_string();
            for spelling in [&assignment.value, &escaped] {
                reason = reason.replace(spelling.as_str(), &masked);
            }
        }
        let hint = match &assignment.origin {
            Origin::Variable(name) if table::is_of_platforms(name) => {
                format!(" (PLIMSOLL_{} wins over {name})", upper_snake(flag))
            }
            _ => String::new(),
        };
        self.errors.push(format!("{}: {reason}{hint}", assignment.origin));
    }

    /// Whether something of a layer above contradicts, which is then named.
    fn is_excluded(&mut self, arg: &Arg, flag: &str, assignment: &Assignment) -> bool {
        let Some(other) = self.excluded_by(arg) else {
            return false;
        };
        let origin = &assignment.origin;
        match table::secrecy(flag) {
            // Without its secret a server might accept every client.
            Secrecy::Secret => self.errors.push(format!(
                "{origin}: cannot be combined with {other}; remove one of them"
            )),
            Secrecy::Public | Secrecy::Credentials => self.warnings.push(format!(
                "{origin} has no effect: it cannot be combined with {other}."
            )),
        }
        true
    }

    fn excluded_by(&self, arg: &Arg) -> Option<String> {
        self.serve.get_arguments().find_map(|other| {
            let flag = other.get_long()?;
            let origin = match self.merged.get(flag) {
                // A switch that is off excludes nothing.
                Some(assignment) if spelled(other, assignment).is_none() => return None,
                Some(assignment) => assignment.origin.to_string(),
                None if is_typed(self.typed, other.get_id().as_str()) => format!("--{flag}"),
                None => return None,
            };
            exclude_each_other(self.serve, arg, other).then_some(origin)
        })
    }
}

/// The value as an argument; `None` for a switch that is off.
pub(super) fn spelled(arg: &Arg, assignment: &Assignment) -> Option<OsString> {
    let flag = arg.get_long()?;
    if is_switch(arg) {
        (assignment.value == "true").then(|| format!("--{flag}").into())
    } else {
        Some(format!("--{flag}={}", assignment.value).into())
    }
}

fn exclude_each_other(serve: &Command, one: &Arg, other: &Arg) -> bool {
    let excludes = |one: &Arg, other: &Arg| {
        serve
            .get_arg_conflicts_with(one)
            .iter()
            .any(|it| it.get_id() == other.get_id())
    };
    excludes(one, other) || excludes(other, one)
}

/// Clap's message on one line, without its pointer to `--help`.
fn reason(error: &clap::Error) -> String {
    let text = error.to_string();
    let text = text.strip_prefix("error: ").unwrap_or(&text);
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let told: Vec<&str> = lines
        .take_while(|line| !line.starts_with("For more information"))
        .collect();
    told.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layer(flag: &'static str) -> Layer {
        let assignment = Assignment {
            value: "x".to_owned(),
            origin: Origin::Variable(flag.to_owned()),
        };
        Layer {
            assignments: BTreeMap::from([(flag, assignment)]),
            ..Layer::default()
        }
    }

    /// Merges a stronger and a weaker layer, whose flags exclude each other.
    fn merge(stronger: &'static str, weaker: &'static str) -> Result<Merged, Vec<String>> {
        let arg = |flag: &'static str| Arg::new(flag).long(flag);
        let serve = Command::new("serve").args([arg(stronger), arg(weaker).conflicts_with(stronger)]);
        let typed = serve.clone().get_matches_from(["serve"]);
        Merger::new(&serve, &typed)
            .take(layer(stronger))
            .take(layer(weaker))
            .finish()
    }

    #[test]
    fn what_is_excluded_is_dropped_with_a_warning_but_never_a_secret() {
        let (merged, warnings) = merge("broadcast-key", "app").expect("a warning is enough");
        assert_eq!(merged.keys().collect::<Vec<_>>(), [&"broadcast-key"]);
        assert_eq!(
            warnings,
            ["app has no effect: it cannot be combined with broadcast-key."]
        );
        assert_eq!(
            merge("app", "broadcast-key").expect_err("a secret counts"),
            ["broadcast-key: cannot be combined with app; remove one of them"]
        );
    }
}
