//! The sources of broadcasts, and the engine of a cluster: the flags, and the connections that they start.

use std::{sync::Arc, time::Duration};

use clap::{Args, ValueEnum};
use plimsoll_adapters::{
    Interest, NatsClient, NatsServers, Posting, Server, Sink, Subscriptions, Taken, outbox,
};
use plimsoll_server::{AcceptError, Engine, EngineError, Publisher};
use plimsoll_telemetry::Registry;
use tokio::{sync::watch, task::JoinSet};

use super::{
    broker::BrokerOptions,
    cluster::{CompatibleEngine, FromCluster, MAX_MESSAGE_BYTES, PubSub},
    nats::NatsOptions,
    redis::RedisOptions,
    shared_broker::{SharedBroker, Ttls},
};
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
    /// Engine through which several servers pass messages to each other, as in AnyCable. Default: none, so each server
    /// delivers only the broadcasts that it accepts.
    #[arg(long, value_enum, value_name = "ENGINE")]
    pubsub: Option<PubSub>,
    #[command(flatten)]
    redis: RedisOptions,
    #[command(flatten)]
    nats: NatsOptions,
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
    /// A subject of NATS: every connected server gets every message.
    Nats,
}

/// The servers of Redis and NATS that are needed, and the engine of the cluster. Nothing is connected yet.
pub(super) struct Sources {
    redis: Option<Server>,
    nats: Option<NatsServers>,
    cluster: Option<Cluster>,
}

/// The engine of the cluster, with what its connections need.
struct Cluster {
    engine: Arc<CompatibleEngine>,
    work: Work,
}

/// The work on an engine's connections.
enum Work {
    Redis(Box<(Subscriptions, Posting)>),
    Nats(Box<NatsClient>),
}

/// The adapters at work.
pub(super) struct Ingest {
    stop: watch::Sender<bool>,
    tasks: JoinSet<()>,
}

/// The connections of the cluster's engine. They end when this is dropped, after the last session.
pub(super) struct ClusterConnections {
    _stop: watch::Sender<bool>,
    _tasks: JoinSet<()>,
}

/// Hands payloads to the server that only this server gets.
struct Broadcasts {
    publisher: Publisher,
    /// The name of the source.
    source: String,
}

/// Drops payloads.
struct Nowhere;

impl Sink for Nowhere {
    async fn accept(&self, _: &[u8], _: Option<&str>) -> Taken {
        Taken::Done
    }
}

impl Sink for Broadcasts {
    async fn accept(&self, payload: &[u8], id: Option<&str>) -> Taken {
        // The payload comes again if this server ends before it is acknowledged.
        let key = id.map(|id| format!("{}:{id}", self.source));
        match self.publisher.accept_once(payload, key.as_deref()).await {
            Ok(()) => Taken::Done,
            Err(AcceptError::Engine(error @ EngineError::Away(_))) => {
                tracing::debug!("A broadcast of the Redis stream waits: {error}.");
                Taken::Later
            }
            Err(error) => {
                tracing::warn!("A broadcast from Redis is dropped: {error}.");
                Taken::Done
            }
        }
    }
}

/// Hands payloads to the server that every server gets.
struct BroadcastsForAll {
    publisher: Publisher,
    source: &'static str,
}

