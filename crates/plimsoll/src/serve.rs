//! `plimsoll serve`: the cable server.

mod certificate;
mod events;
mod identification;
mod ingest;
mod key_pair;
mod listener;
mod monitoring;
mod redis;
mod remote;
mod reporter;
mod secrets;
pub(crate) mod settings;
mod stopping;

use std::{
    cell::Cell,
    io::{self, Write},
    net::SocketAddr,
    num::NonZeroUsize,
    path::PathBuf,
    sync::Arc,
    thread,
    time::Duration,
};

use clap::{Parser, ValueEnum};
use plimsoll_load::preflight::{self, OpenFileLimit};
use plimsoll_server::{
    AdminPage, BroadcastAccess, Config, Listeners, PathPattern, Ports, Publisher,
    application::{Application, Benchmark, Chat, NoApplication},
};
use plimsoll_telemetry::Registry;

use self::{
    identification::IdentificationOptions,
    ingest::{Ingest, IngestOptions},
    listener::ListenerOptions,
    monitoring::MonitoringOptions,
    secrets::Secrets,
    stopping::{Orders, StoppingOptions},
};
use crate::{
    exit::{Failure, Status},
    logging::{self, LogFormat, LogLevel},
};

/// Open files that are not clients: listeners, event queues, standard streams, refusals under way.
const RESERVED_FILES: u64 = 64;

/// AnyCable's port for broadcasts without a key.
const OPEN_BROADCAST_PORT: u16 = 8090;

const EXAMPLES: &str = "\
Examples:
  plimsoll serve                                   a benchmark application on ws://localhost:8080/cable
  plimsoll serve --app chat --port 3334            a chat room for everybody with a cookie uid=<name>/<id>
  plimsoll serve --rpc_host localhost:50051        a Rails application with AnyCable's RPC server
  plimsoll serve --rpc_host http://app/_anycable   an application with AnyCable's RPC over HTTP
  plimsoll serve --broadcast_key secret            backends broadcast with POST /_broadcast on the same port
  plimsoll serve --broadcast_adapter http,redisx   backends broadcast through a Redis stream, too

Paths: /cable (Action Cable), /events (with --sse), /health, /ready, /_broadcast, /, and beside
an embedded application /json and /binary (websocket-shootout) and /echo.
Flags may be written with - or _. Every flag is also a variable, PLIMSOLL_<FLAG> or
ANYCABLE_<FLAG>, and a key in a settings file: plimsoll.toml, anycable.toml or
/etc/anycable/anycable.toml. The command line wins over the environment, and that over
the file.";

/// The heading of flags in the help, of which some are in [`ingest`].
const BROADCASTING: &str = "Broadcasting";

