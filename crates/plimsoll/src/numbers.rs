//! The message about an argument that should be a number. It names the expected number, in place of the words of
//! Rust's and clap's parsers, for all commands, variables and keys of settings files.

use std::{borrow::Cow, error::Error as _, num::ParseFloatError, num::ParseIntError};

use crate::unknown_flags;

use clap::{
    Arg, Command, Error, Parser,
    builder::ValueParser,
    error::{ContextKind, ContextValue, ErrorKind},
};

/// Reads arguments, with [`explained`] mistakes. On wrong usage clap prints the mistake and ends the process with
/// code 2.
pub(crate) fn parse<P: Parser>(arguments: impl IntoIterator<Item: Into<std::ffi::OsString> + Clone>) -> P {
    let arguments: Vec<_> = arguments.into_iter().map(Into::into).collect();
    P::try_parse_from(&arguments).unwrap_or_else(|error| {
        let program = P::command();
        let error = unknown_flags::suggest(error, &program, &arguments);
        explained(error, &program).exit()
    })
}

/// The mistake with the expected number, if it is about a number of `program`, and without the user, the
/// password and the tokens of a URL.
pub(crate) fn explained(error: Error, program: &Command) -> Error {
    redacted(with_number(error, program), program)
}

/// Terminals are recorded, and what services write is kept.
fn redacted(error: Error, program: &Command) -> Error {
    // An argument that was not expected may be a URL, too, and so may be what stands for a command.
    let kinds = [
        ContextKind::InvalidValue,
        ContextKind::InvalidArg,
        ContextKind::InvalidSubcommand,
    ];
    let value = kinds.iter().find_map(|kind| error.get(*kind));
    let Some(ContextValue::String(value)) = value else {
        return error;
    };
    let text = error.to_string();
    let text = text.strip_prefix("error: ").unwrap_or(&text);
    if is_about_secret(&error) {
        let text = text.replace(&format!("'{value}'"), "'***'");
        return Error::raw(error.kind(), text).with_cmd(program);
    }
    let Cow::Owned(shown) = plimsoll_redacted::url_with_query(value) else {
        return error;
    };
    // Some texts show it with quotes and backslashes escaped.
    let text = text
        .replace(value.as_str(), &shown)
        .replace(&value.escape_debug().to_string(), &shown);
    Error::raw(error.kind(), text).with_cmd(program)
}

fn is_about_secret(error: &Error) -> bool {
    let has_value = error.get(ContextKind::InvalidValue).is_some();
    let arg = error.get(ContextKind::InvalidArg);
    has_value && matches!(arg, Some(ContextValue::String(arg)) if arg.contains("-secret"))
}

fn with_number(error: Error, program: &Command) -> Error {
    if error.kind() != ErrorKind::ValueValidation {
        return error;
    }
    let Some(source) = error.source() else {
        return error;
    };
    let (Some(ContextValue::String(arg)), Some(ContextValue::String(value))) = (
        error.get(ContextKind::InvalidArg),
        error.get(ContextKind::InvalidValue),
    ) else {
        return error;
    };
    let expected = if source.is::<ParseFloatError>() {
        "expected a number".to_owned()
    } else if source.is::<ParseIntError>() {
        whole(common_range(program, arg).as_deref())
    } else if let Some(range) = range_in(&source.to_string()) {
        whole(Some(&range))
    } else {
        return error;
    };
    // Reason for the blank line and the last one: clap ends its own messages so.
    let text = format!(
        "invalid value '{}' for '{arg}': {expected}\n\nFor more information, try '--help'.\n",
        value.escape_debug()
    );
    Error::raw(ErrorKind::ValueValidation, text).with_cmd(program)
}

fn whole(range: Option<&str>) -> String {
    match range {
        Some(range) => format!("expected a whole number {range}"),
        None => "expected a whole number".to_owned(),
    }
}

/// The range in clap's message about a number outside of it, in words.
fn range_in(text: &str) -> Option<String> {
    let (_, range) = text.split_once(" is not in ")?;
    let (least, most) = range.split_once("..=")?;
    let is_number = |text: &str| text.parse::<i128>().is_ok();
    (is_number(least) && is_number(most)).then(|| format!("from {least} to {most}"))
}

/// The range of the option that is shown as `shown`, when all commands that have it agree.
fn common_range(program: &Command, shown: &str) -> Option<String> {
    let mut program = program.clone();
    program.build();
    let mut ranges = Vec::new();
    collect_ranges(&program, shown, &mut ranges);
    ranges.dedup();
    match &mut ranges[..] {
        [range] => range.take(),
        _ => None,
    }
}

fn collect_ranges(command: &Command, shown: &str, ranges: &mut Vec<Option<String>>) {
    let named = command.get_arguments().filter(|arg| arg.to_string() == shown);
    ranges.extend(named.map(|arg| range(arg.get_value_parser())));
    for subcommand in command.get_subcommands() {
        collect_ranges(subcommand, shown, ranges);
    }
}

