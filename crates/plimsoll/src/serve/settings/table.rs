//! The one table of settings: which flag of `plimsoll serve` has which key in a settings file.
//!
//! Type, default and help are clap's, in the structs that declare the flags; the names of environment variables
//! follow from the flag. So a new flag needs one line here, and nothing else.

use std::borrow::Cow;

use self::Condition::{Has, Set, Unset};

/// One setting: the names under which it can be given.
#[derive(Debug, Clone, Copy)]
pub(super) struct Setting {
    /// The flag without its leading dashes, as clap has it: `ping-interval`.
    pub(super) flag: &'static str,
    /// The key in a settings file with its section, `app.ping_interval`; `None` for a setting that a file cannot
    /// have.
    pub(super) key: Option<&'static str>,
    /// A variable that hosting platforms set, after which nothing but the file is asked.
    pub(super) variable: Option<&'static str>,
    pub(super) secrecy: Secrecy,
    pub(super) shape: Shape,
    /// The setting has an effect only if one of these conditions holds. An empty list means always.
    pub(super) needs: &'static [Condition],
    /// Flags with which it has no effect.
    pub(super) excluded_by: &'static [&'static str],
}

/// A condition on another setting, which is named by its flag.
#[derive(Debug, Clone, Copy)]
pub(super) enum Condition {
    /// The setting is on, or has a value.
    Set(&'static str),
    /// The setting is off, and has no value.
    Unset(&'static str),
    /// This is one of its values.
    Has(&'static str, &'static str),
}

impl Secrecy {
    /// The replacement of a value that must not be printed.
    pub(super) fn masked(self, value: &str) -> Option<String> {
        match self {
            Self::Public => None,
            Self::Secret => Some(plimsoll_redacted::HIDDEN.to_owned()),
            Self::Credentials => match plimsoll_redacted::url_with_query(value) {
                Cow::Owned(masked) => Some(masked),
                Cow::Borrowed(_) => None,
            },
        }
    }
}

/// The form of a value in a settings file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// The form of the argument: a list where clap splits at commas; otherwise one value.
    OfArgument,
    /// A list that not clap splits at commas, but the setting's own type.
    List,
    /// Names with values; elsewhere a list of `name:value`.
    Pairs,
}

/// The part of a value that may be printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Secrecy {
    /// The whole value.
    Public,
    /// A URL, or a list of them, without users, passwords and tokens.
    Credentials,
    /// Nothing of the value.
    Secret,
}

const TOKENS: &[Condition] = &[Set("jwt-secret"), Set("jwt-jwks"), Set("secret")];
const SIGNED_STREAMS: &[Condition] = &[Set("streams-secret"), Set("secret")];
const STREAMS: &[Condition] = &[
    Set("streams-secret"),
    Set("secret"),
    Set("public-streams"),
    Set("public"),
];
const HTTP_BROADCASTS: &[Condition] = &[Unset("broadcast-adapter"), Has("broadcast-adapter", "http")];
const REDIS: &[Condition] = &[
    Set("redis-url"),
    Has("pubsub", "redis"),
    Has("broadcast-adapter", "redis"),
    Has("broadcast-adapter", "redisx"),
    Has("broker", "redis"),
];
const REDIS_BROKER: &[Condition] = &[Has("broker", "redis")];
const REDIS_CHANNEL: &[Condition] = &[Set("redis-url"), Has("broadcast-adapter", "redis")];
const REDIS_KEEPALIVE: &[Condition] = &[
    Set("redis-url"),
    Has("broadcast-adapter", "redis"),
    Has("pubsub", "redis"),
];
const REDIS_STREAM: &[Condition] = &[Has("broadcast-adapter", "redisx")];
const NATS: &[Condition] = &[
    Has("broadcast-adapter", "nats"),
    Has("pubsub", "nats"),
    Has("broker", "nats"),
];
const NATS_BROKER: &[Condition] = &[Has("broker", "nats")];
const BROKER: &[Condition] = &[
    Has("broker", "memory"),
    Has("presets", "broker"),
    Has("broker", "redis"),
    Has("broker", "nats"),
];
const MEMORY_BROKER: &[Condition] = &[Has("broker", "memory"), Has("presets", "broker")];
const API: &[Condition] = &[Set("api-secret"), Set("secret"), Set("api-port")];
const STATSD: &[Condition] = &[Set("statsd-host")];
/// The settings that replace a remote application.
const NO_REMOTE: &[&str] = &["app", "norpc"];

