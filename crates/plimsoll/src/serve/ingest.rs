//! Where the server takes broadcasts from: the flags, and the adapters that they start.

use std::time::Duration;

use clap::{Args, ValueEnum};
use plimsoll_adapters::{Server, Sink};
use plimsoll_server::Publisher;
use plimsoll_telemetry::Registry;
use tokio::{sync::watch, task::JoinSet};

use super::redis::RedisOptions;
use crate::exit::Failure;

/// How long the adapters may take at shutdown to finish what they have read. What they do not finish stays in
/// Redis for another node.
const STOP_TIMEOUT: Duration = Duration::from_secs(1);

/// Flags of broadcasting.
#[derive(Debug, Args)]
#[command(next_help_heading = super::BROADCASTING)]
pub(super) struct IngestOptions {
    /// Where broadcasts are taken from; several with commas. Default: http, but with --app only where there is a key or an
    /// --http_broadcast_port; and redis where there is a --redis_url.
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
    /// Redis publish/subscribe: all servers get every message, those that are connected.
    Redis,
    /// A Redis stream: one server of a group gets each message, and none is lost.
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
    /// Whether broadcasts are taken over HTTP; `by_default` when nothing is said about it.
    pub(super) fn takes_http(&self, by_default: bool) -> bool {
        match self.broadcast_adapter.as_slice() {
            [] => by_default,
            adapters => adapters.contains(&Adapter::Http),
        }
    }

    /// Starts the adapters that need a connection of their own. They come up, or not, beside the server; `server` is
    /// the Redis that [`Self::redis_server`] gave, `node_id` the name of this process for its peers.
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

    /// Whether an adapter for Redis is wanted. By default the one of AnyCable, whose Ruby gem publishes to Redis unless told
    /// otherwise; but no Redis that nobody has named, for a server that waits for it would never be ready.
    fn takes(&self, adapter: Adapter) -> bool {
        match (self.broadcast_adapter.as_slice(), adapter) {
            ([], Adapter::Redis) => self.redis.is_named(),
            (adapters, _) => adapters.contains(&adapter),
        }
    }
}

impl Ingest {
    /// Lets the adapters finish what they have read.
    pub(super) async fn stop(mut self) {
        self.stop.send_replace(true);
        let all_finished = async { while self.tasks.join_next().await.is_some() {} };
        if tokio::time::timeout(STOP_TIMEOUT, all_finished).await.is_err() {
            tracing::warn!(
                "Redis did not answer in time; another node takes over what was not acknowledged."
            );
        }
    }
}
