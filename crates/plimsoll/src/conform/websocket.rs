//! `plimsoll conform websocket`: servers against RFC 6455 and RFC 7692, or with `--listen`, clients.

use std::{
    collections::HashSet,
    io::{self, Write},
    net::SocketAddr,
    path::PathBuf,
    sync::Arc,
};

use clap::Parser;
use plimsoll_conformance::{
    Case, Outcome,
    websocket::{ClientSuite, Listener, ServerSuite},
};
use plimsoll_server::Tls;
use rustls::ServerConfig;

use super::{
    conduct::{Finished, Stop, Subject, conduct, conduct_by},
    flags::Flags,
};
use crate::{
    exit::{Failure, Status},
    surroundings::Surroundings,
    trust::Trust,
};

const EXAMPLES: &str = "\
Examples:
  plimsoll serve --app echo --port 9001 --max_message_size 16777216 &
  plimsoll conform websocket ws://localhost:9001/
  plimsoll conform websocket ws://localhost:9001/ --except 9,12,13 --report echo.html
  plimsoll conform websocket --listen 127.0.0.1:9001 --name my-client

A server under test echoes every message, up to 16 MiB. A client under test calls
  ws://ADDR/getCaseCount, ws://ADDR/runCase?case=1&agent=NAME and so on, ws://ADDR/updateReports?agent=NAME
as clients do that were written for Autobahn's test suite, whose cases these are, with its numbers.";

/// Test a WebSocket server, or with --listen a client, in about 650 cases.
#[derive(Debug, Parser)]
#[command(after_help = EXAMPLES)]
pub(super) struct Options {
    /// The echo server to test, for example ws://localhost:9001/.
    #[arg(value_name = "URL", required_unless_present_any = ["listen", "list"], conflicts_with = "listen")]
    url: Option<String>,
    /// Act as a server and test the clients that connect. Port 0 takes a free port, which is printed.
    #[arg(long, value_name = "ADDR", conflicts_with_all = ["cacert", "insecure"])]
    listen: Option<SocketAddr>,
    /// Messages in each case of families 12 and 13 (compression). Autobahn sends 1000.
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    messages: u32,
    /// With --listen: PEM file with the certificate chain, for TLS.
    #[arg(long, value_name = "FILE", requires_all = ["ssl_key", "listen"], conflicts_with = "url")]
    ssl_cert: Option<PathBuf>,
    /// PEM file with the private key of the certificate.
    #[arg(long, value_name = "FILE", requires = "ssl_cert")]
    ssl_key: Option<PathBuf>,
    #[command(flatten)]
    trust: Trust,
    #[command(flatten)]
    flags: Flags,
}

impl Options {
    pub(super) fn execute(self, surroundings: &Surroundings<'_>) -> Result<Status, Failure> {
        let n_messages = self.messages as usize;
        match (&self.url, self.listen) {
            (_, Some(address)) => self.test_clients(address, n_messages, surroundings),
            (Some(url), None) => self.test_server(url, n_messages, surroundings),
            // Only the list is wanted, and a server's is the longer one.
            (None, None) => self.test_server("ws://localhost/", n_messages, surroundings),
        }
    }

    fn test_server(
        &self,
        url: &str,
        n_messages: usize,
        surroundings: &Surroundings<'_>,
    ) -> Result<Status, Failure> {
        let server = self.trust.server(url)?;
        let suite = ServerSuite::new(server, n_messages);
        conduct("websocket server", &suite, url, &self.flags, surroundings)
    }

    /// The TLS configuration of the server under `--listen`; `None` without TLS.
    fn tls(&self) -> Result<Option<Arc<ServerConfig>>, Failure> {
        let (Some(chain), Some(key)) = (&self.ssl_cert, &self.ssl_key) else {
            return Ok(None);
        };
        let tls = Tls::load(chain.clone(), key.clone());
        tls.map(|tls| Some(tls.config()))
            .map_err(|error| Failure::Usage(error.to_string()))
    }

    fn test_clients(
        &self,
        address: SocketAddr,
        n_messages: usize,
        surroundings: &Surroundings<'_>,
    ) -> Result<Status, Failure> {
        let tls = self.tls()?;
        let suite = ClientSuite::new(n_messages);
        let subject = Subject {
            suite: "websocket client",
            cases: suite.cases(),
            families: suite.families(),
            nameless: Some("client"),
        };
        let runner = async |cases: Vec<Case>, stop: Stop<'_>, observe: &mut dyn FnMut(&Outcome)| {
            let listener = Listener::bind(address, tls).await.map_err(|error| {
                Failure::Runtime(
                    format!("cannot listen on {address}: {error}; choose another --listen").into(),
                )
            })?;
            let origin = listener.origin()?;
            writeln!(io::stderr(), "Clients are tested on {origin}/getCaseCount.")?;
            let number = |outcome: &Outcome| {
                cases
                    .iter()
                    .position(|case| case.id == outcome.case.id)
                    .map_or(0, |at| at + 1)
            };
            let mut causes = HashSet::new();
            let run = suite.run(&listener, &cases, self.flags.deadline(), stop, |outcome| {
                observe(outcome);
                if outcome.is_new_failure(&mut causes) {
                    // Standard error is a courtesy here: the results have it all.
                    let _ = writeln!(
                        io::stderr(),
                        "{} failed: {origin}/runCase?case={}",
                        outcome.case.id,
                        number(outcome)
                    );
                }
            });
            let run = run.await;
            Ok(Finished {
                ran: run.ran,
                agent: run.agent,
                url: origin,
            })
        };
        conduct_by(subject, &self.flags, surroundings, runner, async || ())
    }
}
