//! Suggestions for unknown flags. clap has its own, by a measure that finds nothing near short names: `--vsu`.

use std::ffi::OsString;

use clap::{
    Command,
    error::{ContextKind, ContextValue, Error, ErrorKind},
};
use plimsoll_load::nearest::nearest;

/// The error with the nearest flag of the command, if it is about an unknown flag and has no suggestion yet.
pub(crate) fn suggest(mut error: Error, program: &Command, arguments: &[OsString]) -> Error {
    if error.kind() != ErrorKind::UnknownArgument || error.get(ContextKind::SuggestedArg).is_some() {
        return error;
    }
    let Some(ContextValue::String(flag)) = error.get(ContextKind::InvalidArg) else {
        return error;
    };
    let Some(name) = flag.strip_prefix("--") else {
        return error;
    };
    let command = command_of(program, arguments);
    let visible = command.get_arguments().filter(|argument| !argument.is_hide_set());
    let names = visible.flat_map(|argument| argument.get_long_and_visible_aliases().unwrap_or_default());
    if let Some(nearest) = nearest(name, names) {
        let suggestion = format!("--{nearest}");
        error.insert(ContextKind::SuggestedArg, ContextValue::String(suggestion));
    }
    error
}

/// The command that the arguments name.
fn command_of<'c>(program: &'c Command, arguments: &[OsString]) -> &'c Command {
    let mut command = program;
    for argument in arguments.iter().skip(1) {
        match command.find_subcommand(argument) {
            Some(inner) => command = inner,
            None => break,
        }
    }
    command
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;
    use crate::cli::CommandLine;

    fn check(words: &str, expected: Option<&str>) {
        let arguments: Vec<OsString> = words.split(' ').map(OsString::from).collect();
        let error = CommandLine::command()
            .try_get_matches_from(&arguments)
            .unwrap_err();
        let error = suggest(error, &CommandLine::command(), &arguments);
        let suggestion = match error.get(ContextKind::SuggestedArg) {
            Some(ContextValue::String(flag)) => Some(flag.as_str()),
            _ => None,
        };
        assert_eq!(suggestion, expected, "{words}");
    }

    #[test]
    fn unknown_flags_have_the_nearest_one_of_their_command() {
        check("plimsoll run --vsu 3 x.js", Some("--vus"));
        check("plimsoll run --duratoin 3s x.js", Some("--duration"));
        check("plimsoll serve --prot 3", Some("--port"));
        check("plimsoll check --fromat json x.js", Some("--format"));
        check("plimsoll run --nothing-like-it x.js", None);
    }
}
