//! The flags of `plimsoll serve` for an application of its own process, over gRPC or HTTP.

use std::{
    num::{NonZeroU32, NonZeroUsize},
    sync::Arc,
    time::Duration,
};

use clap::{Args, ValueEnum};
use plimsoll_rpc::{Bounds, Concurrency, Remote, StartError, Target, TransportOptions, Trust};
use plimsoll_server::{ProxiedHeaders, application::Application};
use plimsoll_telemetry::Registry;

use crate::exit::Failure;

/// The time for one attempt over HTTP when nothing is said about it, as AnyCable has it: a server that keeps
/// connections open without answering is common behind a load balancer.
const HTTP_REQUEST_TIMEOUT: Duration = Duration::from_secs(3);

/// Where an application is when nothing is said about it: where AnyCable's Ruby gem serves it.
const DEFAULT_HOST: &str = "localhost:50051";

/// How to reach a remote application, and what it gets.
#[derive(Debug, Args)]
#[command(next_help_heading = "Remote application")]
#[group(id = "remote")]
pub(super) struct Options {
    /// Ask an application with AnyCable's RPC: host:port, dns:///host:port or grpc-list://a:1,b:2 over gRPC,
    /// http://host/path or https://host/path over HTTP. Default: localhost:50051, unless --app or --norpc says otherwise.
    #[arg(long, value_name = "HOST", conflicts_with = "app")]
    rpc_host: Option<Target>,
    /// The kind of RPC; auto goes by --rpc_host.
    #[arg(long, value_enum, default_value_t = Kind::Auto)]
    rpc_impl: Kind,
    /// Calls under way at the same time; 0 finds out how many the application can work on.
    #[arg(long, default_value_t = 0, value_name = "N")]
    rpc_concurrency: usize,
    /// Where that search begins.
    #[arg(long, default_value = "25", value_name = "N")]
    rpc_concurrency_initial: NonZeroUsize,
    /// The least that it may find.
    #[arg(long, default_value = "5", value_name = "N")]
    rpc_concurrency_min: NonZeroUsize,
    /// The most that it may find.
    #[arg(long, default_value = "100", value_name = "N")]
    rpc_concurrency_max: NonZeroUsize,
    /// Milliseconds for one call with all its retries, and for the wait before it.
    #[arg(long, default_value_t = 3000, value_name = "MS", value_parser = clap::value_parser!(u64).range(1..=3_600_000))]
    rpc_command_timeout: u64,
    /// Milliseconds for one attempt of a call; 0: what is left of the call's over gRPC, 3000 over HTTP.
    #[arg(long, default_value_t = 0, value_name = "MS", value_parser = clap::value_parser!(u64).range(..=3_600_000))]
    rpc_request_timeout: u64,
    /// Speak gRPC over TLS. Over HTTP, https:// says it.
    #[arg(long)]
    rpc_enable_tls: bool,
    /// Check the application's certificate.
    #[arg(long, value_name = "BOOL", default_value_t = true, num_args = 0..=1, default_missing_value = "true", action = clap::ArgAction::Set)]
    rpc_tls_verify: bool,
    /// The only certificate authorities that are believed: a file in PEM, or its text. Default: the system's.
    #[arg(long, value_name = "PEM", allow_hyphen_values = true)]
    rpc_tls_root_ca: Option<String>,
    /// The largest reply of the application, in bytes; 0: 4 MiB.
    #[arg(long, default_value_t = 0, value_name = "BYTES")]
    rpc_max_call_recv_size: usize,
    /// The largest request to the application, in bytes; 0: no limit.
    #[arg(long, default_value_t = 0, value_name = "BYTES")]
    rpc_max_call_send_size: usize,
    /// Request headers that the application gets; several with commas.
    #[arg(long, default_value = "cookie", value_name = "NAMES", value_delimiter = ',')]
    headers: Vec<String>,
    /// Cookies that the application gets; several with commas. Default: all.
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    proxy_cookies: Vec<String>,
    /// Whether the application hears of sessions that have ended.
    #[arg(long, value_enum, default_value_t = DisconnectMode::Auto)]
    disconnect_mode: DisconnectMode,
    /// The most ended sessions that it hears of in a second.
    #[arg(long, default_value = "100", value_name = "N")]
    disconnect_rate: NonZeroU32,
    /// Ended sessions that may wait for that; more are dropped with a warning.
    #[arg(long, default_value = "4096", value_name = "N")]
    disconnect_backlog_size: NonZeroUsize,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum DisconnectMode {
    /// Of those that it was asked about when they connected.
    Auto,
    /// Of all.
    Always,
    /// Of none.
    Never,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Kind {
    /// As --rpc_host says.
    Auto,
    /// gRPC.
    Grpc,
    /// JSON over HTTP.
    Http,
    /// No application, as with --norpc.
    None,
}

impl Options {
    /// Whether there is no application at all, not even an embedded one.
    pub(super) fn is_none(&self) -> bool {
        self.rpc_impl == Kind::None
    }

    /// Whether the application gets the cookies of clients.
    pub(super) fn gets_cookies(&self) -> bool {
        self.headers
            .iter()
            .any(|name| name.eq_ignore_ascii_case("cookie"))
    }

    /// The application. `http_secret` authenticates the server to one over HTTP.
    pub(super) fn start(
        &self,
        http_secret: Option<String>,
        n_shards: usize,
        registry: &Registry,
    ) -> Result<Arc<dyn Application>, Failure> {
        let target = self.target();
        self.check_kind(&target)?;
        let remote = Remote::start(
            &plimsoll_rpc::Options {
                request_timeout: self.request_timeout(&target),
                target,
                transport: TransportOptions {
                    enables_tls: self.rpc_enable_tls,
                    trust: self.trust(),
                    max_reply_bytes: unless_zero(self.rpc_max_call_recv_size),
                    max_request_bytes: unless_zero(self.rpc_max_call_send_size),
                    http_secret,
                },
                concurrency: self.concurrency()?,
                command_timeout: Duration::from_millis(self.rpc_command_timeout),
                disconnect_mode: self.disconnect_mode.into(),
                disconnect_rate_per_sec: self.disconnect_rate,
                disconnect_backlog: self.disconnect_backlog_size,
                n_shards,
            },
            registry,
        );
        match remote {
            Ok(remote) => Ok(Arc::new(remote)),
            Err(error @ StartError::Thread(_)) => Err(error.into()),
            Err(error) => Err(Failure::Usage(error.to_string())),
        }
    }

    /// Where the application is, with a line in the log.
    fn target(&self) -> Target {
        let Some(target) = self.rpc_host.clone() else {
            tracing::info!(
                "An application with AnyCable's RPC is expected at {DEFAULT_HOST} (gRPC). Another place: --rpc_host. To start \
                 without one: --app benchmark, --app chat or --norpc."
            );
            return DEFAULT_HOST.parse().expect("a host and a port");
        };
        let kind = match &target {
            Target::Grpc(_) => "gRPC",
            Target::Http(_) => "HTTP",
        };
        tracing::info!("The application at {target} is asked over {kind}.");
        target
    }

    fn check_kind(&self, target: &Target) -> Result<(), Failure> {
        let expected = match (self.rpc_impl, target) {
            (Kind::Grpc, Target::Http(_)) => "--rpc_impl grpc needs host:port, for example localhost:50051",
            (Kind::Http, Target::Grpc(_)) => {
                "--rpc_impl http needs a URL, for example http://localhost:3000/_anycable"
            }
            _ => return Ok(()),
        };
        Err(Failure::Usage(format!("--rpc_host {target}: {expected}")))
    }

    fn concurrency(&self) -> Result<Concurrency, Failure> {
        if let Some(fixed) = NonZeroUsize::new(self.rpc_concurrency) {
            return Ok(Concurrency::Fixed(fixed));
        }
        let bounds = Bounds {
            initial: self.rpc_concurrency_initial,
            min: self.rpc_concurrency_min,
            max: self.rpc_concurrency_max,
        };
        if (bounds.min..=bounds.max).contains(&bounds.initial) {
            Ok(Concurrency::Adaptive(bounds))
        } else {
            Err(Failure::Usage(format!(
                "--rpc_concurrency_initial {} is not between --rpc_concurrency_min {} and --rpc_concurrency_max {}",
                bounds.initial, bounds.min, bounds.max
            )))
        }
    }

    fn request_timeout(&self, target: &Target) -> Option<Duration> {
        match (self.rpc_request_timeout, target) {
            (0, Target::Grpc(_)) => None,
            (0, Target::Http(_)) => Some(HTTP_REQUEST_TIMEOUT),
            (timeout_ms, _) => Some(Duration::from_millis(timeout_ms)),
        }
    }

    fn trust(&self) -> Trust {
        match &self.rpc_tls_root_ca {
            _ if !self.rpc_tls_verify => Trust::Anything,
            Some(root_ca) => Trust::RootCa(root_ca.clone()),
            None => Trust::System,
        }
    }

    pub(super) fn proxied_headers(&self) -> ProxiedHeaders {
        ProxiedHeaders::new(self.headers.iter().cloned(), self.proxy_cookies.clone())
    }
}

impl From<DisconnectMode> for plimsoll_rpc::DisconnectMode {
    fn from(mode: DisconnectMode) -> Self {
        match mode {
            DisconnectMode::Auto => Self::Auto,
            DisconnectMode::Always => Self::Always,
            DisconnectMode::Never => Self::Never,
        }
    }
}

fn unless_zero(number: usize) -> Option<usize> {
    (number > 0).then_some(number)
}