/// All settings, in the order in which the reference page and the sample file show them: sections together, and
/// keys without a section first. Keys are AnyCable's where AnyCable has them.
#[rustfmt::skip]
pub(super) const SETTINGS: &[Setting] = &[
    variable("config-path"),
    variable("ignore-config-path"),
    setting("node-id", "node_id"),
    setting("secret", "secret").secret(),
    setting("broadcast-key", "broadcast_key").secret(),
    setting("broadcast-adapter", "broadcast_adapters"),
    setting("pubsub", "pubsub_adapter"),
    setting("presets", "presets"),
    setting("noauth", "noauth"),
    setting("public", "public"),
    setting("norpc", "norpc"),
    setting("log-level", "logging.level"),
    setting("log-format", "logging.format"),
    setting("debug", "logging.debug"),
    setting("host", "server.host"),
    setting("port", "server.port").also("PORT"),
    setting("allowed-origins", "server.allowed_origins").list(),
    setting("max-conn", "server.max_conn"),
    setting("max-conn-per-ip", "server.max_conn_per_ip"),
    setting("health-path", "server.health_path"),
    setting("ready-path", "server.ready_path"),
    setting("handshake-timeout-ms", "server.handshake_timeout_ms"),
    setting("io", "server.io"),
    setting("shards", "server.shards"),
    setting("ssl-cert", "server.ssl.cert_path"),
    setting("ssl-key", "server.ssl.private_key_path"),
    setting("app", "app.embedded"),
    setting("disconnect-mode", "app.disconnect_mode").excluded_by(NO_REMOTE),
    setting("ping-interval", "app.ping_interval"),
    setting("pong-timeout", "app.pong_timeout"),
    setting("enable-native-pings", "app.enable_native_ping"),
    setting("ping-timestamp-precision", "app.ping_timestamp_precision"),
    setting("shutdown-timeout", "app.shutdown_timeout"),
    setting("shutdown-delay", "app.shutdown_delay"),
    setting("shutdown-slowdrain", "app.shutdown_slowdrain"),
    setting("shutdown-slowdrain-period", "app.shutdown_slowdrain_period"),
    setting("stats-refresh-interval", "app.stats_refresh_interval"),
    setting("path", "ws.paths"),
    setting("max-message-size", "ws.max_message_size"),
    setting("ws-max-pending-size", "ws.max_pending_size"),
    setting("max-pending-total", "ws.max_pending_total"),
    setting("enable-ws-compression", "ws.enable_compression"),
    setting("no-welcome", "ws.no_echo_welcome"),
    setting("sse", "sse.enabled"),
    setting("sse-path", "sse.path").needs(&[Set("sse")]),
    setting("ds", "ds.enabled").needs(MEMORY_BROKER),
    setting("ds-path", "ds.path").needs(&[Set("ds")]),
    setting("ds-skip-auth", "ds.skip_auth").needs(&[Set("ds")]),
    setting("ds-poll-interval", "ds.poll_interval").needs(&[Set("ds")]),
    setting("ds-sse-ttl", "ds.sse_ttl").needs(&[Set("ds")]),
    setting("rpc-host", "rpc.host").with_credentials(),
    setting("rpc-impl", "rpc.implementation"),
    setting("rpc-concurrency", "rpc.concurrency").excluded_by(NO_REMOTE),
    setting("rpc-concurrency-initial", "rpc.concurrency_initial").excluded_by(&["app", "norpc", "rpc-concurrency"]),
    setting("rpc-concurrency-min", "rpc.concurrency_min").excluded_by(&["app", "norpc", "rpc-concurrency"]),
    setting("rpc-concurrency-max", "rpc.concurrency_max").excluded_by(&["app", "norpc", "rpc-concurrency"]),
    setting("rpc-command-timeout", "rpc.command_timeout").excluded_by(NO_REMOTE),
    setting("rpc-request-timeout", "rpc.request_timeout").excluded_by(NO_REMOTE),
    setting("rpc-enable-tls", "rpc.enable_tls").excluded_by(NO_REMOTE),
    setting("rpc-tls-verify", "rpc.tls_verify").excluded_by(NO_REMOTE),
    setting("rpc-tls-root-ca", "rpc.tls_root_ca_path").excluded_by(NO_REMOTE),
    setting("rpc-max-call-recv-size", "rpc.max_recv_size").excluded_by(NO_REMOTE),
    setting("rpc-max-call-send-size", "rpc.max_send_size").excluded_by(NO_REMOTE),
    setting("http-rpc-secret", "rpc.secret").secret().excluded_by(NO_REMOTE),
    setting("headers", "rpc.proxy_headers").excluded_by(NO_REMOTE),
    setting("proxy-cookies", "rpc.proxy_cookies").excluded_by(NO_REMOTE),
    setting("disconnect-rate", "disconnector.rate").excluded_by(NO_REMOTE),
    setting("disconnect-backlog-size", "disconnector.backlog").excluded_by(NO_REMOTE),
    setting("jwt-secret", "jwt.secret").secret(),
    setting("jwt-jwks", "jwt.jwks").with_credentials(),
    setting("jwt-jwks-refresh-interval", "jwt.jwks_refresh_interval").needs(&[Set("jwt-jwks")]),
    setting("jwt-param", "jwt.param").needs(TOKENS),
    setting("enforce-jwt", "jwt.force"),
    setting("streams-secret", "streams.secret").secret(),
    setting("public-streams", "streams.public"),
    setting("streams-whisper", "streams.whisper").needs(SIGNED_STREAMS),
    setting("streams-presence", "streams.presence").needs(BROKER),
    setting("pubsub-channel", "streams.pubsub_channel").needs(STREAMS),
    setting("turbo-streams", "streams.turbo"),
    setting("turbo-streams-secret", "streams.turbo_secret").secret().needs(&[Set("turbo-streams")]),
    setting("cable-ready", "streams.cable_ready"),
    setting("cable-ready-secret", "streams.cable_ready_secret").secret().needs(&[Set("cable-ready")]),
    setting("http-broadcast-port", "http_broadcast.port").needs(HTTP_BROADCASTS),
    setting("http-broadcast-path", "http_broadcast.path").needs(HTTP_BROADCASTS),
    setting("http-broadcast-cors", "http_broadcast.cors_headers").needs(HTTP_BROADCASTS),
    setting("http-broadcast-insecure", "http_broadcast.insecure").needs(HTTP_BROADCASTS),
    setting("max-body-total", "http_broadcast.max_body_total"),
    setting("redis-url", "redis.url").also("REDIS_URL").with_credentials().needs(&[Unset("broadcast-adapter"), Has("broadcast-adapter", "redis"), Has("broadcast-adapter", "redisx"), Has("pubsub", "redis"), Has("broker", "redis")]),
    setting("redis-sentinels", "redis.sentinels").with_credentials().needs(REDIS),
    setting("redis-sentinel-discovery-interval", "redis.sentinel_discovery_interval").needs(&[Set("redis-sentinels")]),
    setting("redis-prefix", "redis.prefix").needs(REDIS_BROKER),
    setting("redis-publish-timeout", "redis.publish_timeout").needs(REDIS_BROKER),
    setting("redis-wait", "redis.wait").needs(REDIS_BROKER),
    setting("redis-tls-verify", "redis.tls_verify").needs(REDIS),
    setting("redis-tls-ca-cert-path", "redis.tls_ca_cert_path").needs(&[Set("redis-tls-verify")]),
    setting("redis-tls-client-cert-path", "redis.tls_client_cert_path").needs(REDIS),
    setting("redis-tls-client-key-path", "redis.tls_client_key_path").needs(REDIS),
    setting("redis-keepalive-interval", "redis.keepalive_ping_interval").needs(REDIS_KEEPALIVE),
    setting("redis-channel", "redis_pubsub_broadcast.channel").needs(REDIS_CHANNEL),
    setting("redisx-stream", "redis_stream_broadcast.stream").needs(REDIS_STREAM),
    setting("redisx-group", "redis_stream_broadcast.group").needs(REDIS_STREAM),
    setting("redisx-read-block-milliseconds", "redis_stream_broadcast.stream_read_block_milliseconds").needs(REDIS_STREAM),
    setting("redisx-hold", "redis_stream_broadcast.hold").needs(REDIS_STREAM),
    setting("redis-pubsub-channel", "redis_pubsub.channel").needs(&[Has("pubsub", "redis")]),
    setting("nats-servers", "nats.servers").with_credentials().needs(NATS),
    setting("nats-dont-randomize-servers", "nats.dont_randomize_servers").needs(NATS),
    setting("nats-prefix", "nats.prefix").needs(NATS_BROKER),
    setting("nats-stream", "nats.stream").needs(NATS_BROKER),
    setting("nats-replicas", "nats.replicas").needs(NATS_BROKER),
    setting("nats-publish-timeout", "nats.publish_timeout").needs(NATS_BROKER),
    setting("jetstream-ready-timeout", "embedded_nats.jetstream_ready_timeout").needs(NATS_BROKER),
    setting("nats-channel", "nats_broadcast.channel").needs(&[Has("broadcast-adapter", "nats")]),
    setting("nats-pubsub-channel", "nats_pubsub.channel").needs(&[Has("pubsub", "nats")]),
    setting("broker", "broker.adapter"),
    setting("history-limit", "broker.history_limit").needs(BROKER),
    setting("history-ttl", "broker.history_ttl").needs(BROKER),
    setting("history-streams", "broker.history_streams").needs(BROKER),
    setting("history-max-bytes", "broker.history_max_bytes").needs(BROKER),
    setting("history-truncation", "broker.history_truncation").needs(BROKER),
    setting("sessions-ttl", "broker.sessions_ttl").needs(BROKER),
    setting("resume-check", "broker.resume_check").needs(BROKER),
    setting("disconnect-grace", "broker.disconnect_grace").needs(BROKER),
    setting("presence-ttl", "broker.presence_ttl").needs(BROKER),
    setting("presence-updates", "broker.presence_updates").needs(BROKER),
    setting("presence-webhook", "broker.presence_webhook").with_credentials().needs(BROKER),
    setting("presence-webhook-secret", "broker.presence_webhook_secret").secret().needs(&[Set("presence-webhook")]),
    setting("api-path", "api.path").needs(API),
    setting("api-port", "api.port"),
    setting("api-secret", "api.secret").secret(),
    setting("admin-secret", "admin.secret").secret(),
    setting("metrics-http", "metrics.http_path"),
    setting("metrics-host", "metrics.host").needs(&[Set("metrics-http")]),
    setting("metrics-port", "metrics.port").needs(&[Set("metrics-http")]),
    setting("metrics-log", "metrics.log"),
    setting("metrics-rotate-interval", "metrics.rotate_interval").needs(&[Set("metrics-log"), Set("statsd-host")]),
    setting("metrics-log-filter", "metrics.log_filter").needs(&[Set("metrics-log")]),
    setting("metrics-tags", "metrics.tags").pairs().needs(&[Set("metrics-http"), Set("statsd-host")]),
    setting("statsd-host", "metrics.statsd.host"),
    setting("statsd-prefix", "metrics.statsd.prefix").needs(STATSD),
    setting("statsd-max-packet-size", "metrics.statsd.max_packet_size").needs(STATSD),
    setting("statsd-tags-format", "metrics.statsd.tags_format").needs(STATSD),
];

