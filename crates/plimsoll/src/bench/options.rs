//! The checked options of `broadcast`, `echo` and `connect`, in the types of the workloads.

use std::{
    io::{self, IsTerminal},
    num::NonZero,
    thread,
    time::Duration,
};

use plimsoll_cable::{encoding::Encoding, subprotocol::Dialect};
use plimsoll_clients::target::{Target, TargetError};
use plimsoll_load::watch;
use plimsoll_shootout::{
    Bench, BetweenSteps, Command, Common, Connect, Exchange, GoAhead, Model, Pacing, Results, Schedule,
    ServerType, Steps, Waits, outcome::Workload,
};

use super::{
    args::{BroadcastArgs, ClientArgs, ConnectArgs, EchoArgs},
    enter::enter,
    typed::Typed,
};
use crate::{fleet::FleetFlags, session::Format};

/// The command line is not usable. Exit code 2.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum UsageError {
    /// The URL is wrong.
    #[error(transparent)]
    Target(#[from] TargetError),
    /// Remote workers were asked for.
    #[error(
        "--worker-addr is not supported: one process runs tens of thousands of clients, and --fleet shares more of them \
         among several machines"
    )]
    WorkerAddr,
    /// Source addresses of this machine for clients of other machines.
    #[error("--local-addr and --fleet exclude each other: agents connect from their own addresses")]
    LocalAddress,
    /// A binary encoding for servers that do not speak Action Cable.
    #[error(
        "--action-cable-encoding {encoding} does not fit --server-type {server_type}; expected actioncable or \
         actioncable-connect"
    )]
    Encoding {
        /// The encoding.
        encoding: Encoding,
        /// The server type.
        server_type: ServerType,
    },
    /// The server would choose another encoding than the one that is asked for.
    #[error(
        "--sub-protocol {sub_protocol} means the encoding {meant}, but --action-cable-encoding is {encoding}; remove \
         --sub-protocol"
    )]
    SubProtocol {
        /// The sub-protocol to offer.
        sub_protocol: String,
        /// The encoding that goes with it.
        meant: Encoding,
        /// The encoding that was asked for.
        encoding: Encoding,
    },
    /// A header without a colon.
    #[error(
        "--header {0:?} is not a header; expected a name, a colon and a value, for example \"Cookie: uid=1\""
    )]
    Header(String),
    /// The server type does not support the workload.
    #[error("--server-type {server_type} cannot {workload}; {advice}")]
    ServerType {
        /// The type.
        server_type: ServerType,
        /// The requested workload.
        workload: &'static str,
        /// The alternative.
        advice: &'static str,
    },
    /// A flag that sets a value which a search chooses itself.
    #[error(
        "{0}: a search chooses the number of clients itself; remove this flag, and see --start and --max"
    )]
    Searched(&'static str),
    /// A threshold, which a search has as an objective.
    #[error(
        "--threshold: a search has objectives for every step instead; write --slo 'rtt p(95)<200' instead of \
         --threshold 'rtt:p(95)<200'"
    )]
    Objective,
    /// A threshold that cannot be judged.
    #[error("{0}")]
    Threshold(String),
    /// A schedule that cannot be.
    #[error("--rate {rate} for --duration {seconds} s: {reason}")]
    Schedule {
        /// `--rate`.
        rate: String,
        /// `--duration`, in seconds.
        seconds: String,
        /// The problem.
        reason: String,
    },
    /// A delay that a schedule would make meaningless.
    #[error(
        "--command-delay does not fit --rate: a schedule already says when messages are sent; remove one of them"
    )]
    DelayedSchedule,
    /// More messages in a step of a search than this machine can account for.
    #[error("{0}; send fewer messages, or use a machine with more memory")]
    Records(String),
    /// `--interactive` without anyone to press Enter.
    #[error("--interactive waits for Enter, but standard input is not a terminal; use --steps-delay instead")]
    NoTerminal,
}

/// How long `echo` waits for echoes once a person has ended the run.
const INTERRUPTED_WAIT: Duration = Duration::from_secs(2);

impl TryFrom<BroadcastArgs> for Exchange {
    type Error = UsageError;