/// Serve Action Cable clients.
#[derive(Debug, Parser)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Options {
    /// Host name or address to listen on. 0.0.0.0 listens on all addresses.
    #[arg(long, default_value = "localhost")]
    host: String,
    /// Port to listen on; 0 takes a free one.
    #[arg(long, default_value_t = 8080)]
    port: u16,
    /// Path of the cable endpoint, also /ws/* and /{tenant}/cable; several with commas.
    #[arg(long, default_value = "/cable", value_delimiter = ',')]
    path: Vec<PathPattern>,
    /// Path that answers 200 while the server lives.
    #[arg(long, default_value = "/health", value_parser = absolute_path)]
    health_path: String,
    /// The embedded application that decides about connections and channels. Default: benchmark.
    #[arg(long, value_enum)]
    app: Option<App>,
    /// Path that takes broadcasts.
    #[arg(long, default_value = "/_broadcast", value_parser = absolute_path, help_heading = BROADCASTING)]
    http_broadcast_path: String,
    /// Let web pages broadcast over HTTP: those of --allowed_origins, or all when there is no such list.
    #[arg(long, help_heading = BROADCASTING)]
    http_broadcast_cors: bool,
    /// Port for broadcasts; 0 takes a free one when there is no key. Default: the main port with a key, 8090 without.
    #[arg(long, value_name = "PORT", help_heading = BROADCASTING)]
    http_broadcast_port: Option<u16>,
    /// Most connections at the same time; more are answered 503. 0: as many as the open-file limit allows.
    #[arg(long, default_value_t = 0)]
    max_conn: u64,
    /// Seconds between pings.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..=3600))]
    ping_interval: u64,
    /// Largest message that a client may send, in bytes.
    #[arg(long, default_value_t = 65_536)]
    max_message_size: usize,
    /// Bytes that may wait for one client that does not read; beyond it the client is disconnected (too_slow).
    #[arg(long, default_value_t = 1_048_576)]
    ws_max_pending_size: usize,
    /// Milliseconds that a client has to send its request.
    #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(u64).range(1..=3_600_000))]
    handshake_timeout_ms: u64,
    /// Compress messages for clients that offer permessage-deflate.
    #[arg(long)]
    enable_ws_compression: bool,
    /// Do not send a welcome text on /echo.
    #[arg(long)]
    no_welcome: bool,
    /// Threads that serve clients; each has its own share of them. Default: one per core.
    #[arg(long)]
    shards: Option<NonZeroUsize>,
    /// How much to log.
    #[arg(long, value_enum, default_value_t = LogLevel::Info)]
    log_level: LogLevel,
    /// How log lines are written: for people, or as one JSON object per line.
    #[arg(long, value_enum, default_value_t = LogFormat::Text)]
    log_format: LogFormat,
    /// Log what clients do wrong, too; the same as --log_level debug.
    #[arg(long)]
    debug: bool,
    /// Settings file. Default: plimsoll.toml, anycable.toml or /etc/anycable/anycable.toml, where it exists.
    #[arg(long, value_name = "FILE", conflicts_with = "ignore_config_path")]
    config_path: Option<PathBuf>,
    /// Read no settings file.
    #[arg(long)]
    ignore_config_path: bool,
    /// Print all settings as a settings file, with where each comes from, and end. Secrets are left out.
    #[arg(long)]
    print_config: bool,
    /// Print one JSON line on stdout when clients can connect: {"event":"listening","address":…,"pid":…}.
    #[arg(long)]
    announce: bool,
    /// Serve the chat room of `plimsoll demo` as a page on /.
    #[arg(long, hide = true)]
    demo_page: bool,
    // Behind the others, because each heading holds for everything that follows.
    #[command(flatten)]
    remote: remote::Options,
    #[command(flatten)]
    identification: IdentificationOptions,
    #[command(flatten)]
    secrets: Secrets,
    #[command(flatten)]
    ingest: IngestOptions,
    #[command(flatten)]
    events: events::Options,
    #[command(flatten)]
    listener: ListenerOptions,
    #[command(flatten)]
    monitoring: MonitoringOptions,
    #[command(flatten)]
    stopping: StoppingOptions,
}

/// The embedded applications.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum App {
    /// BenchmarkChannel: echo and broadcast, for load tests.
    Benchmark,
    /// ChatChannel: rooms, with cookie uid=<name>/<id>.
    Chat,
    /// No channels: on every path each message comes back, whatever it is, for tests of WebSocket clients.
    Echo,
}

impl Options {
    /// `warnings` are what was found while the settings were read.
    pub(crate) fn execute(self, warnings: &[String]) -> Result<Status, Failure> {
        logging::start(self.log_level(), self.log_format);
        for warning in warnings {
            tracing::warn!("{warning}");
        }
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        runtime.block_on(self.serve())
    }

    fn log_level(&self) -> LogLevel {
        match self.debug {
            true => LogLevel::Debug,
            false => self.log_level,
        }
    }

