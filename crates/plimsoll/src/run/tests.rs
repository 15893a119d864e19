//! Tests of the command line of `run`: its texts for people, and the effect of variables.

use clap::{CommandFactory, Parser};

use super::{Options, flags::OptionFlags};

mod reference;

#[derive(Debug, Parser)]
struct Program {
    #[command(flatten)]
    options: OptionFlags,
}

/// Parses flags as a user types them.
pub(super) fn option_flags(arguments: &str) -> OptionFlags {
    let arguments = ["plimsoll"].into_iter().chain(arguments.split_whitespace());
    Program::parse_from(arguments).options
}

#[test]
fn every_flag_has_help_and_a_headline() {
    let run = Options::command();
    let visible = run
        .get_arguments()
        .filter(|arg| !arg.is_hide_set() && !arg.is_positional());
    for arg in visible.filter(|arg| !["help", "version"].contains(&arg.get_id().as_str())) {
        assert!(arg.get_help().is_some(), "{arg}");
        assert!(arg.get_help_heading().is_some(), "{arg}");
    }
}
