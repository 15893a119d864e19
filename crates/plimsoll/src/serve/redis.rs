//! The connection to Redis, and its keys.

use std::{path::PathBuf, time::Duration};

use clap::{Args, value_parser};
use plimsoll_adapters::{
    Group, Interest, Outbox, Posting, RedisUrls, Sentinels, Server, Stream, Subscriptions, TlsSettings,
};
use plimsoll_broker::Retentions;
use plimsoll_server::MAX_BROADCAST_BYTES;
use plimsoll_telemetry::Registry;

use super::{
    key_pair::key_pair,
    shared_broker::{SharedBroker, Ttls},
};
use crate::exit::Failure;

/// Flags of the adapters redis and redisx, and of the Redis broker.
#[derive(Debug, Args)]
pub(super) struct RedisOptions {
    /// Redis server of the adapters redis and redisx, of --pubsub redis, and of --broker redis; rediss://… for an encrypted
    /// connection. With commas some nodes of a Redis Cluster: redis://a:7000,redis://b:7000. Default: redis://localhost:6379.
    #[arg(long, value_name = "URL")]
    redis_url: Option<RedisUrls>,
    /// Sentinels that say which server of a group is the primary, for example 10.0.0.1,10.0.0.2:26380; with a password
    /// :password@host. The host of --redis_url is then the name of the group: redis://mymaster.
    #[arg(long, value_name = "HOSTS")]
    redis_sentinels: Option<Sentinels>,
    /// Seconds after which the sentinels are asked again whether the primary is another server. They are also asked before
    /// each connection.
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = value_parser!(u64).range(1..=3600))]
    redis_sentinel_discovery_interval: u64,
    /// Channel of the adapter redis.
    #[arg(long, value_name = "NAME", default_value = "__anycable__")]
    redis_channel: String,
    /// Channel on which the servers of --pubsub redis send each other commands. If it is the channel of the adapter redis,
    /// too, its name gets the ending -int.
    #[arg(long, value_name = "NAME", default_value = "__anycable_internal__")]
    redis_pubsub_channel: String,
    /// Seconds of silence on the channel after which the server pings Redis.
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = value_parser!(u64).range(1..=3600))]
    redis_keepalive_interval: u64,
    /// Stream of the adapter redisx.
    #[arg(long, value_name = "NAME", default_value = "__anycable__")]
    redisx_stream: String,
    /// Consumer group of the adapter redisx: each message goes to one server of the group.
    #[arg(long, value_name = "NAME", default_value = "bx")]
    redisx_group: String,
    /// Milliseconds that a read of the stream waits, and after which another server takes over the messages of a
    /// silent server.
    #[arg(long, value_name = "MS", default_value_t = 2000, value_parser = value_parser!(u64).range(100..=60_000))]
    redisx_read_block_milliseconds: u64,
    /// Seconds after the start in which the server reads no messages from the stream, so that clients reconnect
    /// before waiting messages are published and deleted.
    #[arg(long, value_name = "SECONDS", default_value_t = 0, value_parser = value_parser!(u64).range(0..=3600))]
    redisx_hold: u64,
    /// Beginning of all keys and channels of --broker redis. Servers with the same one share their streams.
    #[arg(long, value_name = "TEXT", default_value = "plimsoll", value_parser = key_prefix)]
    redis_prefix: String,
    /// Milliseconds in which Redis must confirm a message of --broker redis; after that the backend is told to send it
    /// again (503).
    #[arg(long, value_name = "MS", default_value_t = 2000, value_parser = value_parser!(u64).range(10..=60_000))]
    redis_publish_timeout: u64,
    /// Number of Redis replicas that must have a message of --broker redis before it is confirmed. When fewer have it within
    /// half of --redis_publish_timeout (2500 ms at most), the backend is told to send it again (503).
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = value_parser!(u32).range(0..=100))]
    redis_wait: u32,
    /// Verify the certificate of Redis (rediss://) with the system's authorities, or with those of
    /// --redis_tls_ca_cert_path.
    #[arg(long)]
    redis_tls_verify: bool,
    /// PEM file with the certificate authorities for Redis.
    #[arg(long, value_name = "FILE")]
    redis_tls_ca_cert_path: Option<PathBuf>,
    /// PEM file with the client certificate for Redis.
    #[arg(long, value_name = "FILE", requires = "redis_tls_client_key_path")]
    redis_tls_client_cert_path: Option<PathBuf>,
    /// PEM file with the private key of the client certificate.
    #[arg(long, value_name = "FILE", requires = "redis_tls_client_cert_path")]
    redis_tls_client_key_path: Option<PathBuf>,
}

