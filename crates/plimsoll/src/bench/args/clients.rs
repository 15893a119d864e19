//! Flags that `broadcast`, `connect` and `echo` have. The struct is repeated in each subcommand, its values are not shared.

use std::{net::IpAddr, path::PathBuf, time::Duration};

use clap::Args;
use plimsoll_cable::encoding::Encoding;
use plimsoll_shootout::{Limit, ServerType};

use super::{counts::at_least_one, delay::parse_seconds};
use crate::trust::Insecure;

/// The default of `--step-size`.
pub(crate) const DEFAULT_STEP_SIZE: usize = 5000;

/// Flags of every workload that has WebSocket clients.
#[derive(Debug, Clone, Args)]
pub(crate) struct ClientArgs {
    /// URL of the server, for example ws://127.0.0.1:8080/cable
    #[arg(value_name = "URL")]
    pub(crate) url: String,
    /// Protocol of the server: json, binary, actioncable, actioncable-connect (connect only), or echo (a server that
    /// sends every text back; not for broadcast) [default: the server is examined; actioncable, or for connect
    /// actioncable-connect, if it greets as Action Cable, otherwise json]
    #[arg(long, value_name = "TYPE")]
    pub(crate) server_type: Option<ServerType>,
    /// Action Cable identifier to subscribe to, sent unchanged
    #[arg(
        long,
        value_name = "JSON",
        default_value = r#"{"channel":"BenchmarkChannel"}"#
    )]
    pub(crate) channel: String,
    /// Encoding of Action Cable messages: json, or for AnyCable Pro msgpack or protobuf
    #[arg(long, value_name = "ENCODING", default_value = "json")]
    pub(crate) action_cable_encoding: Encoding,
    /// The Origin header
    #[arg(long, short, value_name = "ORIGIN", default_value = "http://localhost")]
    pub(crate) origin: String,
    /// The WebSocket sub-protocol to offer, for example actioncable-v1-json [default: none; that of a binary
    /// --action-cable-encoding]
    #[arg(long, value_name = "NAME")]
    pub(crate) sub_protocol: Option<String>,
    /// A header to send with the upgrade; may be given several times
    #[arg(long, short = 'H', value_name = "NAME: VALUE")]
    pub(crate) header: Vec<String>,
    #[command(flatten)]
    pub(crate) insecure: Insecure,
    /// Source addresses, used in turn; may be repeated or comma-separated. By default the system chooses; for a
    /// target on this machine, clients use 127.0.0.1, 127.0.0.2 … when one address has too few ports
    #[arg(long, short, value_name = "IP", value_delimiter = ',')]
    pub(crate) local_addr: Vec<IpAddr>,
    /// Remote workers; not supported yet
    #[arg(long, short, value_name = "HOST:PORT", value_delimiter = ',')]
    pub(crate) worker_addr: Vec<String>,
    /// Number of clients that each step adds
    #[arg(long, value_name = "N", default_value_t = DEFAULT_STEP_SIZE, value_parser = at_least_one)]
    pub(crate) step_size: usize,
    /// Wait this long between steps
    #[arg(long, value_name = "SECONDS", default_value = "0", value_parser = parse_seconds)]
    pub(crate) steps_delay: Duration,
    /// Wait for Enter between steps
    #[arg(long, short)]
    pub(crate) interactive: bool,
    /// Wait this long before each message (connect: before each connection)
    #[arg(long, value_name = "SECONDS", default_value = "0", value_parser = parse_seconds)]
    pub(crate) command_delay: Duration,
    /// Percentage of the messages (connections) that get the delay
    #[arg(long, value_name = "PERCENT", default_value_t = 100, value_parser = clap::value_parser!(u8).range(0..=100))]
    pub(crate) command_delay_chance: u8,
    /// Time limit for a client to become ready
    #[arg(long, value_name = "SECONDS", default_value = "60", value_parser = parse_seconds)]
    pub(crate) connect_timeout: Duration,
    /// Number of threads that run the clients [default: one per core]
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub(crate) workers: Option<usize>,
    /// Seed that repeats the choice of senders of an earlier run [default: random; the output shows it]
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// Condition for the whole run, a metric and a rule: 'rtt:p(95)<200' (ms), 'connect:p(99)<1000' or
    /// 'deliveries:rate>5000'; may be given several times
    #[arg(long, value_name = "METRIC:RULE")]
    pub(crate) threshold: Vec<Limit>,
    /// Write the result to this file instead of standard output; missing folders are created
    #[arg(long, short = 'n', value_name = "FILE")]
    pub(crate) filename: Option<PathBuf>,
}
