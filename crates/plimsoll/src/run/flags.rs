//! The flags for options, which scripts have in `options`, configuration files as keys and the environment as `K6_*`
//! variables. One table; `plimsoll_load` defines the type of each option.

use clap::{ArgMatches, Args, Command, FromArgMatches, error::Error};
use plimsoll_load::plan::{Options, OptionsError};

mod flag;
mod table;

use self::{flag::Flag, table::FLAGS};

/// The options on the command line, as they were typed.
#[derive(Clone, Debug, Default)]
pub(super) struct OptionFlags {
    typed: Vec<(&'static Flag, String)>,
}

impl OptionFlags {
    /// The layer that they are.
    pub(super) fn layer(&self) -> Result<Options, OptionsError> {
        let mut options = Options::default();
        for (flag, text) in &self.typed {
            options
                .set_text(flag.key, text)
                .map_err(|error| error.at(flag.key, &format!("--{}", flag.long)))?;
        }
        Ok(options)
    }
}

/// The flag that sets an option, for error texts.
pub(super) fn flag_of(key: &str) -> Option<String> {
    let flag = FLAGS.iter().find(|flag| flag.key == key)?;
    Some(format!("--{}", flag.long))
}

/// The option that a flag sets.
#[cfg(test)]
pub(super) fn key_of(long: &str) -> Option<&'static str> {
    let flag = FLAGS.iter().find(|flag| flag.long == long)?;
    Some(flag.key)
}

impl Args for OptionFlags {
    fn augment_args(command: Command) -> Command {
        command.args(FLAGS.iter().map(Flag::arg))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for OptionFlags {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let typed = FLAGS.iter().filter_map(|flag| {
            let values = matches.get_many::<String>(flag.long)?;
            Some((flag, values.cloned().collect::<Vec<_>>().join(",")))
        });
        Ok(Self {
            typed: typed.collect(),
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use clap::Parser;
    use serde_json::{Value, json};

    use super::*;

    #[derive(Debug, Parser)]
    struct Program {
        #[command(flatten)]
        options: OptionFlags,
    }

    fn layer(arguments: &str) -> Result<Value, String> {
        let arguments = ["plimsoll"].into_iter().chain(arguments.split_whitespace());
        let program = Program::try_parse_from(arguments).map_err(|error| error.to_string())?;
        let options = program.options.layer().map_err(|error| error.to_string())?;
        Ok(serde_json::to_value(options).unwrap())
    }

    #[test]
    fn flags_become_options() {
        for (arguments, expected) in [
            ("", json!({})),
            ("-u 5 -i 20", json!({ "vus": 5, "iterations": 20 })),
            (
                "--vus=5 --duration 1m30s",
                json!({ "vus": 5, "duration": "1m30s" }),
            ),
            (
                "-s 10s:5 --stage 1m:0,5s:3",
                json!({ "stages": [{ "duration": "10s", "target": 5 }, { "duration": "1m", "target": 0 },
                                   { "duration": "5s", "target": 3 }] }),
            ),
            (
                "--tag team=chat --tag stage=test",
                json!({ "tags": { "team": "chat", "stage": "test" } }),
            ),
            (
                "-w --no-setup=false -p=true",
                json!({ "throw": true, "noSetup": false, "paused": true }),
            ),
            ("--http-debug", json!({ "httpDebug": "headers" })),
            ("--http-debug=full", json!({ "httpDebug": "full" })),
            (
                "--blacklist-ip 10.0.0.0/8,::1 --block-hostnames *.test",
                json!({ "blacklistIPs": ["10.0.0.0/8", "::1"], "blockHostnames": ["*.test"] }),
            ),
            (
                "--summary-trend-stats avg,p(99.9)",
                json!({ "summaryTrendStats": ["avg", "p(99.9)"] }),
            ),
        ] {
            assert_eq!(layer(arguments), Ok(expected), "{arguments}");
        }
    }

    #[test]
    fn errors_name_the_flag() {
        for (arguments, expected) in [
            (
                "-u ten",
                "--vus: expected a whole number, for example 10, found `ten`",
            ),
            (
                "-u -1",
                "--vus: expected a whole number, for example 10, found `-1`",
            ),
            (
                "--stage 10s",
                "--stage: expected stages as duration:target, for example 30s:10,1m:50, found `10s`",
            ),
            (
                "--stage 1x:5",
                "--stage[0].duration: expected a duration, for example \"1m30s\", or a number of milliseconds, \
                 found \"1x\"",
            ),
            (
                "--paused=maybe",
                "--paused: expected true or false, found `maybe`",
            ),
        ] {
            assert_eq!(layer(arguments), Err(expected.to_owned()), "{arguments}");
        }
    }

    #[test]
    fn every_flag_is_for_an_option_that_exists() {
        let keys: BTreeSet<_> = FLAGS.iter().map(|flag| flag.key).collect();
        assert!(keys.is_subset(&Options::names().collect()));
        assert_eq!(keys.len(), FLAGS.len(), "one flag per option");
    }
}
