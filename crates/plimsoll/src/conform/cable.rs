//! `plimsoll conform cable`: a cable server, with this process as its application and as the backend that broadcasts.

use std::{net::SocketAddr, time::Duration};

use clap::{
    Parser, ValueEnum,
    builder::{PossibleValuesParser, TypedValueParser as _},
};
use plimsoll_conformance::cable::{self, Cable, Dialect};

use super::{conduct::conduct, flags::Flags};
use crate::{
    exit::{Failure, Status},
    surroundings::Surroundings,
    trust::Trust,
};

const EXAMPLES: &str = "\
Examples:
  plimsoll conform cable --list
  plimsoll conform cable ws://localhost:8080/cable --broadcast-url http://localhost:8090/_broadcast
  plimsoll conform cable ws://127.0.0.1:0/cable --rpc-listen 127.0.0.1:0 --broadcast-key secret --command \\
    \"plimsoll serve --port {port} --rpc_host {rpc} --headers cookie,x-api-token --broadcast_key secret\"
  plimsoll conform cable ws://localhost:9292/cable --rpc none   conformance/rails, on Action Cable itself
  plimsoll conform cable ws://localhost:8080/cable --subprotocol actioncable-v1-ext-msgpack

The suite is the server's application: over gRPC, as AnyCable's servers ask one at 127.0.0.1:50051, or over
HTTP at http://127.0.0.1:50051/_anycable. The server has to pass on the headers cookie and x-api-token.
What the server does not have, such as history or presence, is skipped with the reason.

Exit codes: 0 no case failed, or all verdicts are as expected; 3 a case failed, or a verdict changed.";

/// Test a cable server: the scenarios of AnyT, order, races, fidelity of payloads, restarts and faults.
#[derive(Debug, Parser)]
#[command(after_help = EXAMPLES)]
pub(super) struct Options {
    /// URL of the cable, for example ws://localhost:8080/cable, or wss://…. Port 0 takes a free port, for --command.
    #[arg(value_name = "URL", required_unless_present = "list")]
    url: Option<String>,
    /// Sub-protocol of the clients. Cases about the extended protocol use its form in the same encoding.
    #[arg(long, value_name = "NAME", value_parser = subprotocols(), default_value = "actioncable-v1-json",
          help_heading = SERVER)]
    subprotocol: Dialect,
    /// How the server calls its application, which is this program.
    #[arg(long, value_enum, value_name = "RPC", default_value_t = Rpc::Grpc, help_heading = SERVER)]
    rpc: Rpc,
    /// Address on which that application listens; port 0 takes a free port, for --command.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:50051", help_heading = SERVER)]
    rpc_listen: SocketAddr,
    /// How broadcasts reach the server.
    #[arg(long, value_enum, value_name = "ADAPTER", default_value_t = Adapter::Http, help_heading = SERVER)]
    broadcast: Adapter,
    /// URL for broadcasts: http[s]://host:port/path or redis[s]://host:port. {port} is the server's port. Default:
    /// /_broadcast of the server, or redis://127.0.0.1:6379.
    #[arg(long, value_name = "URL", help_heading = SERVER)]
    broadcast_url: Option<String>,
    /// Key that the server requires for broadcasts over HTTP.
    #[arg(long, value_name = "KEY", help_heading = SERVER)]
    broadcast_key: Option<String>,
    /// Start the server with this command, and restart it when a case needs a restart. {rpc} is the value for
    /// --rpc_host; {host} and {port} are those of the URL. At the end the server gets SIGTERM, and after three
    /// seconds SIGKILL.
    #[arg(long, value_name = "COMMAND", help_heading = SERVER)]
    command: Option<String>,
    /// Seconds that a case waits for one message.
    #[arg(long, value_name = "SECONDS", default_value_t = 5.0, value_parser = patience, help_heading = SERVER)]
    patience: f64,
    #[command(flatten)]
    trust: Trust,
    #[command(flatten)]
    flags: Flags,
}

/// The heading of this suite's own flags.
const SERVER: &str = "The server under test";

/// Ways to ask an application.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Rpc {
    /// AnyCable's gRPC service.
    Grpc,
    /// AnyCable's RPC over HTTP.
    Http,
    /// None: the server has the channels itself, as conformance/rails has.
    None,
}

/// Ways of broadcasts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Adapter {
    /// POST requests.
    Http,
    /// PUBLISH of Redis.
    Redis,
    /// A stream of Redis.
    Redisx,
}

impl Options {
    pub(super) fn execute(self, surroundings: &Surroundings<'_>) -> Result<Status, Failure> {
        // Without a URL only the list is wanted, which is the same for all servers.
        let url = self.url.as_deref().unwrap_or("ws://localhost/cable");
        let target = self.trust.server(url)?;
        let broadcast_tls = self.trust.tls(self.broadcast_url.as_deref().unwrap_or(url))?;
        let url = target.to_string();
        let suite = Cable::new(cable::Options {
            target,
            dialect: self.subprotocol,
            rpc: match self.rpc {
                Rpc::Grpc => cable::Rpc::Grpc,
                Rpc::Http => cable::Rpc::Http,
                Rpc::None => cable::Rpc::None,
            },
            rpc_listen: self.rpc_listen,
            broadcast: match self.broadcast {
                Adapter::Http => cable::Adapter::Http,
                Adapter::Redis => cable::Adapter::Redis,
                Adapter::Redisx => cable::Adapter::Redisx,
            },
            broadcast_tls,
            broadcast_url: self.broadcast_url,
            broadcast_key: self.broadcast_key,
            command: self.command,
            patience: Duration::from_secs_f64(self.patience),
        });
        conduct("cable", &suite, &url, &self.flags, surroundings)
    }
}

fn subprotocols() -> impl clap::builder::TypedValueParser<Value = Dialect> {
    // The parser before accepts these names alone.
    PossibleValuesParser::new(Dialect::names()).map(|name| Dialect::named(&name).unwrap_or_default())
}

/// Reason of the greatest value: an hour; no server keeps a client waiting longer.
fn patience(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(seconds) if seconds > 0.0 && seconds <= 3600.0 => Ok(seconds),
        _ => Err("expected seconds, more than 0 and at most 3600, for example 2.5".to_owned()),
    }
}
