//! `plimsoll serve`: the cable server.

mod api;
mod broadcasting;
mod broker;
mod certificate;
mod check;
mod cluster;
mod durable_streams;
mod events;
mod hangup;
mod headings;
mod identification;
mod ingest;
mod key_pair;
mod listener;
mod memory;
mod monitoring;
mod nats;
mod operators;
mod path;
mod process_metrics;
mod redis;
mod remote;
mod reporter;
mod secrets;
pub(crate) mod settings;
mod shared_broker;
mod start_log;
mod stopping;
mod writing;

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
    AdminPage, Broadcasts, Config, Engine, Listeners, PathPattern, Ports, Publisher,
    application::{Application, Benchmark, Chat, NoApplication},
};
use plimsoll_telemetry::Registry;

use self::{
    api::ApiOptions,
    broadcasting::{Circumstances, HttpBroadcastOptions},
    broker::{BrokerOptions, Stores},
    hangup::Rereadable,
    identification::IdentificationOptions,
    ingest::{ClusterConnections, Ingest, IngestOptions, Sources},
    listener::ListenerOptions,
    memory::MemoryOptions,
    monitoring::MonitoringOptions,
    operators::Process,
    path::absolute_path,
    secrets::Secrets,
    settings::Known,
    shared_broker::{RunningBroker, SharedBroker},
    stopping::{Orders, StoppingOptions},
    writing::Io,
};
use crate::{
    exit::{Failure, Status},
    logging::{Log, LogFormat, LogLevel},
    session::Format,
};

/// The number of open files that are not clients: listeners, event queues, standard streams, refusals in progress.
const RESERVED_FILES: u64 = 64;

/// The longest name of a server, as host names have it (RFC 1035 §2.3.4).
const MAX_NODE_NAME_BYTES: usize = 255;

/// The largest --max_message_size in bytes. Reason: the memory of a client is counted in 32 bits.
const MAX_MESSAGE_SIZE: i64 = 256 << 20;

const EXAMPLES: &str = "\
Examples:
  plimsoll serve                                   for a Rails application with AnyCable's RPC on localhost:50051
  plimsoll serve --rpc_host app:50051              a Rails application on another host
  plimsoll serve --app benchmark                   an application for load tests on ws://localhost:8080/cable
  plimsoll serve --app chat --port 3334            a chat room for all clients with a cookie uid=<name>/<id>
  plimsoll serve --rpc_host http://app/_anycable   an application with AnyCable's RPC over HTTP
  plimsoll serve --broadcast_key secret            backends broadcast with POST /_broadcast on the same port
  plimsoll serve --broadcast_adapter http,redisx   backends broadcast through a Redis stream, too
  plimsoll serve --pubsub redis                    one of several servers that hear each other over Redis

Paths: /cable (Action Cable), /events (with --sse), /health, /ready, /_broadcast, /, and beside
an embedded application /json and /binary (websocket-shootout) and /echo.
Flags may be written with - or _. Every flag is also a variable, PLIMSOLL_<FLAG> or
ANYCABLE_<FLAG>, and a key in a settings file: plimsoll.toml, anycable.toml or
/etc/anycable/anycable.toml. The command line wins over the environment, and that over
the file.";