impl Sink for BroadcastsForAll {
    async fn accept(&self, payload: &[u8], _id: Option<&str>) -> Taken {
        if let Err(error) = self.publisher.accept_here(payload).await {
            tracing::warn!("A broadcast from {} is dropped: {error}.", self.source);
        }
        Taken::Done
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

    /// What the adapters and the engine need. `broker` is the name of the broker, if there is one.
    ///
    /// # Errors
    /// A file that the options name cannot be used, or the broker cannot be used with the engine.
    pub(super) fn sources(&self, broker: Option<&str>, registry: &Registry) -> Result<Sources, Failure> {
        if let Some((pubsub, broker)) = self.pubsub.zip(broker) {
            return Err(excluded(pubsub, broker));
        }
        let needs_redis = self.takes(Adapter::Redis)
            || self.takes(Adapter::Redisx)
            || self.pubsub == Some(PubSub::Redis)
            || broker == Some("redis");
        let needs_nats =
            self.takes(Adapter::Nats) || self.pubsub == Some(PubSub::Nats) || broker == Some("nats");
        let redis = needs_redis.then(|| self.redis.server()).transpose()?;
        let nats = needs_nats.then(|| self.nats.servers()).transpose()?;
        let cluster = self.cluster(redis.as_ref(), nats.as_ref(), registry);
        Ok(Sources { redis, nats, cluster })
    }

    fn cluster(
        &self,
        redis: Option<&Server>,
        nats: Option<&NatsServers>,
        registry: &Registry,
    ) -> Option<Cluster> {
        let kind = self.pubsub?;
        let interest = Interest::default();
        let (command_channel, outbox, work) = match kind {
            PubSub::Redis => {
                let channel = self.redis.command_channel(self.takes(Adapter::Redis));
                let server = redis?.clone().with_max_payload(MAX_MESSAGE_BYTES);
                let (outbox, posting) = self.redis.posting(server.clone(), kind.peers());
                let subscriptions = self.redis.subscriptions(server, interest.clone(), kind.peers());
                (channel, outbox, Work::Redis(Box::new((subscriptions, posting))))
            }
            PubSub::Nats => {
                let channel = self.nats.command_channel().to_owned();
                let (servers, interest) = (nats?.clone(), interest.clone());
                let (outbox, jobs) = outbox(kind.name());
                let client = NatsOptions::cluster(servers, interest, jobs, kind.peers(), MAX_MESSAGE_BYTES);
                (channel, outbox, Work::Nats(Box::new(client)))
            }
        };
        interest.join(&command_channel);
        interest.register(registry);
        Some(Cluster {
            engine: Arc::new(CompatibleEngine {
                kind,
                interest,
                outbox,
                command_channel,
            }),
            work,
        })
    }

    /// Starts the adapters and the engine. They connect in the background. `node_id` is the name of this process for its
    /// peers.
    pub(super) fn start(
        &self,
        sources: Sources,
        node_id: Option<&str>,
        publisher: &Publisher,
        registry: &Registry,
    ) -> (Ingest, Option<ClusterConnections>) {
        let Sources { redis, nats, cluster } = sources;
        let (stop, stopped) = watch::channel(false);
        let mut tasks = JoinSet::new();
        let for_all = |source| BroadcastsForAll {
            publisher: publisher.clone(),
            source,
        };
        if let Some(server) = redis.clone() {
            let status = || registry.dependency("redis");
            if self.takes(Adapter::Redis) {
                let channel = self.redis.channel(server.clone());
                tasks.spawn(channel.run(for_all("Redis"), status(), stopped.clone()));
            }
            if self.takes(Adapter::Redisx) {
                let sink = Broadcasts {
                    publisher: publisher.clone(),
                    source: self.redis.stream_key().to_owned(),
                };
                let stream = self.redis.stream(server, node_id);
                tasks.spawn(stream.run(sink, status(), stopped.clone()));
            }
        }
        if let Some(servers) = nats.clone().filter(|_| self.takes(Adapter::Nats)) {
            let channel = self.nats.channel(servers);
            tasks.spawn(channel.run(for_all("NATS"), registry.dependency("nats"), stopped));
        }
        let connections = cluster.map(|cluster| {
            let kind = cluster.engine.kind;
            let sink = FromCluster {
                publisher: publisher.clone(),
                engine: kind.name(),
            };
            kind.log_start();
            Self::connect(cluster, sink, registry)
        });
        (Ingest { stop, tasks }, connections)
    }

    fn connect(cluster: Cluster, sink: impl Sink + 'static, registry: &Registry) -> ClusterConnections {
        let (stop, stopped) = watch::channel(false);
        let mut tasks = JoinSet::new();
        match cluster.work {
            Work::Redis(connections) => {
                let (subscriptions, posting) = *connections;
                tasks.spawn(subscriptions.run(sink, registry.dependency("redis"), stopped.clone()));
                tasks.spawn(posting.run(registry.dependency("redis"), stopped));
            }
            Work::Nats(client) => {
                tasks.spawn(client.run(sink, registry.dependency("nats"), stopped));
            }
        }
        ClusterConnections {
            _stop: stop,
            _tasks: tasks,
        }
    }

    /// Connects as [`start`](Self::start) does, without taking messages from others: subscriptions get copies, which are
    /// dropped, and the stream of the adapter redisx is not read.
    pub(super) fn reach(
        &self,
        sources: Sources,
        registry: &Registry,
    ) -> (Ingest, Option<ClusterConnections>) {
        let Sources { redis, nats, cluster } = sources;
        let (stop, stopped) = watch::channel(false);
        let mut tasks = JoinSet::new();
        if let Some(server) = redis.clone() {
            let status = || registry.dependency("redis");
            if self.takes(Adapter::Redis) {
                let channel = self.redis.channel(server.clone());
                tasks.spawn(channel.run(Nowhere, status(), stopped.clone()));
            }
            if self.takes(Adapter::Redisx) {
                let stream = self.redis.stream(server, None);
                tasks.spawn(stream.reach(status(), stopped.clone()));
            }
        }
        if let Some(servers) = nats.clone().filter(|_| self.takes(Adapter::Nats)) {
            let channel = self.nats.channel(servers);
            tasks.spawn(channel.run(Nowhere, registry.dependency("nats"), stopped));
        }
        let connections = cluster.map(|cluster| Self::connect(cluster, Nowhere, registry));
        (Ingest { stop, tasks }, connections)
    }

    /// What to do when the dependency with this name cannot be used. `None`: it is not Redis or NATS.
    pub(super) fn remedy(&self, dependency: &str) -> Option<&'static str> {
        match dependency {
            "redis" | "redis_broker" => Some(self.redis.remedy()),
            "nats" => Some("start NATS, or correct its address and user in --nats_servers"),
            "nats_broker" => Some(
                "start NATS with JetStream (nats-server -js), or correct its address and user in --nats_servers",
            ),
            _ => None,
        }
    }

