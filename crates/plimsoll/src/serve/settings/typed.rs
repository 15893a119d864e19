//! Which flags are on the command line.

use clap::{ArgMatches, parser::ValueSource};

/// Whether the flag with this id is on the command line, and not a default.
pub(super) fn is_typed(typed: &ArgMatches, id: &str) -> bool {
    typed.value_source(id) == Some(ValueSource::CommandLine)
}
