//! Where `plimsoll serve` accepts broadcasts over HTTP, and from which clients.
//!
//! A broadcast reaches all clients. So without a key the server accepts broadcasts from this machine only, on a
//! port of their own, unless a flag says that others may, too.

use std::net::SocketAddr;

use clap::Args;
use plimsoll_server::{BackendAccess, Broadcasts, Listeners};

use super::path::absolute_path;
use crate::exit::Failure;

/// AnyCable's port for broadcasts without a key.
const OPEN_PORT: u16 = 8090;

/// Flags of broadcasts over HTTP.
#[derive(Debug, Args)]
#[command(next_help_heading = super::headings::BROADCASTING)]
#[group(id = "http_broadcasts")]
pub(super) struct HttpBroadcastOptions {
    /// Path that accepts broadcasts.
    #[arg(long, default_value = "/_broadcast", value_parser = absolute_path)]
    http_broadcast_path: String,
    /// Allow web pages to broadcast over HTTP: pages of --allowed_origins, or all pages if there is a key but no such
    /// list.
    #[arg(long)]
    http_broadcast_cors: bool,
    /// Port for broadcasts; without a key, 0 takes a free port. Default: with a key the main port, without a key
    /// 8090, and with --app none.
    #[arg(long, value_name = "PORT")]
    http_broadcast_port: Option<u16>,
    /// Accept broadcasts without a key from other machines, too. Every program that reaches the port can then send
    /// messages to all clients.
    #[arg(long)]
    http_broadcast_insecure: bool,
}

/// Further conditions of an interface for backends: broadcasts over HTTP, or the REST API.
pub(super) struct Circumstances<'a> {
    /// The server's host as it was given.
    pub(super) host: &'a str,
    pub(super) main_port: u16,
    /// The addresses that `host` stands for.
    pub(super) addresses: &'a [SocketAddr],
    pub(super) key: Option<String>,
    /// Whether every client may do everything (`--public`).
    pub(super) is_public: bool,
}

impl Circumstances<'_> {
    /// Who may use an interface for backends; `refusal` if other machines could do so without a key, and nothing allows
    /// that.
    pub(super) fn access(self, is_insecure: bool, refusal: String) -> Result<BackendAccess, Failure> {
        let is_for_this_machine = self.addresses.iter().all(|address| address.ip().is_loopback());
        match self.key {
            Some(key) => Ok(BackendAccess::Key(key)),
            None if is_for_this_machine => Ok(BackendAccess::Local {
                host: self.host.to_owned(),
            }),
            None if is_insecure || self.is_public => Ok(BackendAccess::Everybody),
            None => Err(Failure::Usage(refusal)),
        }
    }
}

impl HttpBroadcastOptions {
    /// Whether a port is named.
    pub(super) fn has_port(&self) -> bool {
        self.http_broadcast_port.is_some()
    }

    /// The senders that may broadcast, and whether on the main port.
    ///
    /// # Errors
    /// Other machines could broadcast without a key, and no flag says that they may.
    pub(super) fn broadcasts(&self, given: Circumstances<'_>) -> Result<Broadcasts, Failure> {
        Ok(Broadcasts {
            path: self.http_broadcast_path.clone(),
            cors: self.http_broadcast_cors,
            on_main_port: self.own_port(given.main_port, given.key.is_some()).is_none(),
            access: self.access(given)?,
        })
    }

    fn access(&self, given: Circumstances<'_>) -> Result<BackendAccess, Failure> {
        let refusal = format!(
            "broadcasts on {} need no key: every program that reaches the port could send messages to all \
             clients. Set --broadcast_key (or --secret), listen on this machine only (--host localhost), accept \
             none over HTTP (--broadcast_adapter redis), or accept the risk with --http_broadcast_insecure",
            given.host
        );
        given.access(self.http_broadcast_insecure, refusal)
    }

    /// The port that is not the main one, if there is one. A key lets broadcasts share the main port.
    fn own_port(&self, main_port: u16, has_key: bool) -> Option<u16> {
        match (self.http_broadcast_port, has_key) {
            (None | Some(0), true) => None,
            (None, false) => Some(OPEN_PORT),
            (Some(0), false) => Some(0),
            (Some(port), _) => (port != main_port).then_some(port),
        }
    }

