//! The flags of `plimsoll serve` about its listeners: TLS, allowed origins, and the timestamps of pings.

use std::{num::NonZeroUsize, path::PathBuf};

use clap::{Args, ValueEnum};
use plimsoll_server::{AllowedOrigins, PingPrecision, Tls};

use super::key_pair::key_pair;
use crate::exit::Failure;

/// The flags about TLS, allowed origins, and the timestamps of pings.
#[derive(Debug, Args)]
#[command(next_help_heading = "Connections")]
#[group(id = "listener")]
pub(super) struct ListenerOptions {
    /// Hosts whose pages may connect, comma-separated; *.example.com means all subdomains. Default: all.
    #[arg(long, default_value = "", hide_default_value = true, value_name = "HOSTS")]
    pub(super) allowed_origins: AllowedOrigins,
    /// Largest number of connections from one IPv4 address or one IPv6 /64; further ones are answered 429. 0: no
    /// limit, for servers behind a proxy, where all connections have one address.
    #[arg(long, default_value_t = 0, value_name = "N")]
    max_conn_per_ip: usize,
    /// PEM file with the certificate chain; all listeners then speak TLS. It is read again when it changes, and on
    /// SIGHUP.
    #[arg(long, value_name = "FILE", requires = "ssl_key")]
    ssl_cert: Option<PathBuf>,
    /// PEM file with the private key of the certificate.
    #[arg(long, value_name = "FILE", requires = "ssl_cert")]
    ssl_key: Option<PathBuf>,
    /// Unit of the timestamp in pings, unless a client asks for another unit with ?ptp=.
    #[arg(long, value_enum, default_value_t = Precision::S, value_name = "UNIT")]
    ping_timestamp_precision: Precision,
}

/// AnyCable's names of the units.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Precision {
    /// Seconds.
    S,
    /// Milliseconds.
    Ms,
    /// Nanoseconds.
    Ns,
}

impl ListenerOptions {
    pub(super) fn max_connections_per_address(&self) -> Option<NonZeroUsize> {
        NonZeroUsize::new(self.max_conn_per_ip)
    }

    pub(super) fn ping_precision(&self) -> PingPrecision {
        match self.ping_timestamp_precision {
            Precision::S => PingPrecision::Seconds,
            Precision::Ms => PingPrecision::Milliseconds,
            Precision::Ns => PingPrecision::Nanoseconds,
        }
    }

    /// The TLS configuration of the listeners; `None` without TLS.
    pub(super) fn tls(&self) -> Result<Option<Tls>, Failure> {
        match key_pair(("ssl_cert", &self.ssl_cert), ("ssl_key", &self.ssl_key))? {
            Some((chain, key)) => Ok(Some(Tls::load(chain, key)?)),
            None => Ok(None),
        }
    }
}
