//! The flags of `plimsoll serve` for Server-Sent Events.

use clap::Args;

use super::path::absolute_path;

/// Whether there are event streams, and where.
#[derive(Debug, Args)]
#[command(next_help_heading = "Server-Sent Events")]
#[group(id = "events")]
pub(super) struct Options {
    /// Serve Server-Sent Events, for clients that only listen.
    #[arg(long)]
    sse: bool,
    /// Path of the event streams.
    #[arg(long, default_value = "/events", value_name = "PATH", value_parser = absolute_path)]
    sse_path: String,
}

impl Options {
    /// The path of event streams, if there are any.
    pub(super) fn path(&self) -> Option<String> {
        self.sse.then(|| self.sse_path.clone())
    }
}
