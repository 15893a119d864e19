//! `plimsoll bench connect`

use clap::Args;

use super::{ClientArgs, counts::at_least_one};

/// The examples under the help text.
const EXAMPLES: &str = "\
Examples:
  plimsoll bench connect ws://127.0.0.1:8080/cable --server-type=actioncable-connect --concurrent 2000 \\
      --step-size 5000 --total-steps 2
  plimsoll bench connect ws://127.0.0.1:9001/ws --server-type echo --step-size 1000 --total-steps 1

Exit codes: 0 all well; 1 the run could not be done; 2 wrong usage; 3 clients failed;
105 a signal ended the run; 111 an agent is missing.";

/// Connects clients and measures how long each takes until it is ready.
#[derive(Debug, Clone, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ConnectArgs {
    #[command(flatten)]
    pub(crate) clients: ClientArgs,
    /// Number of clients that connect at the same time; the next begins when one is ready
    #[arg(long, short, value_name = "N", default_value_t = 50, value_parser = at_least_one)]
    pub(crate) concurrent: usize,
    /// Number of steps; 0 continues until a signal or until a step in which no client becomes ready
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) total_steps: usize,
}