/// Serve Action Cable clients.
#[derive(Debug, Parser)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Options {
    /// Host name or address to listen on. 0.0.0.0 listens on all addresses.
    #[arg(long, default_value = "localhost")]
    host: String,
    /// Port to listen on; 0 takes a free port.
    #[arg(long, default_value_t = 8080)]
    port: u16,
    /// Paths of the cable endpoint, for example /cable, /ws/* or /{tenant}/cable; comma-separated.
    #[arg(long, default_value = "/cable", value_delimiter = ',')]
    path: Vec<PathPattern>,
    /// Path that answers 200 while the server runs.
    #[arg(long, default_value = "/health", value_parser = absolute_path)]
    health_path: String,
    /// Name of this server in the first line of its log, and prefix of its name in the group of --redisx_group.
    /// Default: plimsoll and the process id.
    #[arg(long, value_name = "NAME", value_parser = node_name)]
    node_id: Option<String>,
    /// Embedded application that decides about connections and channels, instead of an application over RPC.
    #[arg(long, value_enum, conflicts_with = "norpc")]
    app: Option<App>,
    /// Largest number of concurrent connections; further ones are answered 503. 0: as many as the open-file limit
    /// allows.
    #[arg(long, default_value_t = 0)]
    max_conn: u64,
    /// Seconds between pings.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..=3600))]
    ping_interval: u64,
    /// Seconds in which a client of the extended protocol must answer a ping, with pong or any other command; 0: it
    /// need not.
    #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(u64).range(..=600))]
    pong_timeout: u64,
    /// Also send WebSocket's own pings, which every client answers. With --pong_timeout all clients must answer.
    #[arg(long)]
    enable_native_pings: bool,
    /// Largest message that a client may send, in bytes.
    #[arg(long, default_value_t = 65_536, value_parser = clap::value_parser!(u32).range(1..=MAX_MESSAGE_SIZE))]
    max_message_size: u32,
    /// Largest memory of one client that does not read, in bytes; a client above it is disconnected (too_slow).
    #[arg(long, default_value_t = 1_048_576)]
    ws_max_pending_size: usize,
    #[command(flatten)]
    memory: MemoryOptions,
    /// Time limit for a client to send its request, in milliseconds.
    #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(u64).range(1..=3_600_000))]
    handshake_timeout_ms: u64,
    /// Compress messages for clients that offer permessage-deflate.
    #[arg(long)]
    enable_ws_compression: bool,
    /// How messages for many clients are written: auto uses io_uring where the kernel permits it, uring does not start without it, and
    /// syscalls makes a system call for each client.
    #[arg(long, value_enum, default_value = "auto", value_name = "HOW")]
    io: Io,
    /// Do not send a welcome text on /echo.
    #[arg(long)]
    no_welcome: bool,
    /// Number of threads that serve clients; each thread has its own clients. Default: one per core.
    #[arg(long)]
    shards: Option<NonZeroUsize>,
    /// How much to log.
    #[arg(long, value_enum, default_value_t = LogLevel::Info)]
    log_level: LogLevel,
    /// How log lines are written: for people, or as one JSON object per line.
    #[arg(long, value_enum, default_value_t = LogFormat::Text)]
    log_format: LogFormat,
    /// Also log mistakes of clients, like --log_level debug.
    #[arg(long)]
    debug: bool,
    /// Settings file. Default: the first existing one of plimsoll.toml, anycable.toml and
    /// /etc/anycable/anycable.toml.
    #[arg(long, value_name = "FILE", conflicts_with = "ignore_config_path")]
    config_path: Option<PathBuf>,
    /// Read no settings file.
    #[arg(long)]
    ignore_config_path: bool,
    /// Print all settings as a settings file, with the source of each, and exit. Secrets are omitted.
    #[arg(long)]
    print_config: bool,
    /// Check limits, ports, the application, Redis and NATS, print the result, and exit: see `plimsoll doctor`.
    #[arg(long)]
    check: bool,
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
    http_broadcasts: HttpBroadcastOptions,
    #[command(flatten)]
    api: ApiOptions,
    #[command(flatten)]
    ingest: IngestOptions,
    #[command(flatten)]
    keeping: BrokerOptions,
    #[command(flatten)]
    events: events::Options,
    #[command(flatten)]
    durable_streams: durable_streams::Options,
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
    /// No channels: every path echoes all messages, for tests of WebSocket clients.
    Echo,
}

/// What this server shares with others.
#[derive(Debug, Default)]
struct Shared {
    engine: Option<Arc<dyn Engine>>,
    stores: Stores,
}

