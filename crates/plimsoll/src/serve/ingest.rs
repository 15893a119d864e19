//! Where the server takes broadcasts from: the flags, and the adapters that they start.

use std::time::Duration;

use clap::{Args, ValueEnum};
use plimsoll_adapters::{Channel, Group, Sink, Stream, Target};
use plimsoll_server::Publisher;
use tokio::{sync::watch, task::JoinSet};

/// How long the adapters may take at shutdown to finish what they have read. What they do not finish stays in
/// Redis for another node.
const STOP_TIMEOUT: Duration = Duration::from_secs(1);

/// Flags of broadcasting.
#[derive(Debug, Args)]
pub(super) struct IngestOptions {
    /// Where broadcasts are taken from; several with commas.
    #[arg(
        long,
        value_enum,
        value_name = "ADAPTERS",
        value_delimiter = ',',
        default_value = "http"
    )]
    broadcast_adapter: Vec<Adapter>,
    /// The Redis server of the adapters redis and redisx.
    #[arg(long, value_name = "URL", default_value = "redis://localhost:6379")]
    redis_url: Target,
    /// Channel of the adapter redis.
    #[arg(long, value_name = "NAME", default_value = "__anycable__")]
    redis_channel: String,
    /// Stream of the adapter redisx.
    #[arg(long, value_name = "NAME", default_value = "__anycable__")]
    redisx_stream: String,
    /// Consumer group of the adapter redisx: each message goes to one server of the group.
    #[arg(long, value_name = "NAME", default_value = "bx")]
    redisx_group: String,
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
    pub(super) fn takes_http(&self) -> bool {
        self.broadcast_adapter.contains(&Adapter::Http)
    }

    /// Starts the adapters that need a connection of their own. They come up, or not, beside the server.
    pub(super) fn start(&self, publisher: &Publisher) -> Ingest {
        let (stop, stopped) = watch::channel(false);
        let mut tasks = JoinSet::new();
        let sink = || Broadcasts(publisher.clone());
        if self.broadcast_adapter.contains(&Adapter::Redis) {
            tasks.spawn(self.channel().run(sink(), stopped.clone()));
        }
        if self.broadcast_adapter.contains(&Adapter::Redisx) {
            tasks.spawn(self.stream().run(sink(), stopped));
        }
        Ingest { stop, tasks }
    }

    fn channel(&self) -> Channel {
        Channel {
            target: self.redis_url.clone(),
            name: self.redis_channel.clone(),
        }
    }

    fn stream(&self) -> Stream {
        Stream {
            target: self.redis_url.clone(),
            key: self.redisx_stream.clone(),
            group: Group {
                name: self.redisx_group.clone(),
                consumer: consumer_name(),
            },
        }
    }
}

/// Unlike that of any other process, so that nobody mistakes another one's messages for its own.
fn consumer_name() -> String {
    let mut name = format!("plimsoll-{}-", std::process::id());
    name.extend(std::iter::repeat_with(fastrand::alphanumeric).take(8));
    name
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
