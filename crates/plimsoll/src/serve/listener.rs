//! The flags of `plimsoll serve` about its listeners: TLS, who may connect, and what pings say.

use std::{num::NonZeroUsize, path::PathBuf};

use clap::{Args, ValueEnum};
use plimsoll_server::{AllowedOrigins, PingPrecision, Tls};

use super::key_pair::key_pair;
use crate::exit::Failure;

/// TLS, who may connect, and what pings say.
#[derive(Debug, Args)]
#[group(id = "listener")]
pub(super) struct ListenerOptions {
    /// Hosts whose pages may connect; several with commas, *.example.com for all that end so. Default: all.
    #[arg(long, default_value = "", hide_default_value = true, value_name = "HOSTS")]
    pub(super) allowed_origins: AllowedOrigins,
    /// Most connections from one IPv4 address or one IPv6 /64; more are answered 429. 0: no limit, as behind a proxy,
    /// where all come from one address.
    #[arg(long, default_value_t = 0, value_name = "N")]
    max_conn_per_ip: usize,
    /// Certificate chain in PEM; all listeners then speak TLS. It is read again when it changes, and on SIGHUP.
    #[arg(long, value_name = "FILE", requires = "ssl_key")]
    ssl_cert: Option<PathBuf>,
    /// Private key of the certificate, in PEM.
    #[arg(long, value_name = "FILE", requires = "ssl_cert")]
    ssl_key: Option<PathBuf>,
    /// The unit of the timestamp in pings, unless a client asks for another one with ?ptp=.
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

    /// What the listeners need to speak TLS, if they shall.
    pub(super) fn tls(&self) -> Result<Option<Tls>, Failure> {
        match key_pair(("ssl_cert", &self.ssl_cert), ("ssl_key", &self.ssl_key))? {
            Some((chain, key)) => Ok(Some(Tls::load(chain, key)?)),
            None => Ok(None),
        }
    }
}