impl RedisOptions {
    /// Whether the settings say where Redis is.
    pub(super) fn is_named(&self) -> bool {
        self.redis_url.is_some()
    }

    /// What to do when Redis cannot be used.
    pub(super) fn remedy(&self) -> &'static str {
        match (&self.redis_sentinels, &self.redis_url) {
            (Some(_), _) => {
                "start the sentinels and Redis, or correct --redis_sentinels, and the group and the password in --redis_url"
            }
            (None, Some(RedisUrls::Cluster(_))) => {
                "start the nodes of the Redis Cluster, or correct their addresses and the password in --redis_url"
            }
            (None, _) => "start Redis, or correct its address and password in --redis_url",
        }
    }

    /// The server that the options name.
    ///
    /// # Errors
    /// When a file cannot be used, or when there are sentinels and no name of a group.
    pub(super) fn server(&self) -> Result<Server, Failure> {
        let tls = TlsSettings {
            verifies: self.redis_tls_verify,
            ca_certificate: self.redis_tls_ca_cert_path.clone(),
            client: key_pair(
                ("redis_tls_client_cert_path", &self.redis_tls_client_cert_path),
                ("redis_tls_client_key_path", &self.redis_tls_client_key_path),
            )?,
        };
        if self.redis_sentinels.is_some() && self.redis_url.is_none() {
            return Err(Failure::Usage(
                "--redis_sentinels needs --redis_url redis://GROUP, whose host is the name of the group that the \
                 sentinels watch"
                    .to_owned(),
            ));
        }
        let urls = self.redis_url.clone().unwrap_or_default();
        if urls.first().is_encrypted() && !tls.verifies {
            tracing::warn!("The certificate of Redis is not verified; use --redis_tls_verify to verify it.");
        }
        if self.redis_sentinels.is_some() && matches!(urls, RedisUrls::Cluster(_)) {
            return Err(Failure::Usage(
                "--redis_url with several URLs names the nodes of a Redis Cluster, which has no sentinels. Leave out \
                 --redis_sentinels, or give the URL redis://GROUP alone"
                    .to_owned(),
            ));
        }
        let server = Server::at_urls(urls, &tls, MAX_BROADCAST_BYTES)?;
        let Some(sentinels) = self.redis_sentinels.clone() else {
            return Ok(server);
        };
        let interval = Duration::from_secs(self.redis_sentinel_discovery_interval);
        Ok(server.watched_by(sentinels, &tls, interval)?)
    }

    /// The broker in this server, which keeps this much of each stream, and sessions and members for this long.
    pub(super) fn broker(
        &self,
        server: Server,
        retentions: Retentions,
        ttls: Ttls,
        registry: &Registry,
    ) -> SharedBroker {
        let timeout = Duration::from_millis(self.redis_publish_timeout);
        let confirmation = (timeout, self.redis_wait);
        SharedBroker::in_redis(
            server,
            &self.redis_prefix,
            confirmation,
            (retentions, ttls),
            registry,
        )
    }

    /// The key of the stream that the adapter redisx reads.
    pub(super) fn stream_key(&self) -> &str {
        &self.redisx_stream
    }

    /// The beginning of the names of the broker.
    pub(super) fn prefix(&self) -> &str {
        &self.redis_prefix
    }

    /// The adapter redis.
    pub(super) fn channel(&self, server: Server) -> Subscriptions {
        let interest = Interest::default();
        interest.join(&self.redis_channel);
        Subscriptions {
            server,
            interest,
            source: "Redis publish/subscribe",
            keepalive: self.keepalive(),
        }
    }

    /// The channel for commands of `--pubsub redis`. As with AnyCable it differs from that of the adapter redis, if the
    /// server uses that adapter.
    pub(super) fn command_channel(&self, takes_channel: bool) -> String {
        let channel = &self.redis_pubsub_channel;
        if takes_channel && *channel == self.redis_channel {
            format!("{channel}-int")
        } else {
            channel.clone()
        }
    }

    /// The subscriptions of `--pubsub redis`.
    pub(super) fn subscriptions(
        &self,
        server: Server,
        interest: Interest,
        peers: &'static str,
    ) -> Subscriptions {
        Subscriptions {
            server,
            interest,
            source: peers,
            keepalive: self.keepalive(),
        }
    }

    /// The outbox of `--pubsub redis`, and the work on its connection.
    pub(super) fn posting(&self, server: Server, peers: &'static str) -> (Outbox, Posting) {
        Posting::new(server, peers, self.keepalive())
    }

    fn keepalive(&self) -> Duration {
        Duration::from_secs(self.redis_keepalive_interval)
    }

    pub(super) fn stream(&self, server: Server, node_id: Option<&str>) -> Stream {
        Stream {
            server,
            key: self.redisx_stream.clone(),
            group: Group {
                name: self.redisx_group.clone(),
                consumer: consumer_name(node_id),
            },
            block: Duration::from_millis(self.redisx_read_block_milliseconds),
            hold: Duration::from_secs(self.redisx_hold),
        }
    }
}

