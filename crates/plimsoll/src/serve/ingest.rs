//! The sources of broadcasts: the flags, and the adapters that they start.

use std::time::Duration;

use clap::{Args, ValueEnum};
use plimsoll_adapters::{Server, Sink};
use plimsoll_server::Publisher;
use plimsoll_telemetry::Registry;
use tokio::{sync::watch, task::JoinSet};

use super::redis::RedisOptions;
use crate::exit::Failure;

/// The time at shutdown in which the adapters can finish their work. Unfinished messages stay in Redis for another
/// node.
const STOP_TIMEOUT: Duration = Duration::from_secs(1);

/// Flags of broadcasting.
#[derive(Debug, Args)]
#[command(next_help_heading = super::headings::BROADCASTING)]
pub(super) struct IngestOptions {
    /// Sources of broadcasts, comma-separated. Default: http, but with --app only if there is a key or an
    /// --http_broadcast_port; and redis if there is a --redis_url.
    #[arg(long, value_enum, value_name = "ADAPTERS", value_delimiter = ',')]
    broadcast_adapter: Vec<Adapter>,
    #[command(flatten)]
    redis: RedisOptions,
}

/// Ways for a backend to publish.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Adapter {
    /// POST requests.
    Http,
    /// Redis publish/subscribe: every connected server gets every message.
    Redis,
    /// A Redis stream: one server of a group gets each message, and no message is lost.
    Redisx,
}

/// The adapters at work.
pub(super) struct Ingest {
    stop: watch::Sender<bool>,
    tasks: JoinSet<()>,
}

/// Hands payloads to the server.
struct Broadcasts(Publisher);

impl Sink for Broadcasts {
    async fn accept(&self, payload: &[u8]) {
        if let Err(error) = self.0.accept(payload).await {
            tracing::warn!("A broadcast from Redis is dropped: {error}.");
        }
    }
}

impl IngestOptions {
    /// Whether the server accepts broadcasts over HTTP; `by_default` without a flag.
    pub(super) fn takes_http(&self, by_default: bool) -> bool {
        match self.broadcast_adapter.as_slice() {
            [] => by_default,
            adapters => adapters.contains(&Adapter::Http),
        }
    }

    /// Starts the adapters with a connection. They connect in the background. `server` is the Redis that
    /// [`Self::redis_server`] returned, and `node_id` is the name of this process for its peers.
    pub(super) fn start(
        &self,
        server: Option<Server>,
        node_id: Option<&str>,
        publisher: &Publisher,
        registry: &Registry,
    ) -> Ingest {
        let (stop, stopped) = watch::channel(false);
        let mut tasks = JoinSet::new();
        let sink = || Broadcasts(publisher.clone());
        if let Some(server) = server {
            let status = || registry.dependency("redis");
            if self.takes(Adapter::Redis) {
                let channel = self.redis.channel(server.clone());
                tasks.spawn(channel.run(sink(), status(), stopped.clone()));
            }
            if self.takes(Adapter::Redisx) {
                tasks.spawn(self.redis.stream(server, node_id).run(sink(), status(), stopped));
            }
        }
        Ingest { stop, tasks }
    }

    /// The Redis server, if an adapter needs one.
    ///
    /// # Errors
    /// When a file that the options name cannot be used.
    pub(super) fn redis_server(&self) -> Result<Option<Server>, Failure> {
        let is_needed = self.takes(Adapter::Redis) || self.takes(Adapter::Redisx);
        is_needed.then(|| self.redis.server()).transpose()
    }

    /// Whether the server uses an adapter for Redis. By default it uses the one of AnyCable, whose Ruby gem publishes
    /// to Redis unless told otherwise, but only if a Redis is named: a server that waits for a missing Redis would
    /// never be ready.
    fn takes(&self, adapter: Adapter) -> bool {
        match (self.broadcast_adapter.as_slice(), adapter) {
            ([], Adapter::Redis) => self.redis.is_named(),
            (adapters, _) => adapters.contains(&adapter),
        }
    }
}

impl Ingest {
    /// Lets the adapters finish their messages.
    pub(super) async fn stop(mut self) {
        self.stop.send_replace(true);
        let all_finished = async { while self.tasks.join_next().await.is_some() {} };
        if tokio::time::timeout(STOP_TIMEOUT, all_finished).await.is_err() {
            tracing::warn!(
                "Redis did not answer in time; another node takes over the unacknowledged messages."
            );
        }
    }
}
