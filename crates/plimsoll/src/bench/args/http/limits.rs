//! `-n` and `-t`, of which the order matters, as in ab: `-t` after `-n` raises the number of requests to 50,000, and
//! `-n` after `-t` replaces that.

use std::time::Duration;

use clap::{ArgMatches, Args, Command, Error, FromArgMatches};

use super::super::delay::wait_seconds as seconds;

/// The limits of a run.
#[derive(Debug, Clone)]
pub(crate) struct Limits {
    /// The number of requests, if it counts.
    pub(crate) requests: Option<u64>,
    /// ab's time limit.
    pub(crate) timelimit: Option<Duration>,
}

/// The flags as clap reads them.
#[derive(Debug, Args)]
struct Flags {
    /// Number of requests [default: 1; with -t 50000; with --duration no limit]
    #[arg(short = 'n', long, value_name = "N", value_parser = whole, allow_negative_numbers = true)]
    requests: Option<u64>,
    /// ab's time limit in seconds: at most 50000 requests in this time, or as many as a -n after it says
    #[arg(short, long, value_name = "SECONDS", value_parser = seconds, conflicts_with = "duration", allow_negative_numbers = true)]
    timelimit: Option<Duration>,
}

impl Args for Limits {
    fn augment_args(command: Command) -> Command {
        Flags::augment_args(command)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Flags::augment_args_for_update(command)
    }
}

impl FromArgMatches for Limits {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let Flags { requests, timelimit } = Flags::from_arg_matches(matches)?;
        let place = |flag| matches.index_of(flag);
        let is_raised = place("timelimit") > place("requests");
        Ok(Self {
            requests: requests.filter(|_| !is_raised),
            timelimit,
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

fn whole(text: &str) -> Result<u64, String> {
    match text.parse() {
        Ok(n) if n > 0 => Ok(n),
        _ => Err("expected a number of at least 1".to_owned()),
    }
}