    fn try_from(args: BroadcastArgs) -> Result<Self, UsageError> {
        let n_more = args.clients.step_size;
        let n_first = if args.initial_clients > 0 {
            args.initial_clients
        } else {
            n_more
        };
        let n_steps = (args.total_steps > 0).then_some(args.total_steps);
        let model = model(&args)?;
        let nodes = args.nodes.iter().map(|url| Target::parse(url));
        let nodes = nodes.collect::<Result<_, _>>()?;
        let common = Common {
            nodes,
            ..common(args.clients, Workload::Broadcast)?
        };
        refuse_type(
            &common,
            ServerType::Echo,
            "broadcast",
            "it only sends messages back to their sender; use `bench echo`, or another server type",
        )?;
        refuse_type(
            &common,
            ServerType::ActionCableConnect,
            "broadcast",
            "use --server-type actioncable",
        )?;
        Ok(Self {
            common,
            steps: Steps {
                n_first,
                n_more,
                n_steps,
                connect_width: args.connect_concurrent,
            },
            command: Command::Broadcast,
            model,
            limit_percentile: args.limit_percentile,
            limit_rtt: args.limit_rtt,
            n_padding_bytes: args.payload_padding,
            waits: Waits {
                quiet: args.wait_broadcasts,
                drain: args.drain_timeout,
                answer: args.answer_timeout,
            },
        })
    }
}

impl TryFrom<EchoArgs> for Exchange {
    type Error = UsageError;

    fn try_from(args: EchoArgs) -> Result<Self, UsageError> {
        let n_more = args.clients.step_size;
        let n_steps = (args.total_steps > 0).then_some(args.total_steps);
        let common = common(args.clients, Workload::Echo)?;
        refuse_type(
            &common,
            ServerType::ActionCableConnect,
            "echo",
            "use --server-type actioncable",
        )?;
        Ok(Self {
            common,
            steps: Steps {
                n_first: n_more,
                n_more,
                n_steps,
                connect_width: args.connect_concurrent,
            },
            command: Command::Echo,
            model: Model::Closed {
                n_samples: args.sample_size,
                width: args.concurrent,
            },
            limit_percentile: args.limit_percentile,
            limit_rtt: args.limit_rtt,
            n_padding_bytes: args.payload_padding,
            waits: Waits {
                quiet: INTERRUPTED_WAIT,
                drain: INTERRUPTED_WAIT,
                answer: args.answer_timeout,
            },
        })
    }
}

/// When broadcasts are sent.
fn model(args: &BroadcastArgs) -> Result<Model, UsageError> {
    let Some((rate, duration)) = args.rate.zip(args.duration) else {
        return Ok(Model::Closed {
            n_samples: args.sample_size,
            width: args.concurrent,
        });
    };
    if !args.clients.command_delay.is_zero() {
        return Err(UsageError::DelayedSchedule);
    }
    let schedule = Schedule::new(rate, duration).map_err(|error| UsageError::Schedule {
        rate: rate.to_string(),
        seconds: duration.as_secs_f64().to_string(),
        reason: error.to_string(),
    });
    schedule.map(Model::Open)
}

impl TryFrom<ConnectArgs> for Connect {
    type Error = UsageError;

    fn try_from(args: ConnectArgs) -> Result<Self, UsageError> {
        let n = args.clients.step_size;
        let n_steps = (args.total_steps > 0).then_some(args.total_steps);
        Ok(Self {
            common: common(args.clients, Workload::Connect)?,
            steps: Steps {
                n_first: n,
                n_more: n,
                n_steps,
                connect_width: args.concurrent,
            },
        })
    }
}

fn common(args: ClientArgs, workload: Workload) -> Result<Common, UsageError> {
    if !args.worker_addr.is_empty() {
        return Err(UsageError::WorkerAddr);
    }
    let (server_type, encoding) = (args.server_type.unwrap_or_default(), args.action_cable_encoding);
    if encoding.is_binary() && !server_type.is_cable() {
        return Err(UsageError::Encoding {
            encoding,
            server_type,
        });
    }
    for limit in &args.threshold {
        limit.check(workload).map_err(UsageError::Threshold)?;
    }
    // A binary encoding needs its sub-protocol, or the server speaks JSON.
    let mut sub_protocol = args.sub_protocol.filter(|name| !name.is_empty());
    let mut dialect = Dialect::default();
    if server_type.is_cable() {
        dialect = offered_dialect(sub_protocol.as_deref(), encoding)?;
        if encoding.is_binary() {
            sub_protocol = Some(dialect.subprotocol().to_owned());
        }
    }
    let n_cores = thread::available_parallelism().map_or(1, NonZero::get);
    Ok(Common {
        target: Target::parse(&args.url)?,
        nodes: Vec::new(),
        server_type,
        dialect,
        channel: args.channel,
        origin: args.origin,
        sub_protocol,
        headers: args
            .header
            .into_iter()
            .map(parse_header)
            .collect::<Result<_, _>>()?,
        tls: args.insecure.tls(),
        local_addresses: args.local_addr,
        connect_timeout: args.connect_timeout,
        n_workers: args.workers.unwrap_or(n_cores),
        // Short enough to be typed again, and exact in every JSON reader.
        seed: args.seed.unwrap_or_else(|| fastrand::u32(..).into()),
        watched: Vec::new(),
        limits: args.threshold,
        pacing: Pacing {
            delay: args.command_delay,
            chance_percent: args.command_delay_chance,
        },
        between_steps: BetweenSteps {
            go_ahead: args.interactive.then_some(enter as GoAhead),
            delay: args.steps_delay,
        },
    })
}

