//! AnyCable's options that Plimsoll does not have, and what happens instead. They are named at start, so that
//! users of AnyCable learn of it at the start.

/// An option of AnyCable's that has no effect here.
#[derive(Debug, Clone, Copy)]
pub(super) struct Unsupported {
    /// The flag without its leading dashes; `None` where AnyCable has only a key.
    pub(super) flag: Option<&'static str>,
    /// The key in a settings file, where there is one.
    pub(super) key: Option<&'static str>,
    /// Whether it is on or off and needs no value.
    pub(super) is_switch: bool,
    /// One sentence about the behaviour of this server instead.
    pub(super) instead: &'static str,
}

const NO_EMBEDDED_NATS: &str = "there is no embedded NATS server; connect servers with a NATS or a Redis of your own \
    (--pubsub, --broker).";
const NO_PUSHER: &str = "the Pusher protocol is not supported; clients connect with Action Cable.";
const NO_GRAPHQL: &str =
    "GraphQL's WebSocket protocols are not supported; use GraphQL subscriptions over Action Cable.";
const NO_OCPP: &str = "OCPP is not supported.";
const NO_POLLING: &str = "long polling is not supported; clients connect over WebSocket.";
const NO_POOLS: &str = "it is not needed: one thread per core serves its own clients (--shards).";
const NO_BUFFERS: &str =
    "it is not needed: idle connections hold no buffers, and buffers grow with the messages.";
const NO_PRESETS: &str =
    "platforms are not detected; give each setting, for example --host 0.0.0.0 in a container.";
const NO_TELEMETRY: &str = "this program never sends usage data.";

/// All unsupported options, by AnyCable's chapters.
#[rustfmt::skip]
pub(super) const UNSUPPORTED: &[Unsupported] = &[
    option("hub-gopool-size", "app.broadcast_gopool_size", NO_POOLS),
    option("shutdown-pool-size", "app.shutdown_disconnect_gopool_size", NO_POOLS),
    switch("netpoll-enabled", "app.netpoll_enabled", NO_POOLS),
    option("read-buffer-size", "ws.read_buffer_size", NO_BUFFERS),
    option("write-buffer-size", "ws.write_buffer_size", NO_BUFFERS),
    option("ws-write-timeout", "ws.write_timeout", "a client that does not read is disconnected when more than \
        --ws_max_pending_size bytes wait for it."),
    switch("redis-disable-cache", "redis.disable_cache", "data from Redis is not cached."),
    key("redis.internal_channel", "the channel for commands is the one of redis_pubsub.channel."),
    key("redis.max_reconnect_attempts", "the server tries to reach Redis again forever."),
    key("nats.internal_channel", "the subject for commands is the one of nats_pubsub.channel."),
    key("nats.max_reconnect_attempts", "the server tries to reach NATS again forever."),
    switch("embed-nats", "embedded_nats.enabled", NO_EMBEDDED_NATS),
    option("enats-addr", "embedded_nats.service_addr", NO_EMBEDDED_NATS),
    option("enats-cluster", "embedded_nats.cluster_addr", NO_EMBEDDED_NATS),
    option("enats-cluster-name", "embedded_nats.cluster_name", NO_EMBEDDED_NATS),
    option("enats-cluster-routes", "embedded_nats.routes", NO_EMBEDDED_NATS),
    option("enats-gateway", "embedded_nats.gateway_addr", NO_EMBEDDED_NATS),
    option("enats-gateways", "embedded_nats.gateways", NO_EMBEDDED_NATS),
    option("enats-gateway-advertise", "embedded_nats.gateway_advertise", NO_EMBEDDED_NATS),
    option("enats-store-dir", "embedded_nats.jetstream_store_dir", NO_EMBEDDED_NATS),
    option("enats-server-name", "embedded_nats.name", NO_EMBEDDED_NATS),
    switch("enats-debug", "embedded_nats.debug", NO_EMBEDDED_NATS),
    switch("enats-trace", "embedded_nats.trace", NO_EMBEDDED_NATS),
    option("enats-max-payload", "embedded_nats.max_payload", NO_EMBEDDED_NATS),
    key("embedded_nats.jetstream", NO_EMBEDDED_NATS),
    option("pusher-app-id", "pusher.app_id", NO_PUSHER),
    option("pusher-app-key", "pusher.app_key", NO_PUSHER),
    option("pusher-secret", "pusher.secret", NO_PUSHER),
    option("pusher-api-port", "pusher.api_port", NO_PUSHER),
    option("graphql-path", "graphql.path", NO_GRAPHQL),
    option("graphql-channel", "graphql.channel", NO_GRAPHQL),
    option("graphql-action", "graphql.action", NO_GRAPHQL),
    option("ocpp-path", "ocpp.path", NO_OCPP),
    option("ocpp-heartbeat-interval", "ocpp.heartbeat_interval", NO_OCPP),
    switch("ocpp-granular-actions", "ocpp.granular_actions", NO_OCPP),
    switch("poll", "poll.enabled", NO_POLLING),
    option("poll-path", "poll.path", NO_POLLING),
    option("poll-interval", "poll.interval", NO_POLLING),
    option("poll-flush-interval", "poll.flush_interval", NO_POLLING),
    option("poll-max-request-size", "poll.max_request_size", NO_POLLING),
    option("metrics-log-formatter", "metrics.log_formatter", "the log line has one form; --log_format json is for programs."),
    option("telemetry-url", "", NO_TELEMETRY),
    switch("telemetry-debug", "", NO_TELEMETRY),
    option("fly-rpc-app-name", "", NO_PRESETS),
];

/// An option with a value.
const fn option(flag: &'static str, key: &'static str, instead: &'static str) -> Unsupported {
    Unsupported {
        flag: Some(flag),
        key: if key.is_empty() { None } else { Some(key) },
        is_switch: false,
        instead,
    }
}

/// An option that is on or off.
const fn switch(flag: &'static str, key: &'static str, instead: &'static str) -> Unsupported {
    Unsupported {
        is_switch: true,
        ..option(flag, key, instead)
    }
}

/// A key without a flag.
const fn key(key: &'static str, instead: &'static str) -> Unsupported {
    Unsupported {
        flag: None,
        ..option("", key, instead)
    }
}
