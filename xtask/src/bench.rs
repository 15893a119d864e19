//! `cargo xtask bench`: our server and our load client next to the physical limit of this machine.
//!
//! A figure alone says little about a program: the machine, its neighbours and its mood are in it too. So every
//! benchmark runs a bare system-call loop (under `limit`) and the real thing in turn, round after round, and the
//! budgets are ratios of the two. Nothing here is asserted in a test; a missed budget is printed, not hidden.

mod artillery;
mod avalanche;
mod broadcast;
mod budget;
mod client;
mod collisions;
mod compare;
mod fanout;
mod finished;
mod generator;
mod guard;
mod hop;
mod http;
mod idle;
mod js;
mod limit;
mod memory;
mod percentile;
mod poller;
mod process;
mod record;
mod recover;
mod rpc;
mod server;
mod sheet;
mod swarm;
mod usage;
mod watch;

use std::{
    env, io,
    num::NonZeroUsize,
    path::{Path, PathBuf},
};

use clap::ValueEnum;
use serde_json::{Value, json};

use crate::{BoxedError, command, debian, repository};
use budget::Verdict;
use guard::Guard;
use sheet::Sheet;

/// What to measure, and how long.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// The benchmark.
    #[arg(value_enum)]
    name: Name,
    /// Numbers of connections (of `js`: virtual users that chat) to measure at, comma separated; each benchmark has its
    /// own default.
    #[arg(long, value_delimiter = ',', value_name = "N")]
    connections: Vec<NonZeroUsize>,
    /// Rounds; each is one run of the limit loop and one of ours.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=100))]
    rounds: u32,
    /// Serve with this program instead of the release build, to compare with an older one: run both in turn.
    #[arg(long, value_name = "FILE")]
    server: Option<PathBuf>,
    /// Load with this program instead of the release build, to compare with an older one: run both in turn.
    #[arg(long, value_name = "FILE")]
    generator: Option<PathBuf>,
    /// Of `guard`: the program of the parent. Default: HEAD~1, which is built below the target folder.
    #[arg(long, value_name = "FILE")]
    parent: Option<PathBuf>,
    /// Of `guard`: the benchmarks to compare, comma separated. Default: fanout, client, idle, avalanche.
    #[arg(long, value_enum, value_delimiter = ',', value_name = "NAMES")]
    of: Vec<Name>,
    /// Of `guard`: how often both programs take their turn.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(i64::from(guard::MIN_TURNS)..=100))]
    turns: u32,
    /// Write the raw data to benchmarks/<date>-<name>/.
    #[arg(long)]
    save: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Name {
    /// Server CPU per delivery, with 1 and with 8 broadcasts in flight.
    Fanout,
    /// Server memory per subscribed connection that does nothing.
    Idle,
    /// Server CPU per connect and subscribe when all clients connect at once.
    Avalanche,
    /// Load client CPU per received delivery.
    Client,
    /// An application over gRPC: server CPU per connect and subscribe and per action, and the latency that it adds.
    Rpc,
    /// Scripts: memory per virtual user that chats, and load client CPU per cable echo, WebSocket echo and HTTP request,
    /// next to the real k6 where that can run the script; needs Go.
    Js,
    /// Client CPU per HTTP request, next to wrk and ab.
    Http,
    /// Artillery's files: load client CPU per message next to the real Artillery, memory per user that stays; needs npm.
    Artillery,
    /// What --watch says of a server, next to what /proc and `idle` say.
    Watch,
    /// Verdicts of ten comparisons of equal runs, and of ten with a target that is 30 % slower; --rounds changes nothing.
    Compare,
    /// Reliable streams: what clients that are cut lose, what a herd costs that comes back, and what a broker costs.
    Recover,
    /// Server CPU of subscriptions to names that collide in a hash table without a key, next to ordinary names.
    Collisions,
    /// A cluster: the time from a publication at one server to the last of 100 clients of another one, next to a bare
    /// publication in Redis and NATS.
    Hop,
    /// A change next to its parent, both programs in turn: fails if a figure is worse beyond the noise of the turns.
    Guard,
    /// All of them but `guard`.
    All,
}