/// A beginning of keys. Braces would move the keys of a stream apart in a Redis Cluster.
fn key_prefix(text: &str) -> Result<String, String> {
    let is_word = (1..=64).contains(&text.len())
        && text
            .bytes()
            .all(|byte| byte.is_ascii_graphic() && !b"{}".contains(&byte));
    if is_word {
        Ok(text.to_owned())
    } else {
        Err(
            "expected up to 64 characters of ASCII without spaces and braces, for example plimsoll"
                .to_owned(),
        )
    }
}

/// A name that differs from that of any other process, also of one with the same `node_id`, so that no process takes
/// another one's messages for its own.
fn consumer_name(node_id: Option<&str>) -> String {
    let mut name = match node_id {
        Some(node_id) => format!("{node_id}-"),
        None => format!("plimsoll-{}-", std::process::id()),
    };
    name.extend(std::iter::repeat_with(fastrand::alphanumeric).take(8));
    name
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct CommandLine {
        #[command(flatten)]
        options: RedisOptions,
    }

    #[track_caller]
    fn check_command_channel(arguments: &[&str], takes_channel: bool, expected: &str) {
        let arguments = ["serve"].iter().chain(arguments);
        let parsed = CommandLine::try_parse_from(arguments).expect("valid flags");
        assert_eq!(parsed.options.command_channel(takes_channel), expected);
    }

    #[test]
    fn commands_have_a_channel_of_their_own() {
        check_command_channel(&[], true, "__anycable_internal__");
        let same = &["--redis-channel", "a", "--redis-pubsub-channel", "a"];
        check_command_channel(same, true, "a-int");
        check_command_channel(same, false, "a");
    }

    #[test]
    fn consumers_are_called_like_their_node_and_never_the_same() {
        for (node_id, beginning) in [
            (Some("web-1"), "web-1-".to_owned()),
            (None, format!("plimsoll-{}-", std::process::id())),
        ] {
            let names = [consumer_name(node_id), consumer_name(node_id)];
            assert!(names.iter().all(|name| name.starts_with(&beginning)), "{names:?}");
            assert_ne!(names[0], names[1]);
        }
    }
}