impl Options {
    /// Runs the server.
    pub(crate) fn execute(self, known: &Known) -> Result<Status, Failure> {
        if self.check {
            return self.diagnose(&known.warnings, None)?.print(Format::Text);
        }
        let registry = Registry::default();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let log = {
            let _runtime_of_signals = runtime.enter();
            Log::start(self.log_level(), self.log_format, &registry)?
        };
        for warning in &known.warnings {
            tracing::warn!("{warning}");
        }
        let process = Process {
            settings: known.settings.clone(),
            log: log.control(),
            stop: Arc::default(),
        };
        let outcome = runtime.block_on(self.serve(registry, process));
        // Before the log ends, so that what tasks log when they are dropped is written, too.
        drop(runtime);
        drop(log);
        outcome
    }

    fn log_level(&self) -> LogLevel {
        if self.debug {
            LogLevel::Debug
        } else {
            self.log_level
        }
    }

    async fn serve(self, registry: Registry, process: Process) -> Result<Status, Failure> {
        self.keeping.warn();
        let open_files = preflight::raise_open_file_limit();
        let front = self
            .identification
            .prepare(&self.secrets, &registry, &self.keeping)
            .await?;
        let sources = self.ingest.sources(self.keeping.name(), &registry)?;
        let broker = self.shared_broker(&sources, &registry)?;
        let clients = Listeners::bind(&self.host, self.port, self.n_shards())?;
        let shared = Shared {
            engine: sources
                .engine()
                .or_else(|| broker.as_ref().map(SharedBroker::engine)),
            stores: Stores {
                sessions: broker.as_ref().map(SharedBroker::sessions),
                members: broker.as_ref().map(SharedBroker::members),
            },
        };
        let operators_stop = Arc::clone(&process.stop);
        let mut config = self.config(&open_files, clients.addresses(), registry.clone(), shared)?;
        config.admin_page = self.admin_page(process);
        let tls = config.tls.clone();
        tls.clone().into_iter().for_each(certificate::keep_fresh);
        let jwks = front.jwks();
        Rereadable { tls, jwks }.listen()?;
        let ports = self.bind(clients, &config)?;
        let Orders { stop, end } = self.stopping.listen(operators_stop)?;
        start_log::write(&config, &open_files, &ports, self.node_id.as_deref());
        let server = registry.dependency("server");
        server.up();
        if self.announce {
            announce(ports.clients.addresses())?;
        }
        self.monitoring.start(&registry);
        let remote = self.remote_application(&config)?;
        let ingest: Cell<Option<Ingest>> = Cell::default();
        // They go on until the last session is gone.
        let cluster: Cell<Option<ClusterConnections>> = Cell::default();
        let running_broker: Cell<Option<RunningBroker>> = Cell::default();
        let application = |publisher: Publisher| {
            running_broker.set(broker.map(|broker| broker.start(publisher.clone(), &registry)));
            let node_id = self.node_id.as_deref();
            let (adapters, connections) = self.ingest.start(sources, node_id, &publisher, &registry);
            ingest.set(Some(adapters));
            cluster.set(connections);
            let application = match self.embedded() {
                Some(app) => app.start(publisher),
                None => remote,
            };
            front.place_before(application)
        };
        let shutdown = self.stopping.wait(stop, &server);
        // Before the last sessions go: what was read from Redis by now still reaches them.
        let last_intake = async {
            if let Some(ingest) = ingest.take() {
                ingest.stop().await;
            }
        };
        tokio::select! {
            served = plimsoll_server::run(config, ports, application, shutdown, last_intake) => served?,
            Ok(reason) = end => return Err(hurried(reason)),
        }
        // Behind the sessions: until they end, broadcasts in progress need it.
        if let Some(broker) = running_broker.take() {
            broker.stop().await;
        }
        tracing::info!("Stopped.");
        Ok(Status::Success)
    }

