//! The one table of settings: which flag of `plimsoll serve` has which key in a settings file.
//!
//! Type, default and help are clap's, in the structs that declare the flags; the names of environment variables
//! follow from the flag. So a new flag needs one line here, and nothing else.

/// One setting: the names under which it can be given.
#[derive(Debug, Clone, Copy)]
pub(super) struct Setting {
    /// The flag without its leading dashes, as clap has it: `ping-interval`.
    pub(super) flag: &'static str,
    /// The key in a settings file with its section, `app.ping_interval`; none for a setting that a file cannot have.
    pub(super) key: Option<&'static str>,
    /// A variable that hosting platforms set, after which nothing but the file is asked.
    pub(super) variable: Option<&'static str>,
    pub(super) secrecy: Secrecy,
    pub(super) shape: Shape,
}

impl Secrecy {
    /// What stands for a value that must not be printed as it is.
    pub(super) fn masked(self, value: &str) -> Option<String> {
        match self {
            Self::Public => None,
            Self::Secret => Some("***".to_owned()),
            Self::Credentials => {
                let (before, after) = value.rsplit_once('@')?;
                let scheme = before.find("://").map_or("", |colon| &before[..colon + 3]);
                Some(format!("{scheme}***@{after}"))
            }
        }
    }
}

/// What a settings file may have for a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// What follows from the argument: a list where clap splits at commas; otherwise one value.
    OfArgument,
    /// A list that not clap splits at commas, but the setting's own type.
    List,
    /// Names with values; elsewhere a list of `name:value`.
    Pairs,
}

/// How much of a value may be printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Secrecy {
    /// All.
    Public,
    /// A URL without its user and password.
    Credentials,
    /// Nothing.
    Secret,
}

/// All settings, in the order in which the reference page and the sample file show them: sections together, and
/// keys without a section first. Keys are AnyCable's where AnyCable has them.
#[rustfmt::skip]
pub(super) const SETTINGS: &[Setting] = &[
    variable("config-path"),
    variable("ignore-config-path"),
    setting("secret", "secret").secret(),
    setting("broadcast-key", "broadcast_key").secret(),
    setting("broadcast-adapter", "broadcast_adapters"),
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
    setting("shards", "server.shards"),
    setting("ssl-cert", "server.ssl.cert_path"),
    setting("ssl-key", "server.ssl.private_key_path"),
    setting("app", "app.embedded"),
    setting("disconnect-mode", "app.disconnect_mode"),
    setting("ping-interval", "app.ping_interval"),
    setting("ping-timestamp-precision", "app.ping_timestamp_precision"),
    setting("shutdown-timeout", "app.shutdown_timeout"),
    setting("shutdown-delay", "app.shutdown_delay"),
    setting("stats-refresh-interval", "app.stats_refresh_interval"),
    setting("path", "ws.paths"),
    setting("max-message-size", "ws.max_message_size"),
    setting("ws-max-pending-size", "ws.max_pending_size"),
    setting("enable-ws-compression", "ws.enable_compression"),
    setting("no-welcome", "ws.no_echo_welcome"),
    setting("sse", "sse.enabled"),
    setting("sse-path", "sse.path"),
    setting("rpc-host", "rpc.host").with_credentials(),
    setting("rpc-impl", "rpc.implementation"),
    setting("rpc-concurrency", "rpc.concurrency"),
    setting("rpc-concurrency-initial", "rpc.concurrency_initial"),
    setting("rpc-concurrency-min", "rpc.concurrency_min"),
    setting("rpc-concurrency-max", "rpc.concurrency_max"),
    setting("rpc-command-timeout", "rpc.command_timeout"),
    setting("rpc-request-timeout", "rpc.request_timeout"),
    setting("rpc-enable-tls", "rpc.enable_tls"),
    setting("rpc-tls-verify", "rpc.tls_verify"),
    setting("rpc-tls-root-ca", "rpc.tls_root_ca_path"),
    setting("rpc-max-call-recv-size", "rpc.max_recv_size"),
    setting("rpc-max-call-send-size", "rpc.max_send_size"),
    setting("http-rpc-secret", "rpc.secret").secret(),
    setting("headers", "rpc.proxy_headers"),
    setting("proxy-cookies", "rpc.proxy_cookies"),
    setting("disconnect-rate", "disconnector.rate"),
    setting("disconnect-backlog-size", "disconnector.backlog"),
    setting("jwt-secret", "jwt.secret").secret(),
    setting("jwt-jwks", "jwt.jwks").with_credentials(),
    setting("jwt-jwks-refresh-interval", "jwt.jwks_refresh_interval"),
    setting("jwt-param", "jwt.param"),
    setting("enforce-jwt", "jwt.force"),
    setting("streams-secret", "streams.secret").secret(),
    setting("public-streams", "streams.public"),
    setting("streams-whisper", "streams.whisper"),
    setting("pubsub-channel", "streams.pubsub_channel"),
    setting("turbo-streams", "streams.turbo"),
    setting("turbo-streams-secret", "streams.turbo_secret").secret(),
    setting("cable-ready", "streams.cable_ready"),
    setting("cable-ready-secret", "streams.cable_ready_secret").secret(),
    setting("http-broadcast-port", "http_broadcast.port"),
    setting("http-broadcast-path", "http_broadcast.path"),
    setting("http-broadcast-cors", "http_broadcast.cors_headers"),
    setting("redis-url", "redis.url").also("REDIS_URL").with_credentials(),
    setting("redis-tls-verify", "redis.tls_verify"),
    setting("redis-tls-ca-cert-path", "redis.tls_ca_cert_path"),
    setting("redis-tls-client-cert-path", "redis.tls_client_cert_path"),
    setting("redis-tls-client-key-path", "redis.tls_client_key_path"),
    setting("redis-keepalive-interval", "redis.keepalive_ping_interval"),
    setting("redis-channel", "redis_pubsub_broadcast.channel"),
    setting("redisx-stream", "redis_stream_broadcast.stream"),
    setting("redisx-group", "redis_stream_broadcast.group"),
    setting("redisx-read-block-milliseconds", "redis_stream_broadcast.stream_read_block_milliseconds"),
    setting("admin-secret", "admin.secret").secret(),
    setting("metrics-http", "metrics.http_path"),
    setting("metrics-host", "metrics.host"),
    setting("metrics-port", "metrics.port"),
    setting("metrics-log", "metrics.log"),
    setting("metrics-rotate-interval", "metrics.rotate_interval"),
    setting("metrics-log-filter", "metrics.log_filter"),
    setting("metrics-tags", "metrics.tags").pairs(),
    setting("statsd-host", "metrics.statsd.host"),
    setting("statsd-prefix", "metrics.statsd.prefix"),
    setting("statsd-max-packet-size", "metrics.statsd.max_packet_size"),
    setting("statsd-tags-format", "metrics.statsd.tags_format"),
];

/// How much may be printed of what a flag says.
pub(super) fn secrecy(flag: &str) -> Secrecy {
    let setting = SETTINGS.iter().find(|setting| setting.flag == flag);
    setting.map_or(Secrecy::Public, |setting| setting.secrecy)
}

/// Whether the variable is one that hosting platforms set, perhaps for somebody else.
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