    async fn serve(self) -> Result<Status, Failure> {
        let open_files = preflight::raise_open_file_limit();
        let registry = Registry::default();
        let front = self.identification.prepare(&self.secrets, &registry).await?;
        let redis = self.ingest.redis_server()?;
        let config = self.config(&open_files, registry.clone())?;
        if let Some(tls) = config.tls.clone() {
            certificate::keep_fresh(tls)?;
        }
        let ports = self.bind(&config)?;
        let Orders { stop, end } = self.stopping.listen()?;
        log_start(&config, &open_files, &ports);
        let server = registry.dependency("server");
        server.up();
        if self.announce {
            announce(ports.clients.addresses())?;
        }
        self.monitoring.start(&registry);
        let remote = match self.identification.norpc || self.remote.is_none() {
            true => Some(Arc::new(NoApplication) as Arc<dyn Application>),
            false => self
                .remote
                .start(self.secrets.rpc_secret(), config.n_shards, &registry)?,
        };
        let ingest: Cell<Option<Ingest>> = Cell::default();
        let application = |publisher: Publisher| {
            ingest.set(Some(self.ingest.start(redis, &publisher, &registry)));
            front.place_before(remote.unwrap_or_else(|| App::start(self.app, publisher)))
        };
        let shutdown = async {
            self.stopping.wait(stop, &server).await;
            // Before the sessions go: what was read from Redis by now still reaches them.
            if let Some(ingest) = ingest.take() {
                ingest.stop().await;
            }
        };
        tokio::select! {
            served = plimsoll_server::run(config, ports, application, shutdown) => served?,
            Ok(reason) = end => return Err(hurried(reason)),
        }
        tracing::info!("Stopped.");
        Ok(Status::Success)
    }

    fn config(&self, open_files: &OpenFileLimit, registry: Registry) -> Result<Config, Failure> {
        let allowed = open_files.soft.saturating_sub(RESERVED_FILES).max(1);
        let wanted = if self.max_conn == 0 {
            allowed
        } else {
            self.max_conn.min(allowed)
        };
        let n_cores = thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
        Ok(Config {
            paths: self.path.clone(),
            events_path: self.events.path(),
            health_path: self.health_path.clone(),
            ready_path: self.monitoring.ready_path.clone(),
            metrics_page: self.monitoring.metrics_page(&self.host, self.port),
            admin_page: self.admin_page(),
            broadcast_path: self.http_broadcast_path.clone(),
            broadcast_access: self.broadcast_access(),
            broadcast_cors: self.http_broadcast_cors,
            max_message_bytes: self.max_message_size,
            max_pending_bytes: self.ws_max_pending_size,
            max_connections: usize::try_from(wanted).unwrap_or(usize::MAX),
            max_connections_per_address: self.listener.max_connections_per_address(),
            tls: self.listener.tls()?,
            allowed_origins: self.listener.allowed_origins.clone(),
            ping_precision: self.listener.ping_precision(),
            ping_interval: Duration::from_secs(self.ping_interval),
            handshake_timeout: Duration::from_millis(self.handshake_timeout_ms),
            proxied_headers: self
                .identification
                .with_token(self.remote.proxied_headers(), &self.secrets),
            drain_timeout: self.stopping.drain_timeout(),
            shutdown_timeout: self.stopping.shutdown_timeout(),
            serves_load_tests: self.is_embedded(),
            echoes_everywhere: self.echoes(),
            serves_demo_page: self.demo_page,
            greets_echo: !self.no_welcome && !self.echoes(),
            compresses: self.enable_ws_compression,
            stats_interval: self.monitoring.stats_interval(),
            n_shards: self.shards.unwrap_or(n_cores).get(),
            registry,
        })
    }

    /// The page for operators is where the metrics are: who gave these a port of their own does not want clients to see
    /// how the server is.
    fn admin_page(&self) -> Option<AdminPage> {
        Some(AdminPage {
            secret: self.secrets.admin_secret()?.to_owned(),
            on_main_port: !self.monitoring.has_own_port(&self.host, self.port),
        })
    }

    /// Whether an embedded application decides.
    fn is_embedded(&self) -> bool {
        !self.identification.norpc && !self.remote.replaces_embedded()
    }

    /// Whether there is nothing but an echo.
    fn echoes(&self) -> bool {
        self.is_embedded() && matches!(self.app, Some(App::Echo))
    }

    fn broadcast_access(&self) -> BroadcastAccess {
        let key = self.secrets.broadcast_key();
        let wants_own_port = self
            .http_broadcast_port
            .is_some_and(|port| port != 0 && port != self.port);
        match key {
            _ if !self.ingest.takes_http() => BroadcastAccess::SeparateListener(None),
            _ if self.identification.is_public() => BroadcastAccess::Everybody,
            Some(key) if !wants_own_port => BroadcastAccess::Key(key),
            key => BroadcastAccess::SeparateListener(key),
        }
    }