/// clap keeps ranges to itself, and says them of a number that is outside.
fn range(parser: &ValueParser) -> Option<String> {
    let probe = Arg::new("n").long("n").value_parser(parser.clone());
    let error = Command::new("range")
        .arg(probe)
        .try_get_matches_from(["range", &format!("--n={}", i64::MAX)])
        .err()?;
    range_in(&error.source()?.to_string())
}

#[cfg(test)]
mod tests {
    use clap::value_parser;

    use super::*;

    fn program() -> Command {
        let number = |name: &'static str, parser: ValueParser| Arg::new(name).long(name).value_parser(parser);
        Command::new("program")
            .arg(number("port", value_parser!(u16).into()))
            .arg(number("factor", value_parser!(f64).into()))
            .arg(number("clients", value_parser!(usize).into()))
            .subcommand(Command::new("one").arg(number("n", value_parser!(u16).range(1..=9).into())))
            .subcommand(Command::new("other").arg(number("n", value_parser!(u8).into())))
    }

    #[test]
    fn the_number_that_was_expected_is_said() {
        for (arguments, expected) in [
            (
                "--port x",
                "'x' for '--port <port>': expected a whole number from 0 to 65535",
            ),
            (
                "--port 70000",
                "'70000' for '--port <port>': expected a whole number from 0 to 65535",
            ),
            (
                "--port 99999999999999999999",
                "'99999999999999999999' for '--port <port>': expected a whole number from 0 to 65535",
            ),
            ("--factor x", "'x' for '--factor <factor>': expected a number"),
            (
                "--clients 1.5",
                "'1.5' for '--clients <clients>': expected a whole number",
            ),
            (
                "one --n 10",
                "'10' for '--n <n>': expected a whole number from 1 to 9",
            ),
            // Two options of this name have other ranges.
            ("one --n x", "'x' for '--n <n>': expected a whole number"),
        ] {
            let arguments = ["program"].into_iter().chain(arguments.split(' '));
            let error = program().try_get_matches_from(arguments).unwrap_err();
            assert_eq!(
                explained(error, &program()).to_string(),
                format!("error: invalid value {expected}\n\nFor more information, try '--help'.\n")
            );
        }
    }

    #[test]
    fn other_mistakes_stay_as_they_are() {
        for arguments in [["program", "--prot"], ["program", "two"]] {
            let error = program().try_get_matches_from(arguments).unwrap_err();
            let before = error.to_string();
            assert_eq!(explained(error, &program()).to_string(), before);
        }
    }

    #[test]
    fn what_a_url_hides_is_not_said_again() {
        fn refuse(text: &str) -> Result<String, String> {
            Err(format!("{text:?} is of no use"))
        }
        let program = Command::new("program")
            .arg(Arg::new("url").long("url").value_parser(refuse))
            .arg(
                Arg::new("secret")
                    .long("admin-secret")
                    .value_parser(|_: &str| Err::<String, _>("too short")),
            );
        let error = program
            .clone()
            .try_get_matches_from(["program", "--admin-secret", "s"])
            .unwrap_err();
        let text = explained(error, &program).to_string();
        assert!(
            text.contains("invalid value '***' for '--admin-secret <secret>': too short"),
            "{text}"
        );
        let group = program.clone().subcommand(Command::new("one"));
        for (program, url, shown) in [
            (
                &program,
                "redis://:s@h",
                "unexpected argument 'redis://***@h' found",
            ),
            (
                &program,
                "ws://h?token=s",
                "unexpected argument 'ws://h?token=***' found",
            ),
            (
                &group,
                "ws://h?token=s",
                "unrecognized subcommand 'ws://h?token=***'",
            ),
        ] {
            let error = program
                .clone()
                .try_get_matches_from(["program", url])
                .unwrap_err();
            let text = explained(error, program).to_string();
            assert!(text.contains(shown) && !text.contains("=s"), "{text}");
        }
        for (url, shown) in [
            (
                "redis://:sec\\/ret@h",
                "'redis://***@h' for '--url <url>': \"redis://***@h\" is of no use",
            ),
            (
                "wss//h?jid=s&author=kay",
                "'wss//h?jid=***&author=kay' for '--url <url>': \"wss//h?jid=***&author=kay\" is of no use",
            ),
            ("a b", "'a b' for '--url <url>': \"a b\" is of no use"),
        ] {
            let arguments = ["program", "--url", url];
            let error = program.clone().try_get_matches_from(arguments).unwrap_err();
            let text = explained(error, &program).to_string();
            assert_eq!(text.matches(shown).count(), 1, "{text}");
            assert!(
                text.contains("try '--help'") && text.starts_with("error: "),
                "{text}"
            );
        }
    }
}
