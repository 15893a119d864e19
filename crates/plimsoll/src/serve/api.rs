//! Where `plimsoll serve` offers the REST API, and to which backends.
//!
//! The API publishes to all clients and shows their messages. With a key it is on the main port. Without a key it needs a
//! port of its own, like broadcasts.

use clap::Args;
use plimsoll_server::{Api, Listeners};

use super::{broadcasting::Circumstances, path::absolute_path};
use crate::exit::Failure;

/// Flags of the REST API.
#[derive(Debug, Args)]
#[command(next_help_heading = "REST API")]
#[group(id = "api")]
pub(super) struct ApiOptions {
    /// Path below which backends find the REST API: publish, history, streams, disconnect.
    #[arg(long, default_value = "/api", value_parser = absolute_path)]
    api_path: String,
    /// Port of the REST API. Default: with a key (--api_secret or --secret) the main port; without a key there is no API.
    #[arg(long, value_name = "PORT")]
    api_port: Option<u16>,
}

impl ApiOptions {
    /// The API; `None` without a key and without a port of its own.
    ///
    /// # Errors
    /// Other machines could use it without a key, and no flag says that they may.
    pub(super) fn api(&self, given: Circumstances<'_>) -> Result<Option<Api>, Failure> {
        let own_port = self.own_port(given.main_port);
        if given.key.is_none() && own_port.is_none() {
            return Ok(None);
        }
        let refusal = format!(
            "the REST API on {} needs no key: every program that reaches the port could send messages to all clients, and \
             read them. Set --api_secret (or --secret), listen on this machine only (--host localhost), or omit --api_port",
            given.host
        );
        Ok(Some(Api {
            path: self.api_path.trim_end_matches('/').to_owned(),
            on_main_port: own_port.is_none(),
            access: given.access(false, refusal)?,
        }))
    }

    /// The port that is not the main one, if there is one.
    fn own_port(&self, main_port: u16) -> Option<u16> {
        self.api_port.filter(|port| *port != 0 && *port != main_port)
    }

    /// Listens where the API has a port of its own.
    pub(super) fn bind(
        &self,
        api: Option<&Api>,
        host: &str,
        main_port: u16,
        n_shards: usize,
    ) -> Result<Option<Listeners>, Failure> {
        let (Some(_), Some(port)) = (api, self.own_port(main_port)) else {
            return Ok(None);
        };
        let bound = Listeners::bind(host, port, n_shards).map_err(|error| {
            let words =
                format!("{error}. This is the port of the REST API: choose another one with --api_port");
            Failure::Runtime(words.into())
        })?;
        Ok(Some(bound))
    }
}

/// Logs the address of the API.
pub(super) fn log_start(api: &Api, scheme: &str, listeners: &Listeners) {
    for address in listeners.addresses() {
        tracing::info!("The REST API is on {scheme}://{address}{}.", api.path);
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use plimsoll_server::BackendAccess;

    use super::*;

    #[derive(Parser)]
    struct CommandLine {
        #[command(flatten)]
        options: ApiOptions,
    }

    /// The API in words, with these flags, on this address.
    #[track_caller]
    fn check(arguments: &[&str], address: &str, key: Option<&str>, is_public: bool, expected: &str) {
        let words = ["serve"].iter().chain(arguments);
        let options = CommandLine::try_parse_from(words).expect("valid flags").options;
        let api = options.api(Circumstances {
            host: "host",
            main_port: 8080,
            addresses: &[address.parse().expect("an address")],
            key: key.map(str::to_owned),
            is_public,
        });
        let found = match api {
            Err(_) => "refused".to_owned(),
            Ok(None) => "none".to_owned(),
            Ok(Some(api)) => {
                let access = match api.access {
                    BackendAccess::Key(_) => "key",
                    BackendAccess::Local { .. } => "local",
                    BackendAccess::Everybody => "everybody",
                };
                let port = if api.on_main_port { "main" } else { "own" };
                format!("{} {access} {port}", api.path)
            }
        };
        assert_eq!(found, expected, "{arguments:?} {address} {key:?} {is_public}");
    }

    #[test]
    fn without_a_key_the_api_needs_a_port_and_this_machine() {
        let local = "127.0.0.1:0";
        check(&[], local, None, true, "none");
        check(&[], local, Some("k"), false, "/api key main");
        check(&["--api-port", "0"], local, None, false, "none");
        check(&["--api-port", "8080"], local, Some("k"), false, "/api key main");
        check(&["--api-port", "9000"], local, Some("k"), false, "/api key own");
        check(&["--api-port", "9000"], local, None, false, "/api local own");
        check(&["--api-port", "9000"], "0.0.0.0:0", None, false, "refused");
        check(
            &["--api-port", "9000"],
            "0.0.0.0:0",
            None,
            true,
            "/api everybody own",
        );
        check(&["--api-path", "/v1/"], local, Some("k"), false, "/v1 key main");
    }
}
