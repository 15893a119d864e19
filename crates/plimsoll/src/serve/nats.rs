//! The connection to NATS, and its subjects.

use clap::Args;
use plimsoll_adapters::{Interest, Jobs, NatsClient, NatsServers, NatsUrls};
use plimsoll_server::MAX_BROADCAST_BYTES;

use crate::exit::Failure;

/// Flags of the adapter nats and of `--pubsub nats`.
#[derive(Debug, Args)]
pub(super) struct NatsOptions {
    /// NATS servers of the adapter nats and of --pubsub nats, comma-separated: nats://user:password@host:4222,
    /// nats://token@host, or tls://… for an encrypted connection. Default: nats://127.0.0.1:4222.
    #[arg(long, value_name = "URLS")]
    nats_servers: Option<NatsUrls>,
    /// Try the servers in the given order, and not in a random one.
    #[arg(long)]
    nats_dont_randomize_servers: bool,
    /// Subject of the adapter nats.
    #[arg(long, value_name = "NAME", default_value = "__anycable__")]
    nats_channel: String,
    /// Subject on which the servers of --pubsub nats send each other commands.
    #[arg(long, value_name = "NAME", default_value = "__anycable_internal__")]
    nats_pubsub_channel: String,
}

impl NatsOptions {
    /// The servers that the options name.
    ///
    /// # Errors
    /// A connection is to be encrypted, and the system has no certificate authorities.
    pub(super) fn servers(&self) -> Result<NatsServers, Failure> {
        let urls = self.nats_servers.clone().unwrap_or_default();
        Ok(NatsServers::new(urls, !self.nats_dont_randomize_servers)?)
    }

    /// The adapter nats.
    pub(super) fn channel(&self, servers: NatsServers) -> NatsClient {
        let interest = Interest::default();
        interest.join(&self.nats_channel);
        NatsClient {
            servers,
            interest,
            jobs: None,
            peer: "NATS",
            max_payload_bytes: MAX_BROADCAST_BYTES,
        }
    }

    /// The subject for commands of `--pubsub nats`.
    pub(super) fn command_channel(&self) -> &str {
        &self.nats_pubsub_channel
    }

    /// The connection of `--pubsub nats`.
    pub(super) fn cluster(
        servers: NatsServers,
        interest: Interest,
        jobs: Jobs,
        peer: &'static str,
        max_payload_bytes: usize,
    ) -> NatsClient {
        NatsClient {
            servers,
            interest,
            jobs: Some(jobs),
            peer,
            max_payload_bytes,
        }
    }
}