    /// The broker that several servers share, if there is one.
    fn shared_broker(&self, sources: &Sources, registry: &Registry) -> Result<Option<SharedBroker>, Failure> {
        let Some(name) = self.keeping.name().filter(|_| self.keeping.is_shared()) else {
            return Ok(None);
        };
        if self.durable_streams.durable_streams().is_some() {
            return Err(Failure::Usage(format!(
                "--ds reads the streams in the memory of one server; it cannot be used with --broker {name}"
            )));
        }
        tracing::info!(
            "Streams are shared with all servers of {}: a message that is confirmed is stored, and reaches every client \
             once and in order; a loss is announced. {}, and clients of all servers are present together.",
            self.ingest.place(name),
            match self.keeping.sessions_ttl() {
                Some(_) => "A session goes on at any of them",
                None => "Sessions are not resumed",
            },
        );
        if self.ingest.passes_broker_by() {
            tracing::warn!(
                "Messages of the adapters redis and nats pass the broker by: clients that are away miss them. Use http or redisx."
            );
        }
        Ok(self.ingest.broker(name, sources, &self.keeping, registry))
    }

    /// The remote application, without an embedded one.
    fn remote_application(&self, config: &Config) -> Result<Arc<dyn Application>, Failure> {
        if self.has_no_application() || self.embedded().is_some() {
            return Ok(Arc::new(NoApplication));
        }
        if self.remote.gets_cookies() && config.allowed_origins.is_empty() {
            tracing::warn!(
                "The application gets the cookies of browsers, and pages of every site may connect with them \
                 (cross-site WebSocket hijacking). List the hosts of your own pages in --allowed_origins."
            );
        }
        self.remote
            .start(self.secrets.rpc_secret(), config.n_shards, &config.registry)
    }

    fn config(
        &self,
        open_files: &OpenFileLimit,
        addresses: &[SocketAddr],
        registry: Registry,
        shared: Shared,
    ) -> Result<Config, Failure> {
        let allowed = open_files.soft.saturating_sub(RESERVED_FILES).max(1);
        let wanted = if self.max_conn == 0 {
            allowed
        } else {
            self.max_conn.min(allowed)
        };
        let memory = preflight::Memory::read();
        let totals = self.memory.totals(&memory);
        Ok(Config {
            paths: self.path.clone(),
            events_path: self.events.path(),
            durable_streams: self
                .durable_streams
                .durable_streams()
                .filter(|_| self.keeping.name().is_some()),
            health_path: self.health_path.clone(),
            ready_path: self.monitoring.ready_path.clone(),
            metrics_page: self.monitoring.metrics_page(&self.host, self.port),
            admin_page: None,
            broadcasts: self.broadcasts(addresses)?,
            api: self.api.api(Circumstances {
                host: &self.host,
                main_port: self.port,
                addresses,
                key: self.secrets.api_secret(),
                is_public: self.identification.is_public(),
            })?,
            broker: self.keeping.broker(&memory, shared.stores),
            engine: shared.engine,
            presence_webhook: self
                .keeping
                .presence_webhook(self.secrets.presence_webhook_secret().as_deref())?,
            max_message_bytes: self.max_message_size as usize,
            max_pending_total: totals.pending,
            max_body_total: totals.bodies,
            max_pending_bytes: self.ws_max_pending_size,
            max_connections: usize::try_from(wanted).unwrap_or(usize::MAX),
            max_connections_per_address: self.listener.max_connections_per_address(),
            tls: self.listener.tls()?,
            allowed_origins: self.listener.allowed_origins.clone(),
            ping_precision: self.listener.ping_precision(),
            ping_interval: Duration::from_secs(self.ping_interval),
            pong_timeout: (self.pong_timeout > 0).then(|| Duration::from_secs(self.pong_timeout)),
            native_pings: self.enable_native_pings,
            handshake_timeout: Duration::from_millis(self.handshake_timeout_ms),
            proxied_headers: self
                .identification
                .with_token(self.remote.proxied_headers(), &self.secrets),
            slow_drain: self.stopping.slow_drain(),
            drain_timeout: self.stopping.drain_timeout(),
            shutdown_timeout: self.stopping.shutdown_timeout(),
            serves_load_tests: self.embedded().is_some(),
            echoes_everywhere: self.echoes(),
            serves_demo_page: self.demo_page,
            greets_echo: !self.no_welcome && !self.echoes(),
            uses_io_uring: self.io.uses_io_uring()?,
            compresses: self.enable_ws_compression,
            stats_interval: self.monitoring.stats_interval(),
            n_shards: self.n_shards(),
            registry,
        })
    }