/// The part of a flag's value that may be printed.
pub(super) fn secrecy(flag: &str) -> Secrecy {
    let setting = SETTINGS.iter().find(|setting| setting.flag == flag);
    setting.map_or(Secrecy::Public, |setting| setting.secrecy)
}

/// Whether hosting platforms set the variable, perhaps for another program.
pub(super) fn is_of_platforms(variable: &str) -> bool {
    SETTINGS.iter().any(|setting| setting.variable == Some(variable))
}

/// A setting with a flag, environment variables and a key.
const fn setting(flag: &'static str, key: &'static str) -> Setting {
    Setting {
        key: Some(key),
        ..variable(flag)
    }
}

/// A setting with a flag and environment variables.
const fn variable(flag: &'static str) -> Setting {
    Setting {
        flag,
        key: None,
        variable: None,
        secrecy: Secrecy::Public,
        shape: Shape::OfArgument,
        needs: &[],
        excluded_by: &[],
    }
}

impl Setting {
    const fn also(self, variable: &'static str) -> Self {
        Self {
            variable: Some(variable),
            ..self
        }
    }

    const fn secret(self) -> Self {
        Self {
            secrecy: Secrecy::Secret,
            ..self
        }
    }

    const fn with_credentials(self) -> Self {
        Self {
            secrecy: Secrecy::Credentials,
            ..self
        }
    }

    const fn needs(self, needs: &'static [Condition]) -> Self {
        Self { needs, ..self }
    }

    const fn excluded_by(self, excluded_by: &'static [&'static str]) -> Self {
        Self { excluded_by, ..self }
    }

    const fn list(self) -> Self {
        Self {
            shape: Shape::List,
            ..self
        }
    }

    const fn pairs(self) -> Self {
        Self {
            shape: Shape::Pairs,
            ..self
        }
    }
}
