//! The flags of `plimsoll serve` for an application over gRPC.

use std::{
    io,
    num::{NonZeroU32, NonZeroUsize},
    sync::Arc,
    time::Duration,
};

use clap::{Args, ValueEnum};
use plimsoll_rpc::{Hosts, Remote};
use plimsoll_server::{ProxiedHeaders, application::Application};

/// How to reach an application over gRPC, and what it gets.
#[derive(Debug, Args)]
#[command(next_help_heading = "Application over gRPC")]
#[group(id = "remote")]
pub(super) struct Options {
    /// Ask an application with AnyCable's RPC server: host:port, dns:///host:port or grpc-list://a:1,b:2.
    #[arg(long, value_name = "HOST", conflicts_with = "app")]
    rpc_host: Option<Hosts>,
    /// Calls under way at the same time; fewer than the application has workers.
    #[arg(long, default_value = "28", value_name = "N", requires = "rpc_host", value_parser = fixed_concurrency)]
    rpc_concurrency: NonZeroUsize,
    /// Milliseconds for one call with all its retries.
    #[arg(long, default_value_t = 3000, value_name = "MS", requires = "rpc_host", value_parser = clap::value_parser!(u64).range(1..=3_600_000))]
    rpc_command_timeout: u64,
    /// Request headers that the application gets; several with commas.
    #[arg(
        long,
        default_value = "cookie",
        value_name = "NAMES",
        value_delimiter = ',',
        requires = "rpc_host"
    )]
    headers: Vec<String>,
    /// Cookies that the application gets; several with commas. Default: all.
    #[arg(long, value_name = "NAMES", value_delimiter = ',', requires = "rpc_host")]
    proxy_cookies: Vec<String>,
    /// Whether the application hears of sessions that have ended.
    #[arg(long, value_enum, default_value_t = DisconnectMode::Auto, requires = "rpc_host")]
    disconnect_mode: DisconnectMode,
    /// The most ended sessions that it hears of in a second.
    #[arg(long, default_value = "100", value_name = "N", requires = "rpc_host")]
    disconnect_rate: NonZeroU32,
    /// Ended sessions that may wait for that; more are dropped with a warning.
    #[arg(long, default_value = "4096", value_name = "N", requires = "rpc_host")]
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

impl Options {
    /// The application, if there is one over gRPC.
    pub(super) fn start(&self) -> io::Result<Option<Arc<dyn Application>>> {
        let Some(hosts) = self.rpc_host.clone() else {
            return Ok(None);
        };
        tracing::info!(%hosts, concurrency = self.rpc_concurrency, "The application is asked over gRPC.");
        let remote = Remote::start(&plimsoll_rpc::Options {
            hosts,
            concurrency: self.rpc_concurrency,
            command_timeout: Duration::from_millis(self.rpc_command_timeout),
            disconnect_mode: self.disconnect_mode.into(),
            disconnect_rate_per_sec: self.disconnect_rate,
            disconnect_backlog: self.disconnect_backlog_size,
        })?;
        Ok(Some(Arc::new(remote)))
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

fn fixed_concurrency(text: &str) -> Result<NonZeroUsize, String> {
    let number: usize = text
        .parse()
        .map_err(|error| format!("{error}; an example is 28"))?;
    NonZeroUsize::new(number).ok_or_else(|| {
        "a concurrency that adapts by itself (0) is not supported yet; give a number, for example 28"
            .to_owned()
    })
}