    /// The broker with this name in the Redis or NATS of `sources`, with the limits of `keeping`. `None`: it is not shared.
    pub(super) fn broker(
        &self,
        name: &str,
        sources: &Sources,
        keeping: &BrokerOptions,
        registry: &Registry,
    ) -> Option<SharedBroker> {
        let retentions = keeping.retentions();
        let ttls = Ttls {
            sessions: keeping.sessions_ttl(),
            presence: keeping.presence_ttl(),
        };
        match name {
            "redis" => {
                let server = sources.redis.clone()?;
                Some(self.redis.broker(server, retentions, ttls, registry))
            }
            "nats" => {
                let servers = sources.nats.clone()?;
                Some(self.nats.broker(servers, retentions, ttls, registry))
            }
            _ => None,
        }
    }

    /// Where the broker with this name is, in words.
    pub(super) fn place(&self, name: &str) -> String {
        if name == "nats" {
            format!("this NATS (--nats_prefix {})", self.nats.prefix())
        } else {
            format!("this Redis (--redis_prefix {})", self.redis.prefix())
        }
    }

    /// Whether every message of the adapter redis or nats reaches this server without the broker.
    pub(super) fn passes_broker_by(&self) -> bool {
        self.takes(Adapter::Redis) || self.takes(Adapter::Nats)
    }

    /// Whether the server uses an adapter for Redis or NATS. By default it uses the one of AnyCable, whose Ruby gem
    /// publishes to Redis unless told otherwise, but only if a Redis is named: a server that waits for a missing Redis
    /// would never be ready.
    fn takes(&self, adapter: Adapter) -> bool {
        match (self.broadcast_adapter.as_slice(), adapter) {
            ([], Adapter::Redis) => self.redis.is_named(),
            (adapters, _) => adapters.contains(&adapter),
        }
    }
}

/// A broker cannot be used together with `--pubsub`.
fn excluded(pubsub: PubSub, broker: &str) -> Failure {
    let pubsub = pubsub.id();
    Failure::Usage(match broker {
        "redis" | "nats" => format!(
            "--pubsub {pubsub} and --broker {broker} both connect the servers of a cluster, and only the broker keeps messages. \
             Leave out --pubsub"
        ),
        _ => format!(
            "--pubsub {pubsub} connects several servers, and --broker {broker} keeps messages on one of them: a client that \
             comes back to another server would miss messages. Leave out one of both, or use --broker redis or --broker nats alone"
        ),
    })
}

impl Sources {
    /// The engine of the cluster. `None`: this server is alone.
    pub(super) fn engine(&self) -> Option<Arc<dyn Engine>> {
        let cluster = self.cluster.as_ref()?;
        Some(Arc::clone(&cluster.engine) as Arc<dyn Engine>)
    }
}

impl Ingest {
    /// Lets the adapters finish their messages.
    pub(super) async fn stop(mut self) {
        self.stop.send_replace(true);
        let all_finished = async { while self.tasks.join_next().await.is_some() {} };
        if tokio::time::timeout(STOP_TIMEOUT, all_finished).await.is_err() {
            tracing::warn!(
                "Redis or NATS did not answer in time; another node takes over the unacknowledged messages of a Redis stream."
            );
        }
    }
}