/// What every benchmark gets to know.
struct Plan {
    /// The binary that serves: the release build of `plimsoll`, or another one to compare with.
    server: PathBuf,
    /// The binary that loads: the release build, or another one to compare with.
    generator: PathBuf,
    /// The target folder, for what benchmarks build and write.
    target: PathBuf,
    /// Empty: the benchmark's own default.
    connections: Vec<usize>,
    rounds: u32,
}

/// What a benchmark hands back.
#[derive(Default)]
struct Outcome {
    /// For people: tables and budget lines.
    text: String,
    /// Every figure of every round, the verdicts, and the load client's own reports.
    raw: Vec<Value>,
}

impl Outcome {
    /// Adds what was measured under one set of circumstances.
    fn add(&mut self, sheet: &Sheet, verdicts: &[Verdict], reports: &[Value]) {
        self.text += &format!("\n{sheet}");
        for verdict in verdicts {
            self.text += &format!("{verdict}\n");
        }
        let verdicts: Vec<Value> = verdicts.iter().map(Verdict::to_json).collect();
        self.raw
            .push(json!({ "sheet": sheet.to_json(), "verdicts": verdicts, "reports": reports }));
    }
}

/// Runs the benchmark that is asked for, prints its tables and saves its data if wanted.
pub(crate) fn run(options: &Options) -> Result<(), BoxedError> {
    if cfg!(debug_assertions) {
        return run_optimized();
    }
    let this = env::current_exe()?;
    let target = this.parent().and_then(Path::parent);
    let target = target.expect("a release binary lies in a folder of the target folder");
    let (server, generator) = match (&options.server, &options.generator) {
        (Some(server), Some(generator)) => (server.clone(), generator.clone()),
        (server, generator) => {
            let built = repository::build_release("plimsoll")?;
            let or_built = |given: &Option<PathBuf>| given.clone().unwrap_or_else(|| built.clone());
            (or_built(server), or_built(generator))
        }
    };
    let plan = Plan {
        target: target.to_owned(),
        server,
        generator,
        connections: options.connections.iter().map(|n| n.get()).collect(),
        rounds: options.rounds,
    };
    if options.name == Name::Guard {
        let guard = Guard {
            parent: options.parent.as_deref(),
            of: &options.of,
            turns: options.turns,
        };
        return guard.run(&plan);
    }
    for benchmark in chosen(options.name) {
        let outcome = benchmark.run(&plan)?;
        println!("{}", outcome.text);
        if options.save {
            let folder = record::save(benchmark.name(), &outcome)?;
            println!("saved to {}", folder.display());
        }
    }
    Ok(())
}

/// The limit loops have to be as optimized as what they are compared with, so the release build of this program takes
/// over with the same arguments.
fn run_optimized() -> Result<(), BoxedError> {
    let optimized = repository::build_release("xtask")?;
    let mut command = repository::command(optimized);
    // Runs of benchmarks are not among those of the developer.
    command.args(env::args_os().skip(1)).env("PLIMSOLL_NO_SAVE", "1");
    Ok(command::run(&mut command)?)
}

/// One benchmark per file.
#[derive(Clone, Copy)]
enum Benchmark {
    Fanout,
    Idle,
    Avalanche,
    Client,
    Rpc,
    Js,
    Http,
    Artillery,
    Watch,
    Compare,
    Recover,
    Collisions,
    Hop,
}

fn chosen(name: Name) -> Vec<Benchmark> {
    match name {
        Name::Fanout => vec![Benchmark::Fanout],
        Name::Idle => vec![Benchmark::Idle],
        Name::Avalanche => vec![Benchmark::Avalanche],
        Name::Client => vec![Benchmark::Client],
        Name::Rpc => vec![Benchmark::Rpc],
        Name::Js => vec![Benchmark::Js],
        Name::Http => vec![Benchmark::Http],
        Name::Artillery => vec![Benchmark::Artillery],
        Name::Watch => vec![Benchmark::Watch],
        Name::Compare => vec![Benchmark::Compare],
        Name::Recover => vec![Benchmark::Recover],
        Name::Collisions => vec![Benchmark::Collisions],
        Name::Hop => vec![Benchmark::Hop],
        Name::Guard => Vec::new(),
        Name::All => vec![
            Benchmark::Fanout,
            Benchmark::Client,
            Benchmark::Idle,
            Benchmark::Avalanche,
            Benchmark::Rpc,
            Benchmark::Js,
            Benchmark::Http,
            Benchmark::Artillery,
            Benchmark::Watch,
            Benchmark::Compare,
            Benchmark::Recover,
            Benchmark::Collisions,
            Benchmark::Hop,
        ],
    }
}