    /// Listens where broadcasts have a port of their own.
    pub(super) fn bind(
        &self,
        broadcasts: &Broadcasts,
        host: &str,
        main_port: u16,
        n_shards: usize,
    ) -> Result<Option<Listeners>, Failure> {
        let has_key = matches!(broadcasts.access, BackendAccess::Key(_));
        let Some(port) = self.own_port(main_port, has_key) else {
            return Ok(None);
        };
        let bound = Listeners::bind(host, port, n_shards).map_err(|error| {
            Failure::Runtime(
                format!(
                    "{error}. This is the port for broadcasts: choose another one with --http_broadcast_port, or set \
                     --broadcast_key without it to accept broadcasts on the main port"
                )
                .into(),
            )
        })?;
        Ok(Some(bound))
    }
}

/// Logs the address of broadcasts, when they have no key or a separate port.
pub(super) fn log_start(broadcasts: &Broadcasts, scheme: &str, own: Option<&Listeners>) {
    let from = match &broadcasts.access {
        BackendAccess::Key(_) => "from clients with the key",
        BackendAccess::Local { .. } => "without a key, from programs on this machine",
        BackendAccess::Everybody => "without a key, from every program that reaches the port",
    };
    for address in own.into_iter().flat_map(Listeners::addresses) {
        tracing::info!(
            "Broadcasts are accepted on {scheme}://{address}{}, {from}.",
            broadcasts.path
        );
    }
    if matches!(broadcasts.access, BackendAccess::Everybody) {
        tracing::warn!(
            "Every program that reaches the port for broadcasts can send messages to all clients."
        );
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct CommandLine {
        #[command(flatten)]
        options: HttpBroadcastOptions,
    }

    fn options(arguments: &[&str]) -> HttpBroadcastOptions {
        let arguments = ["serve"].iter().chain(arguments);
        CommandLine::try_parse_from(arguments)
            .expect("valid flags")
            .options
    }

    #[track_caller]
    fn check_port(arguments: &[&str], has_key: bool, expected: Option<u16>) {
        assert_eq!(
            options(arguments).own_port(8080, has_key),
            expected,
            "{arguments:?} {has_key}"
        );
    }

    #[test]
    fn a_port_that_is_named_counts_with_and_without_a_key() {
        check_port(&[], true, None);
        check_port(&[], false, Some(8090));
        for has_key in [false, true] {
            check_port(&["--http-broadcast-port", "9000"], has_key, Some(9000));
            check_port(&["--http-broadcast-port", "8080"], has_key, None);
        }
        check_port(&["--http-broadcast-port", "0"], true, None);
        check_port(&["--http-broadcast-port", "0"], false, Some(0));
    }

    /// The access to broadcasts on this address: `key`, `local` or `everybody`, or `refused`.
    #[track_caller]
    fn check_access(arguments: &[&str], address: &str, key: Option<&str>, is_public: bool, expected: &str) {
        let access = options(arguments).access(Circumstances {
            host: "host",
            main_port: 8080,
            addresses: &[address.parse().expect("an address")],
            key: key.map(str::to_owned),
            is_public,
        });
        let found = match access {
            Ok(BackendAccess::Key(_)) => "key",
            Ok(BackendAccess::Local { .. }) => "local",
            Ok(BackendAccess::Everybody) => "everybody",
            Err(_) => "refused",
        };
        assert_eq!(found, expected, "{arguments:?} {address} {key:?} {is_public}");
    }

    #[test]
    fn other_machines_need_a_key_or_a_flag_that_states_the_risk() {
        check_access(&[], "127.0.0.1:0", None, false, "local");
        check_access(&[], "[::1]:0", None, true, "local");
        check_access(&[], "0.0.0.0:0", Some("k"), false, "key");
        check_access(&[], "0.0.0.0:0", None, false, "refused");
        check_access(&[], "[::]:0", None, false, "refused");
        check_access(&[], "192.0.2.1:0", None, false, "refused");
        check_access(
            &["--http-broadcast-insecure"],
            "0.0.0.0:0",
            None,
            false,
            "everybody",
        );
        check_access(
            &["--http-broadcast-insecure"],
            "0.0.0.0:0",
            Some("k"),
            false,
            "key",
        );
        check_access(&[], "0.0.0.0:0", None, true, "everybody");
    }
}
