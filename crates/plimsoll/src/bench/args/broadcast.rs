//! `plimsoll bench broadcast`

use std::time::Duration;

use clap::Args;
use plimsoll_shootout::Rate;

use super::{
    ClientArgs,
    counts::{at_least_one, padding},
    delay::{parse_go_duration, span, wait_seconds},
};

/// The examples under the help text.
const EXAMPLES: &str = "\
Examples:
  plimsoll bench broadcast ws://127.0.0.1:8080/json --step-size 1000 --total-steps 3
  plimsoll bench broadcast ws://127.0.0.1:8080/cable --server-type=actioncable --concurrent 8 \\
      --sample-size 100 --step-size 1000 --payload-padding 200 --total-steps 10 --watch :8080 --ui
  plimsoll bench broadcast ws://127.0.0.1:8080/cable --server-type=actioncable --step-size 1000 \\
      --total-steps 3 --rate 5/s --duration 60s --threshold 'listener_delivery:p(99)<200'
  plimsoll bench broadcast ws://10.0.0.1:8080/cable ws://10.0.0.2:8080/cable --server-type=actioncable \\
      --step-size 1000 --total-steps 3
  plimsoll bench broadcast ws://10.0.0.1:8080/cable --server-type=actioncable --step-size 50000 \\
      --total-steps 1 --fleet nats://localhost:4222 --agents 3

Exit codes: 0 all well; 1 the run could not be done; 2 wrong usage; 3 messages were lost or clients failed;
105 a signal ended the run; 111 an agent is missing.";

/// Connects clients step by step and lets random ones broadcast to all.
#[derive(Debug, Clone, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct BroadcastArgs {
    #[command(flatten)]
    pub(crate) clients: ClientArgs,
    /// URLs of further servers of the same cluster: clients take turns at all servers, those of the first one send, and
    /// deliveries are counted for each server, too
    #[arg(value_name = "URL")]
    pub(crate) nodes: Vec<String>,
    /// Number of broadcasts in flight; the next is sent when one is acknowledged
    #[arg(long, short, value_name = "N", default_value_t = 4, value_parser = at_least_one, conflicts_with = "rate")]
    pub(crate) concurrent: usize,
    /// Number of broadcasts that each step sends
    #[arg(long, short, value_name = "N", default_value_t = 20, value_parser = at_least_one, conflicts_with = "rate")]
    pub(crate) sample_size: usize,
    /// Send broadcasts at this rate, whatever the server acknowledges (open model), for example 5/s or 30/m; times then
    /// count from the scheduled send. Needs --duration
    #[arg(
        long,
        value_name = "N[/UNIT]",
        requires = "duration",
        allow_hyphen_values = true
    )]
    pub(crate) rate: Option<Rate>,
    /// With --rate: how long each step sends, for example 60s
    #[arg(long, value_name = "DURATION", value_parser = span, requires = "rate", allow_hyphen_values = true)]
    pub(crate) duration: Option<Duration>,
    /// Number of steps; 0 continues until a step exceeds --limit-rtt
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) total_steps: usize,
    /// Number of clients that the first step connects; 0 means --step-size
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) initial_clients: usize,
    /// Number of clients that connect at the same time
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = at_least_one)]
    pub(crate) connect_concurrent: usize,
    /// Percentile that is printed first and compared with --limit-rtt
    #[arg(long, value_name = "P", default_value_t = 95, value_parser = clap::value_parser!(u8).range(0..=100))]
    pub(crate) limit_percentile: u8,
    /// Without --total-steps, the first step whose deliveries to listeners take longer than this is the last
    #[arg(long, value_name = "DURATION", default_value = "500ms", value_parser = parse_go_duration)]
    pub(crate) limit_rtt: Duration,
    /// Bytes of padding in each message
    #[arg(long, value_name = "BYTES", default_value_t = 0, value_parser = padding)]
    pub(crate) payload_padding: usize,
    /// A step ends when nothing has arrived for this long; until then it waits for missing deliveries
    #[arg(long, value_name = "SECONDS", default_value = "15", value_parser = wait_seconds)]
    pub(crate) wait_broadcasts: Duration,
    /// Longest wait for missing deliveries at the end of a step, even if some still arrive
    #[arg(long, value_name = "SECONDS", default_value = "300", value_parser = wait_seconds)]
    pub(crate) drain_timeout: Duration,
    /// Time limit for the acknowledgement of a broadcast
    #[arg(long, value_name = "SECONDS", default_value = "60", value_parser = wait_seconds)]
    pub(crate) answer_timeout: Duration,
}