    fn bind(&self, config: &Config) -> Result<Ports, Failure> {
        let have_own_port = matches!(config.broadcast_access, BroadcastAccess::SeparateListener(_));
        Ok(Ports {
            clients: Listeners::bind(&self.host, self.port, config.n_shards)?,
            broadcasts: (have_own_port && self.ingest.takes_http())
                .then(|| self.bind_broadcasts(config.n_shards))
                .transpose()?,
            metrics: self.monitoring.bind(&self.host, self.port, config.n_shards)?,
        })
    }

    fn bind_broadcasts(&self, n_shards: usize) -> Result<Listeners, Failure> {
        let port = self.http_broadcast_port.unwrap_or(OPEN_BROADCAST_PORT);
        Listeners::bind(&self.host, port, n_shards).map_err(|error| {
            Failure::Runtime(
                format!(
                    "{error}. This is the port for broadcasts: choose another one with --http_broadcast_port, or \
                     set --broadcast_key without it to take broadcasts on the main port"
                )
                .into(),
            )
        })
    }
}

impl App {
    fn start(app: Option<Self>, publisher: Publisher) -> Arc<dyn Application> {
        if app.is_none() {
            tracing::warn!(
                "No application is named: the embedded one for load tests lets everybody connect (--app benchmark). \
                 AnyCable asks one on this machine then, which is --rpc_host localhost:50051."
            );
        }
        match app {
            None | Some(Self::Benchmark) => Arc::new(Benchmark::new(publisher)),
            Some(Self::Chat) => Arc::new(Chat::new(publisher)),
            Some(Self::Echo) => Arc::new(NoApplication),
        }
    }
}

fn absolute_path(text: &str) -> Result<String, String> {
    match text.starts_with('/') {
        true => Ok(text.to_owned()),
        false => Err(format!("a path begins with a slash, for example /{text}")),
    }
}

fn hurried(reason: &str) -> Failure {
    Failure::Runtime(
        format!("ended at once because of a second signal, {reason}, before everything had stopped").into(),
    )
}

fn log_start(config: &Config, open_files: &OpenFileLimit, ports: &Ports) {
    tracing::info!(
        shards = config.n_shards,
        pid = std::process::id(),
        "Plimsoll {} starts; the open-file limit of {} allows about {} connections.",
        env!("CARGO_PKG_VERSION"),
        open_files.soft,
        config.max_connections,
    );
    let secure = if config.tls.is_some() { "s" } else { "" };
    for address in ports.clients.addresses() {
        for path in &config.paths {
            tracing::info!("Action Cable clients are served on ws{secure}://{address}{path}.");
        }
        if let Some(path) = &config.events_path {
            tracing::info!("Server-Sent Events are served on http{secure}://{address}{path}.");
        }
    }
    for address in ports.broadcasts.iter().flat_map(Listeners::addresses) {
        let with = match config.broadcast_access {
            BroadcastAccess::SeparateListener(Some(_)) => "with",
            _ => "without",
        };
        let path = &config.broadcast_path;
        tracing::info!("Broadcasts are taken {with} a key on http{secure}://{address}{path}.");
    }
    if let Some(page) = &config.metrics_page {
        let own = ports.metrics.iter().flat_map(Listeners::addresses);
        let shared = ports.clients.addresses().iter().filter(|_| page.on_main_port);
        for address in own.chain(shared) {
            tracing::info!("Metrics are served on http{secure}://{address}{}.", page.path);
        }
    }
    if let Some(page) = &config.admin_page {
        let listeners = match page.on_main_port {
            true => Some(&ports.clients),
            false => ports.metrics.as_ref(),
        };
        for address in listeners.into_iter().flat_map(Listeners::addresses) {
            tracing::info!("The page for operators is on http{secure}://{address}/admin.");
        }
    }
}

/// One line for programs that started this one.
fn announce(addresses: &[SocketAddr]) -> io::Result<()> {
    let line = serde_json::json!({
        "event": "listening",
        "address": addresses.first().map(ToString::to_string),
        "pid": std::process::id(),
    });
    let mut stdout = io::stdout();
    writeln!(stdout, "{line}")?;
    stdout.flush()
}
