//! The flags of `plimsoll serve` for a remote application, over gRPC or HTTP.

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

/// The default time of one attempt over HTTP, as in AnyCable: servers that keep connections open without answering
/// are common behind load balancers.
const HTTP_REQUEST_TIMEOUT: Duration = Duration::from_secs(3);

/// The default address of an application, where AnyCable's Ruby gem serves it.
const DEFAULT_HOST: &str = "localhost:50051";

/// The address of a remote application, and the data that it gets.
#[derive(Debug, Args)]
#[command(next_help_heading = "Remote application")]
#[group(id = "remote")]
pub(super) struct Options {
    /// Address of an application with AnyCable's RPC: host:port, dns:///host:port or grpc-list://a:1,b:2 over gRPC,
    /// http://host/path or https://host/path over HTTP. Default: localhost:50051, unless there is --app or --norpc.
    #[arg(long, value_name = "HOST", conflicts_with = "app")]
    rpc_host: Option<Target>,
    /// Kind of RPC; auto decides by --rpc_host.
    #[arg(long, value_enum, default_value_t = Kind::Auto)]
    rpc_impl: Kind,
    /// Number of concurrent calls; 0 adapts it to the capacity of the application.
    #[arg(long, default_value_t = 0, value_name = "N")]
    rpc_concurrency: usize,
    /// First number of concurrent calls when it is adapted.
    #[arg(long, default_value = "25", value_name = "N")]
    rpc_concurrency_initial: NonZeroUsize,
    /// Smallest number of concurrent calls when it is adapted.
    #[arg(long, default_value = "5", value_name = "N")]
    rpc_concurrency_min: NonZeroUsize,
    /// Largest number of concurrent calls when it is adapted.
    #[arg(long, default_value = "100", value_name = "N")]
    rpc_concurrency_max: NonZeroUsize,
    /// Time limit of a call with its wait and all its retries, in milliseconds.
    #[arg(long, default_value_t = 3000, value_name = "MS", value_parser = clap::value_parser!(u64).range(1..=3_600_000))]
    rpc_command_timeout: u64,
    /// Time limit of one attempt of a call, in milliseconds; 0: the remaining time of the call over gRPC, 3000 over
    /// HTTP.
    #[arg(long, default_value_t = 0, value_name = "MS", value_parser = clap::value_parser!(u64).range(..=3_600_000))]
    rpc_request_timeout: u64,
    /// Use TLS for gRPC. For HTTP, use https:// instead.
    #[arg(long)]
    rpc_enable_tls: bool,
    /// Verify the application's certificate.
    #[arg(long, value_name = "BOOL", default_value_t = true, num_args = 0..=1, default_missing_value = "true", action = clap::ArgAction::Set)]
    rpc_tls_verify: bool,
    /// The only trusted certificate authorities: a PEM file, or its text. Default: the system's.
    #[arg(long, value_name = "PEM", allow_hyphen_values = true)]
    rpc_tls_root_ca: Option<String>,
    /// Largest reply of the application, in bytes; 0: 4 MiB.
    #[arg(long, default_value_t = 0, value_name = "BYTES")]
    rpc_max_call_recv_size: usize,
    /// Largest request to the application, in bytes; 0: no limit.
    #[arg(long, default_value_t = 0, value_name = "BYTES")]
    rpc_max_call_send_size: usize,
    /// Request headers that the application gets, comma-separated.
    #[arg(long, default_value = "cookie", value_name = "NAMES", value_delimiter = ',')]
    headers: Vec<String>,
    /// Cookies that the application gets, comma-separated. Default: all.
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    proxy_cookies: Vec<String>,
    /// Whether the application is told of ended sessions.
    #[arg(long, value_enum, default_value_t = DisconnectMode::Auto)]
    disconnect_mode: DisconnectMode,
    /// Largest number of Disconnect calls per second.
    #[arg(long, default_value = "100", value_name = "N")]
    disconnect_rate: NonZeroU32,
    /// Largest number of waiting Disconnect calls; further ones are dropped with a warning.
    #[arg(long, default_value = "4096", value_name = "N")]
    disconnect_backlog_size: NonZeroUsize,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum DisconnectMode {
    /// Of sessions that the application was asked about when they connected.
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

    /// The address of the application. Logs it.
    fn target(&self) -> Target {
        let Some(target) = self.rpc_host.clone() else {
            tracing::info!(
                "Expecting an application with AnyCable's RPC at {DEFAULT_HOST} (gRPC). For another address, use \
                 --rpc_host. To start without an application, use --app benchmark, --app chat or --norpc."
            );
            return DEFAULT_HOST.parse().expect("a host and a port");
        };
        let kind = match &target {
            Target::Grpc(_) => "gRPC",
            Target::Http(_) => "HTTP",
        };
        tracing::info!("Calling the application at {target} over {kind}.");
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
