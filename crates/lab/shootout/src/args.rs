//! What the user types: websocket-bench's flags, and ab's for HTTP, under their names.
//!
//! Every subcommand has its own struct with its own defaults. In websocket-bench they share one, so that the
//! subcommand registered last decides the defaults of all (`echo` takes 20 samples where its help says 10000);
//! here the documented defaults hold. Flags that websocket-bench has and this tool has not are refused by name.

mod broadcast;
mod common;
mod connect;
mod delay;
mod echo;
mod http;

use clap::Subcommand;

pub(crate) use self::common::Format;
pub use self::{
    broadcast::BroadcastArgs, common::CommonArgs, connect::ConnectArgs, echo::EchoArgs, http::HttpArgs,
};

/// `plimsoll bench …`
#[derive(Debug, Clone, Subcommand)]
pub enum Bench {
    /// Measure how fast a message from one client reaches all, with more and more clients
    Broadcast(BroadcastArgs),
    /// Measure how fast clients get ready when many come at once
    Connect(ConnectArgs),
    /// Measure how fast a message comes back to its sender, with more and more clients
    Echo(EchoArgs),
    /// Measure how fast a server answers one HTTP request, as ab does; also `plimsoll ab`
    Http(Box<HttpArgs>),
}

impl Bench {
    /// Whether nothing is said while it runs.
    pub fn is_quiet(&self) -> bool {
        matches!(self, Self::Http(args) if args.quiet)
    }
}

#[cfg(test)]
mod tests;