    /// The page for operators, next to the metrics: operators who give these a separate port do not want clients to
    /// see the state of the server.
    fn admin_page(&self, process: Process) -> Option<AdminPage> {
        Some(AdminPage {
            secret: self.secrets.admin_secret()?.to_owned(),
            on_main_port: !self.monitoring.has_own_port(&self.host, self.port),
            operations: Arc::new(process),
        })
    }

    fn n_shards(&self) -> usize {
        let n_cores = thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
        self.shards.unwrap_or(n_cores).get()
    }

    /// Whether there is no application to ask about clients.
    fn has_no_application(&self) -> bool {
        self.identification.norpc || self.remote.is_none()
    }

    /// The embedded application, if that decides.
    fn embedded(&self) -> Option<App> {
        self.app.filter(|_| !self.has_no_application())
    }

    /// Whether there is nothing but an echo.
    fn echoes(&self) -> bool {
        matches!(self.embedded(), Some(App::Echo))
    }

    /// The configuration of broadcasts over HTTP. An embedded application has no backend, so a flag must switch them
    /// on; otherwise a second server on this machine could not have its port.
    fn broadcasts(&self, addresses: &[SocketAddr]) -> Result<Option<Broadcasts>, Failure> {
        let is_public = self.identification.is_public();
        let key = self.secrets.broadcast_key(is_public);
        let by_default = self.embedded().is_none() || key.is_some() || self.http_broadcasts.has_port();
        if !self.ingest.takes_http(by_default) {
            return Ok(None);
        }
        let circumstances = Circumstances {
            host: &self.host,
            main_port: self.port,
            addresses,
            key,
            is_public,
        };
        self.http_broadcasts.broadcasts(circumstances).map(Some)
    }

    fn bind(&self, clients: Listeners, config: &Config) -> Result<Ports, Failure> {
        let n_shards = config.n_shards;
        let broadcasts = match &config.broadcasts {
            Some(broadcasts) => self
                .http_broadcasts
                .bind(broadcasts, &self.host, self.port, n_shards)?,
            None => None,
        };
        Ok(Ports {
            api: self
                .api
                .bind(config.api.as_ref(), &self.host, self.port, n_shards)?,
            clients,
            broadcasts,
            metrics: self.monitoring.bind(&self.host, self.port, n_shards)?,
        })
    }
}

impl App {
    fn start(self, publisher: Publisher) -> Arc<dyn Application> {
        match self {
            Self::Benchmark => Arc::new(Benchmark::new(publisher)),
            Self::Chat => Arc::new(Chat::new(publisher)),
            Self::Echo => Arc::new(NoApplication),
        }
    }
}

/// A node name. It becomes a part of names and of lines, so it is one word.
fn node_name(text: &str) -> Result<String, String> {
    let is_word = text.len() <= MAX_NODE_NAME_BYTES && text.bytes().all(|byte| byte.is_ascii_graphic());
    if is_word {
        Ok(text.to_owned())
    } else {
        Err(format!(
            "expected up to {MAX_NODE_NAME_BYTES} characters of ASCII without spaces, for example web-1"
        ))
    }
}

fn hurried(reason: &str) -> Failure {
    Failure::Runtime(
        format!("ended at once because of a second signal, {reason}, before the server had stopped").into(),
    )
}

/// Writes one line for programs that started this one. A program that does not read it cannot stop the server: a
/// separate thread writes the line, because a full pipe may block it, and an error is only a warning.
fn announce(addresses: &[SocketAddr]) -> io::Result<()> {
    let line = serde_json::json!({
        "event": "listening",
        "address": addresses.first().map(ToString::to_string),
        "pid": std::process::id(),
    });
    let thread = thread::Builder::new().name("announcement".to_owned());
    thread.spawn(move || {
        let mut stdout = io::stdout();
        if let Err(error) = writeln!(stdout, "{line}").and_then(|()| stdout.flush()) {
            tracing::warn!(%error, "Cannot write the announcement to stdout; the server runs without it.");
        }
    })?;
    Ok(())
}
