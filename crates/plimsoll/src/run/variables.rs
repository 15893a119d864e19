//! The `K6_*` variables of flags that are not options of scripts: they become arguments in front of those that were
//! typed, so that every value goes through clap.

use std::ffi::OsString;

use clap::{ArgAction, Command, parser::ValueSource};

use super::{dashboard, mistake::Mistake};
use crate::{
    exit::{Failure, TestFailure},
    surroundings::Surroundings,
};

/// Variables and their flags; `None` for a variable without effect.
const VARIABLES: &[(&str, &str)] = &[
    ("K6_INCLUDE_SYSTEM_ENV_VARS", "include-system-env-vars"),
    ("K6_COMPATIBILITY_MODE", "compatibility-mode"),
    ("K6_TYPE", "type"),
    ("K6_CONFIG", "config"),
    ("K6_SECRET_SOURCE", "secret-source"),
    ("K6_OUT", "out"),
    ("K6_SUMMARY_MODE", "summary-mode"),
    ("K6_SUMMARY_EXPORT", "summary-export"),
    ("K6_NEW_MACHINE_READABLE_SUMMARY", "new-machine-readable-summary"),
    ("K6_NO_SUMMARY", "no-summary"),
    ("K6_NO_THRESHOLDS", "no-thresholds"),
    ("K6_LOG_OUTPUT", "log-output"),
    ("K6_LOG_FORMAT", "log-format"),
    ("K6_NO_COLOR", "no-color"),
    ("K6_ADDRESS", "address"),
    ("K6_LINGER", "linger"),
];

/// Variables of k6 for things that are not there, with the values that ask for nothing and with alternatives.
const REFUSED: &[(&str, &[&str], &str)] = &[
    (
        "K6_TRACES_OUTPUT",
        &["none"],
        "traces are not supported; --http-debug and --websocket-debug show the messages",
    ),
    (
        "K6_PROFILING_ENABLED",
        &["false", "0"],
        "the program has no profiling interface; use perf and other tools of the system",
    ),
    (
        "K6_TLSAUTH",
        &["null", "[]"],
        "client certificates are an option of scripts and of the configuration file, `tlsAuth`",
    ),
    (
        "K6_FEATURES",
        &[],
        "there are no feature switches; unset the variable",
    ),
];

/// Refuses variables that ask for what is not there.
fn refuse(surroundings: &Surroundings<'_>) -> Result<(), Failure> {
    for (variable, neutral, instead) in REFUSED {
        let asks = surroundings
            .variable(variable)
            .is_some_and(|value| !neutral.contains(&value));
        if asks {
            let mistake = Mistake::new(variable, format!("not supported: {instead}"));
            return Err(TestFailure::InvalidOptions.because(mistake));
        }
    }
    Ok(())
}

/// The variable of a flag.
#[cfg(test)]
pub(super) fn of_flag(long: &str) -> Option<&'static str> {
    let (variable, _) = VARIABLES.iter().find(|(_, flag)| *flag == long)?;
    Some(variable)
}

/// The arguments of the whole program, with those of variables behind the second, which names the command.
pub(crate) fn with_variables(
    program: &Command,
    arguments: Vec<OsString>,
    surroundings: &Surroundings<'_>,
) -> Result<Vec<OsString>, Failure> {
    refuse(surroundings)?;
    let Some(command) = arguments.get(1).and_then(|name| program.find_subcommand(name)) else {
        return Ok(arguments);
    };
    // When it is wrong, or asks for help, clap says so later.
    let Ok(typed) = program.clone().try_get_matches_from(&arguments) else {
        return Ok(arguments);
    };
    let is_typed = |flag: &str| {
        let of_command = typed.subcommand().map(|(_, matches)| matches);
        let source = of_command.and_then(|matches| matches.value_source(&flag.replace('-', "_")));
        source == Some(ValueSource::CommandLine)
    };
    let mut added = Vec::new();
    for (variable, flag) in VARIABLES {
        let arg = command.get_arguments().find(|arg| arg.get_long() == Some(flag));
        if let (Some(arg), Some(value)) = (arg, surroundings.variable(variable))
            && !is_typed(flag)
        {
            let is_switch = matches!(arg.get_action(), ArgAction::SetTrue);
            let argument = argument(program, &arguments, variable, flag, value, is_switch);
            added.extend(argument.map_err(|mistake| TestFailure::InvalidOptions.because(mistake))?);
        }
    }
    let (front, rest) = arguments.split_at(2);
    let all = front.iter().chain(&added).chain(rest).cloned().collect();
    if command.get_name() == "run" {
        return dashboard::translated(all, surroundings)
            .map_err(|mistake| TestFailure::InvalidOptions.because(mistake));
    }
    Ok(all)
}

