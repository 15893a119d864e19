//! `plimsoll bench recover`

use std::{net::IpAddr, path::PathBuf, time::Duration};

use clap::{Args, ValueEnum};
use plimsoll_cable::encoding::Encoding;
use plimsoll_shootout::{Limit, Rate, recover::Protocol};

use super::{
    counts::{at_least_one, padding},
    delay::{parse_seconds, span, wait_seconds},
};
use crate::trust::Insecure;

/// The examples under the help text.
const EXAMPLES: &str = "\
Examples:
  plimsoll bench recover ws://127.0.0.1:8080/cable --clients 500 --streams 20 --rate 50/s --duration 60s --cuts 5
  plimsoll bench recover ws://127.0.0.1:8080/cable --broadcast-url http://127.0.0.1:8090/_broadcast --herd --watch :8080
  plimsoll bench recover ws://127.0.0.1:8080/cable --clients 10000 --base 1000 --connect-concurrent 1000 --watch :8080
  plimsoll bench recover ws://127.0.0.1:8080/cable --protocol base --threshold 'reconnect:p(99)<1000'

The server needs public streams (plimsoll serve --public --broker memory), or a channel of your application that
streams from the name in its identifier (--channel).

Exit codes: 0 all well; 1 the run could not be done; 2 wrong usage; 3 messages were lost, duplicated or reordered, or
clients or broadcasts failed; 105 a signal ended the run.";

/// Cuts clients from their server and counts what they lose when they come back.
#[derive(Debug, Clone, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct RecoverArgs {
    /// URL of the server, for example ws://127.0.0.1:8080/cable
    #[arg(value_name = "URL")]
    pub(crate) url: String,
    /// Number of clients, each subscribed to one of the streams
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = at_least_one)]
    pub(crate) clients: usize,
    /// Further clients of the base protocol, beside the others: their counts are separate, and the messages that they
    /// miss while they are away are no fault
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) base: usize,
    /// Number of streams
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = at_least_one)]
    pub(crate) streams: usize,
    /// Broadcasts to all streams together, for example 50/s or 30/m; the streams take turns
    #[arg(
        long,
        value_name = "N[/UNIT]",
        default_value = "10/s",
        allow_hyphen_values = true
    )]
    pub(crate) rate: Rate,
    /// How long broadcasts are sent and clients are cut, for example 60s
    #[arg(long, value_name = "DURATION", default_value = "30s", value_parser = span, allow_hyphen_values = true)]
    pub(crate) duration: Duration,
    /// Number of times that each client is cut: its TCP connection is closed without a close frame
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(0..=1000))]
    pub(crate) cuts: u32,
    /// Time until a cut client begins to reconnect
    #[arg(long, value_name = "DURATION", default_value = "2s", value_parser = span, allow_hyphen_values = true)]
    pub(crate) away: Duration,
    /// Cut all clients at once, so that they come back at once; by default, one after the other
    #[arg(long)]
    pub(crate) herd: bool,
    /// Protocol of the clients: extended (they resume their sessions and ask for history) or base (they do neither)
    #[arg(long, value_enum, value_name = "PROTOCOL", default_value_t = Spoken::Extended)]
    pub(crate) protocol: Spoken,
    /// Encoding of the messages: json, or for AnyCable Pro msgpack or protobuf
    #[arg(long, value_name = "ENCODING", default_value = "json")]
    pub(crate) action_cable_encoding: Encoding,
    /// Action Cable identifier to subscribe to; {stream} stands for the name of the stream
    #[arg(
        long,
        value_name = "JSON",
        default_value = r#"{"channel":"$pubsub","stream_name":"{stream}"}"#
    )]
    pub(crate) channel: String,
    /// Beginning of the names of the streams; each run needs its own [default: recover- and a random number]
    #[arg(long, value_name = "NAME")]
    pub(crate) stream_prefix: Option<String>,
    /// URL for broadcasts over HTTP [default: /_broadcast of the server]
    #[arg(long, value_name = "URL")]
    pub(crate) broadcast_url: Option<String>,
    /// Key that the server requires for broadcasts
    #[arg(long, value_name = "KEY")]
    pub(crate) broadcast_key: Option<String>,
    /// Bytes of padding in each message
    #[arg(long, value_name = "BYTES", default_value_t = 0, value_parser = padding)]
    pub(crate) payload_padding: usize,
    /// The Origin header
    #[arg(long, short, value_name = "ORIGIN", default_value = "http://localhost")]
    pub(crate) origin: String,
    /// A header to send with the upgrade; may be given several times
    #[arg(long, short = 'H', value_name = "NAME: VALUE")]
    pub(crate) header: Vec<String>,
    #[command(flatten)]
    pub(crate) insecure: Insecure,
    /// Source addresses, used in turn; may be repeated or comma-separated. By default the system chooses; for a
    /// target on this machine, clients use 127.0.0.1, 127.0.0.2 … when one address has too few ports
    #[arg(long, short, value_name = "IP", value_delimiter = ',')]
    pub(crate) local_addr: Vec<IpAddr>,
    /// Number of clients that connect at the same time before the broadcasts begin
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = at_least_one)]
    pub(crate) connect_concurrent: usize,
    /// Time limit for a client to become ready; after it, a client that comes back tries again
    #[arg(long, value_name = "SECONDS", default_value = "60", value_parser = parse_seconds)]
    pub(crate) connect_timeout: Duration,
    /// Time limit for the answers to a broadcast and to a request for history
    #[arg(long, value_name = "SECONDS", default_value = "60", value_parser = wait_seconds)]
    pub(crate) answer_timeout: Duration,
    /// The run ends when nothing has arrived for this long; until then it waits for missing messages
    #[arg(long, value_name = "SECONDS", default_value = "15", value_parser = wait_seconds)]
    pub(crate) wait_broadcasts: Duration,
    /// Longest wait for missing messages at the end, even if some still arrive
    #[arg(long, value_name = "SECONDS", default_value = "300", value_parser = wait_seconds)]
    pub(crate) drain_timeout: Duration,
    /// Number of threads that run the clients [default: one per core]
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub(crate) workers: Option<usize>,
    /// Condition for the whole run, a metric and a rule: 'recovery:p(99)<2000' (ms) or 'lost:count==0'; may be given
    /// several times
    #[arg(long, value_name = "METRIC:RULE")]
    pub(crate) threshold: Vec<Limit>,
    /// Write the result to this file instead of standard output; missing folders are created
    #[arg(long, short = 'n', value_name = "FILE")]
    pub(crate) filename: Option<PathBuf>,
}

/// The protocol of the clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Spoken {
    /// Action Cable's base protocol.
    Base,
    /// AnyCable's extended protocol.
    Extended,
}

impl From<Spoken> for Protocol {
    fn from(spoken: Spoken) -> Self {
        match spoken {
            Spoken::Base => Self::Base,
            Spoken::Extended => Self::Extended,
        }
    }
}