impl Benchmark {
    fn name(self) -> &'static str {
        match self {
            Self::Fanout => "fanout",
            Self::Idle => "idle",
            Self::Avalanche => "avalanche",
            Self::Client => "client",
            Self::Rpc => "rpc",
            Self::Js => "js",
            Self::Http => "http",
            Self::Artillery => "artillery",
            Self::Watch => "watch",
            Self::Compare => "compare",
            Self::Recover => "recover",
            Self::Collisions => "collisions",
            Self::Hop => "hop",
        }
    }

    fn run(self, plan: &Plan) -> Result<Outcome, Error> {
        match self {
            Self::Fanout => fanout::run(plan),
            Self::Idle => idle::run(plan),
            Self::Avalanche => avalanche::run(plan),
            Self::Client => client::run(plan),
            Self::Rpc => rpc::run(plan),
            Self::Js => js::run(plan),
            Self::Http => http::run(plan),
            Self::Artillery => artillery::run(plan),
            Self::Watch => watch::run(plan),
            Self::Compare => compare::run(plan),
            Self::Recover => recover::run(plan),
            Self::Collisions => collisions::run(plan),
            Self::Hop => hop::run(plan),
        }
    }
}

impl Plan {
    /// The connection counts to measure at; at most `max` each.
    fn connections(&self, default: &[usize], max: usize) -> Result<Vec<usize>, Error> {
        let wanted = if self.connections.is_empty() {
            default
        } else {
            &self.connections
        };
        match wanted.iter().find(|n| **n > max) {
            Some(&wanted) => Err(Error::TooManyConnections { wanted, max }),
            None => Ok(wanted.to_vec()),
        }
    }
}

/// Why a benchmark has no result.
#[derive(Debug, thiserror::Error)]
enum Error {
    #[error("{wanted} connections are more than this benchmark can hold in one process (at most {max})")]
    TooManyConnections { wanted: usize, max: usize },
    #[error("the limit loop failed")]
    Limit(#[source] io::Error),
    #[error("a program did not say where it listens: {0}")]
    Announcement(String),
    #[error("the application did not build")]
    Build(#[source] command::Error),
    #[error(transparent)]
    Debian(#[from] debian::Error),
    #[error("cannot start {program}")]
    Start { program: String, source: io::Error },
    #[error("`{line}` failed ({status})")]
    Generator {
        line: String,
        status: std::process::ExitStatus,
    },
    #[error("`{program}` did not say `{field}`, or had failures:\n{output}")]
    Output {
        program: String,
        field: &'static str,
        output: String,
    },
    #[error("the load client's report has no number at {pointer}")]
    Report { pointer: String },
    #[error("the load client's report is not JSON")]
    Json(#[from] serde_json::Error),
    #[error(
        "the real k6, which some figures are compared with, did not build; it needs Go 1.25 or newer: https://go.dev/dl"
    )]
    K6(#[source] command::Error),
    #[error("`{line}` failed ({status}): {said}")]
    Script {
        line: String,
        status: std::process::ExitStatus,
        said: String,
    },
    #[error("the real Artillery, which figures are compared with, is not there; npm installs it")]
    Artillery(#[source] command::Error),
    #[error("cannot use the folder that runs are in, below the target folder")]
    Folder(#[source] io::Error),
    #[error("`{line}` counted {found} {counter} instead of {expected}")]
    Incomplete {
        line: String,
        counter: &'static str,
        expected: u64,
        found: u64,
    },
    #[error("the swarm of clients failed")]
    Swarm(#[source] io::Error),
    #[error("a request to the server failed")]
    Request(#[source] io::Error),
    #[error("the server's metrics have no {0}")]
    Metric(&'static str),
    #[error("the server still has logs of streams that were to be forgotten")]
    Forgotten,
    #[error("cannot read {path}")]
    Proc { path: String, source: io::Error },
}
