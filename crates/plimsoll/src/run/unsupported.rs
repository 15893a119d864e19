//! Unsupported flags of k6. Each one is refused with an alternative, before the run starts.

use clap::{Arg, ArgMatches, Args, Command, FromArgMatches, error::Error};

/// A flag or command and the alternative.
type Unsupported = (&'static str, &'static str);

const NO_CLOUD: &str =
    "there is no cloud service; results go to the terminal, to --summary-export and to --out";

/// Flags.
pub(crate) const FLAGS: &[Unsupported] = &[
    (
        "traces-output",
        "traces are not supported; --http-debug and --websocket-debug show the messages",
    ),
    (
        "profiling-enabled",
        "the program has no profiling interface; use perf and other tools of the system",
    ),
    ("features", "there are no feature switches; remove it"),
    ("exit-on-running", NO_CLOUD),
    ("show-cloud-logs", NO_CLOUD),
    ("upload-only", NO_CLOUD),
    ("no-cloud-secrets", NO_CLOUD),
];

/// Those with a value; the others are switches.
const WITH_VALUE: [&str; 2] = ["traces-output", "features"];

/// Unsupported commands of k6, with alternatives.
pub(crate) const COMMANDS: &[Unsupported] = &[
    ("cloud", NO_CLOUD),
    ("login", NO_CLOUD),
    (
        "deps",
        "extensions are not supported; `plimsoll inspect` names an import that does not exist",
    ),
    ("x", "extensions are not supported; k6/x/cable is built in"),
    ("features", "there are no feature switches"),
];

/// Why k6's command of this name is not there.
pub(crate) fn command(name: &str) -> Option<String> {
    let (_, instead) = COMMANDS.iter().find(|(known, _)| *known == name)?;
    Some(format!("k6's command `{name}` is not supported: {instead}"))
}

/// The unsupported flag on the command line; `None` without one.
#[derive(Clone, Debug, Default)]
pub(super) struct UnsupportedFlags(Option<&'static Unsupported>);

impl UnsupportedFlags {
    /// Refuses the first of them.
    pub(super) fn refuse(&self) -> Result<(), String> {
        match self.0 {
            None => Ok(()),
            Some((flag, instead)) => Err(format!("--{flag} is not supported: {instead}")),
        }
    }
}

impl Args for UnsupportedFlags {
    fn augment_args(command: Command) -> Command {
        command.args(FLAGS.iter().map(|(flag, _)| {
            let arg = Arg::new(*flag).long(*flag).hide(true);
            // A switch must not take the script for its value.
            let has_value = WITH_VALUE.contains(flag);
            arg.num_args(usize::from(has_value)..=1)
                .require_equals(!has_value)
        }))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for UnsupportedFlags {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let is_typed = |(flag, _): &&Unsupported| {
            matches.value_source(flag) == Some(clap::parser::ValueSource::CommandLine)
        };
        Ok(Self(FLAGS.iter().find(is_typed)))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