/// The argument for the variable; `None` for a switch that is off.
fn argument(
    program: &Command,
    arguments: &[OsString],
    variable: &str,
    flag: &str,
    value: &str,
    is_switch: bool,
) -> Result<Option<OsString>, Mistake> {
    if is_switch {
        return match value {
            "true" | "1" => Ok(Some(format!("--{flag}").into())),
            "false" | "0" => Ok(None),
            _ => Err(Mistake::new(
                variable,
                format!("expected true or false, found `{value}`"),
            )),
        };
    }
    let argument = OsString::from(format!("--{flag}={value}"));
    let mut with_it = arguments.to_vec();
    with_it.insert(2, argument.clone());
    match program.clone().try_get_matches_from(with_it) {
        Ok(_) => Ok(Some(argument)),
        Err(error) => {
            let text = error.to_string();
            let paragraph = text.split("\n\n").next().unwrap_or_default();
            let words: Vec<_> = paragraph
                .trim_start_matches("error: ")
                .split_whitespace()
                .collect();
            Err(Mistake::new(variable, words.join(" ")))
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::cli::CommandLine;

    fn arguments(typed: &str, environment: &[(&str, &str)]) -> Result<String, String> {
        let surroundings = Surroundings::of_variables(environment);
        let typed = typed.split_whitespace().map(OsString::from).collect();
        match with_variables(&CommandLine::command(), typed, &surroundings) {
            Ok(arguments) => {
                let texts: Vec<_> = arguments
                    .iter()
                    .map(|argument| argument.to_str().unwrap())
                    .collect();
                Ok(texts.join(" "))
            }
            Err(Failure::Test(TestFailure::InvalidOptions, message)) => Err(message),
            Err(other) => panic!("{other:?}"),
        }
    }

    #[test]
    fn variables_stand_in_for_flags_that_are_not_typed() {
        for (typed, environment, expected) in [
            ("plimsoll run a.js", &[][..], "plimsoll run a.js"),
            (
                "plimsoll run a.js",
                &[
                    ("K6_SUMMARY_MODE", "legacy"),
                    ("K6_NO_THRESHOLDS", "true"),
                    ("K6_LINGER", "false"),
                ][..],
                "plimsoll run --summary-mode=legacy --no-thresholds a.js",
            ),
            (
                "plimsoll run -o json a.js",
                &[("K6_OUT", "csv"), ("K6_ADDRESS", "")][..],
                "plimsoll run -o json a.js",
            ),
            (
                "plimsoll inspect a.js",
                &[("K6_CONFIG", "c.json"), ("K6_OUT", "csv")][..],
                "plimsoll inspect --config=c.json a.js",
            ),
            (
                "plimsoll run --nonsense",
                &[("K6_OUT", "csv")][..],
                "plimsoll run --nonsense",
            ),
        ] {
            assert_eq!(arguments(typed, environment), Ok(expected.to_owned()), "{typed}");
        }
    }

    #[test]
    fn a_mistake_names_the_variable() {
        for (environment, expected) in [
            (
                ("K6_LOG_FORMAT", "xml"),
                "K6_LOG_FORMAT: invalid value 'xml' for '--log-format <FORMAT>' [possible values: text, json, raw]",
            ),
            (
                ("K6_TRACES_OUTPUT", "otel"),
                "K6_TRACES_OUTPUT: not supported: traces are not supported; --http-debug and --websocket-debug show the messages",
            ),
            (
                ("K6_NO_SUMMARY", "maybe"),
                "K6_NO_SUMMARY: expected true or false, found `maybe`",
            ),
        ] {
            assert_eq!(
                arguments("plimsoll run a.js", &[environment]),
                Err(expected.to_owned())
            );
        }
    }
}
