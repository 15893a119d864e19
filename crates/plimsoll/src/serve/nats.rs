//! The connection to NATS, and its subjects.

use std::time::Duration;

use clap::{Args, value_parser};
use plimsoll_adapters::{Interest, JetStreamSettings, Jobs, NatsClient, NatsServers, NatsUrls};
use plimsoll_broker::Retentions;
use plimsoll_server::MAX_BROADCAST_BYTES;
use plimsoll_telemetry::Registry;

use super::shared_broker::{KEY_TTL, SharedBroker, Ttls, greatest};
use crate::exit::Failure;

/// Flags of the adapter nats, of `--pubsub nats` and of the NATS broker.
#[derive(Debug, Args)]
pub(super) struct NatsOptions {
    /// NATS servers of the adapter nats, of --pubsub nats and of --broker nats, comma-separated: nats://user:password@host:4222,
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
    /// Beginning of all subjects of --broker nats. Servers with the same one share their streams.
    #[arg(long, value_name = "TEXT", default_value = "plimsoll", value_parser = subject_part)]
    nats_prefix: String,
    /// Name of the JetStream stream of --broker nats, which the server makes if it is not there. Default: --nats_prefix.
    #[arg(long, value_name = "NAME", value_parser = subject_part)]
    nats_stream: Option<String>,
    /// Number of servers of the NATS cluster that have a copy of the JetStream stream. Default: 1 for a new stream; that of
    /// an existing one stays.
    #[arg(long, value_name = "N", value_parser = value_parser!(u8).range(1..=5))]
    nats_replicas: Option<u8>,
    /// Milliseconds in which JetStream must confirm a message of --broker nats; after that the backend is told to send it
    /// again (503).
    #[arg(long, value_name = "MS", default_value_t = 2000, value_parser = value_parser!(u64).range(10..=60_000))]
    nats_publish_timeout: u64,
    /// Seconds that JetStream may take to become ready after a connection of --broker nats; then the log says so, and the
    /// server connects again.
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = value_parser!(u64).range(1..=3600))]
    jetstream_ready_timeout: u64,
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

    /// The broker in these servers, which keeps this much of each stream.
    pub(super) fn broker(
        &self,
        servers: NatsServers,
        retentions: Retentions,
        ttls: Ttls,
        registry: &Registry,
    ) -> SharedBroker {
        let settings = JetStreamSettings {
            servers,
            stream: self.nats_stream.as_ref().unwrap_or(&self.nats_prefix).clone(),
            prefix: self.nats_prefix.clone(),
            n_replicas: self.nats_replicas,
            limits: greatest(&retentions),
            publish_timeout: Duration::from_millis(self.nats_publish_timeout),
            ready_timeout: Duration::from_secs(self.jetstream_ready_timeout),
            key_ttl: KEY_TTL,
            record_ttl: ttls.sessions,
            member_ttl: ttls.presence,
            max_payload_bytes: MAX_BROADCAST_BYTES,
        };
        SharedBroker::in_jetstream(settings, retentions, registry)
    }

    /// The beginning of the subjects of the broker.
    pub(super) fn prefix(&self) -> &str {
        &self.nats_prefix
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

/// A part of a subject, which is also the name of a stream of JetStream.
fn subject_part(text: &str) -> Result<String, String> {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
    if (1..=64).contains(&text.len()) && text.bytes().all(is_part) {
        Ok(text.to_owned())
    } else {
        Err("expected up to 64 letters, digits, - and _, for example plimsoll".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_is_one_part_of_a_subject() {
        for (text, is_good) in [
            ("plimsoll", true),
            ("Plimsoll_2-a", true),
            ("", false),
            ("a.b", false),
            ("a b", false),
            ("*", false),
            ("ä", false),
            (&*"a".repeat(65), false),
        ] {
            assert_eq!(subject_part(text).is_ok(), is_good, "{text}");
        }
    }
}