/// Agents have addresses of their own.
fn check_fleet(clients: &ClientArgs) -> Result<(), UsageError> {
    if clients.local_addr.is_empty() {
        Ok(())
    } else {
        Err(UsageError::LocalAddress)
    }
}

fn refuse_type(
    common: &Common,
    refused: ServerType,
    workload: &'static str,
    advice: &'static str,
) -> Result<(), UsageError> {
    match common.server_type {
        server_type if server_type == refused => Err(UsageError::ServerType {
            server_type,
            workload,
            advice,
        }),
        _ => Ok(()),
    }
}

/// The dialect of an Action Cable server that is offered this sub-protocol. Without one it is the base protocol in the
/// encoding.
fn offered_dialect(sub_protocol: Option<&str>, encoding: Encoding) -> Result<Dialect, UsageError> {
    let Some(sub_protocol) = sub_protocol else {
        return Ok(Dialect {
            encoding,
            is_extended: false,
        });
    };
    let dialect = Dialect::of(Some(sub_protocol));
    if dialect.encoding == encoding {
        Ok(dialect)
    } else {
        Err(UsageError::SubProtocol {
            sub_protocol: sub_protocol.to_owned(),
            meant: dialect.encoding,
            encoding,
        })
    }
}

/// Name and value of a header.
pub(crate) fn parse_header(text: String) -> Result<(String, String), UsageError> {
    match text.split_once(':') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.trim().to_owned())),
        _ => Err(UsageError::Header(text)),
    }
}

impl Typed for BroadcastArgs {
    type Mistake = UsageError;
    type Fleet = FleetFlags;

    fn url(&self) -> &str {
        &self.clients.url
    }

    fn set_url(&mut self, url: String) {
        self.clients.url = url;
    }

    fn clients(&mut self) -> Option<&mut ClientArgs> {
        Some(&mut self.clients)
    }

    fn n_workers(&self) -> Option<usize> {
        self.clients.workers
    }

    fn check_fleet(&self) -> Result<(), UsageError> {
        check_fleet(&self.clients)
    }

    fn bench(self, format: Format, watched: &[watch::Target]) -> Result<Bench, UsageError> {
        let results = results(&self.clients, format)?;
        Ok(exchange(self.try_into()?, results, watched))
    }
}

impl Typed for EchoArgs {
    type Mistake = UsageError;
    type Fleet = FleetFlags;

    fn url(&self) -> &str {
        &self.clients.url
    }

    fn set_url(&mut self, url: String) {
        self.clients.url = url;
    }

    fn clients(&mut self) -> Option<&mut ClientArgs> {
        Some(&mut self.clients)
    }

    fn n_workers(&self) -> Option<usize> {
        self.clients.workers
    }

    fn check_fleet(&self) -> Result<(), UsageError> {
        check_fleet(&self.clients)
    }

    fn bench(self, format: Format, watched: &[watch::Target]) -> Result<Bench, UsageError> {
        let results = results(&self.clients, format)?;
        Ok(exchange(self.try_into()?, results, watched))
    }
}

impl Typed for ConnectArgs {
    type Mistake = UsageError;
    type Fleet = FleetFlags;

    fn url(&self) -> &str {
        &self.clients.url
    }

    fn set_url(&mut self, url: String) {
        self.clients.url = url;
    }

    fn clients(&mut self) -> Option<&mut ClientArgs> {
        Some(&mut self.clients)
    }

    fn type_for_cable(&self) -> ServerType {
        ServerType::ActionCableConnect
    }

    fn n_workers(&self) -> Option<usize> {
        self.clients.workers
    }

    fn check_fleet(&self) -> Result<(), UsageError> {
        check_fleet(&self.clients)
    }

    fn bench(self, format: Format, watched: &[watch::Target]) -> Result<Bench, UsageError> {
        let results = results(&self.clients, format)?;
        let mut options: Connect = self.try_into()?;
        options.common.watched = watched.to_vec();
        Ok(Bench::Connect(Box::new(options), results))
    }
}

fn exchange(mut options: Exchange, results: Results, watched: &[watch::Target]) -> Bench {
    options.common.watched = watched.to_vec();
    Bench::Exchange(Box::new(options), results)
}

fn results(clients: &ClientArgs, format: Format) -> Result<Results, UsageError> {
    if clients.interactive && !io::stdin().is_terminal() {
        return Err(UsageError::NoTerminal);
    }
    Ok(Results {
        format: format.into(),
        path: clients.filename.clone(),
    })
}
