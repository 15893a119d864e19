//! The flags of `plimsoll serve` for Durable Streams.

use std::time::Duration;

use clap::Args;
use plimsoll_server::DurableStreams;

use super::path::absolute_path;

/// Whether streams are read over plain HTTP, where, and how long answers wait.
#[derive(Debug, Args)]
#[command(next_help_heading = "Durable Streams")]
#[group(id = "durable-streams")]
pub(super) struct Options {
    /// Let clients read streams over plain HTTP (Durable Streams), with catch-up, long polls and events. Needs --broker
    /// memory.
    #[arg(long)]
    ds: bool,
    /// Path above the streams.
    #[arg(long, default_value = "/ds", value_name = "PATH", value_parser = absolute_path)]
    ds_path: String,
    /// Do not ask the application about clients that read; only check their right to the stream.
    #[arg(long)]
    ds_skip_auth: bool,
    /// Seconds for which a long poll waits for a message.
    #[arg(long, default_value_t = 10, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=3600))]
    ds_poll_interval: u64,
    /// Seconds after which an answer with events ends; the client goes on with another request.
    #[arg(long, default_value_t = 60, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=3600))]
    ds_sse_ttl: u64,
}

impl Options {
    /// Durable Streams, if they are on.
    pub(super) fn durable_streams(&self) -> Option<DurableStreams> {
        self.ds.then(|| DurableStreams {
            path: self.ds_path.trim_end_matches('/').to_owned(),
            skips_auth: self.ds_skip_auth,
            poll_interval: Duration::from_secs(self.ds_poll_interval),
            sse_ttl: Duration::from_secs(self.ds_sse_ttl),
        })
    }
}
