//! `plimsoll bench echo`

use std::time::Duration;

use clap::Args;

use super::{
    ClientArgs,
    counts::{at_least_one, padding},
    delay::{parse_go_duration, wait_seconds},
};

/// The examples under the help text.
const EXAMPLES: &str = "\
Examples:
  plimsoll bench echo ws://127.0.0.1:8080/json --step-size 1000 --total-steps 3
  plimsoll bench echo ws://127.0.0.1:9001/ws --server-type echo --step-size 300 --total-steps 1

Exit codes: 0 all well; 1 the run could not be done; 2 wrong usage; 3 messages were lost or clients failed;
105 a signal ended the run; 111 an agent is missing.";

/// Connects clients step by step and lets random ones send a message to themselves.
#[derive(Debug, Clone, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct EchoArgs {
    #[command(flatten)]
    pub(crate) clients: ClientArgs,
    /// Number of messages in flight; the next is sent when one is back
    #[arg(long, short, value_name = "N", default_value_t = 50, value_parser = at_least_one)]
    pub(crate) concurrent: usize,
    /// Number of messages that each step sends
    #[arg(long, short, value_name = "N", default_value_t = 10_000, value_parser = at_least_one)]
    pub(crate) sample_size: usize,
    /// Number of steps; 0 continues until a step exceeds --limit-rtt
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) total_steps: usize,
    /// Number of clients that connect at the same time
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = at_least_one)]
    pub(crate) connect_concurrent: usize,
    /// Percentile that is printed first and compared with --limit-rtt
    #[arg(long, value_name = "P", default_value_t = 95, value_parser = clap::value_parser!(u8).range(0..=100))]
    pub(crate) limit_percentile: u8,
    /// Without --total-steps, the first step above this round-trip time is the last
    #[arg(long, value_name = "DURATION", default_value = "500ms", value_parser = parse_go_duration)]
    pub(crate) limit_rtt: Duration,
    /// Bytes of padding in each message
    #[arg(long, value_name = "BYTES", default_value_t = 0, value_parser = padding)]
    pub(crate) payload_padding: usize,
    /// Time limit for an echo
    #[arg(long, value_name = "SECONDS", default_value = "60", value_parser = wait_seconds)]
    pub(crate) answer_timeout: Duration,
}
