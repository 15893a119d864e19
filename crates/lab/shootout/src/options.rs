//! What the user's words mean: checked, and in our own types.

use std::{net::IpAddr, num::NonZero, thread, time::Duration};

use plimsoll_cable::{encoding::Encoding, subprotocol::Dialect};
use plimsoll_clients::target::{Target, TargetError};
use plimsoll_report::summary::{Plan, PlannedScenario};

use crate::{
    args::{BroadcastArgs, CommonArgs, ConnectArgs, EchoArgs},
    outcome::Workload,
    server_type::ServerType,
    watching::WatchArgs,
    wire::Command,
};

/// The command line is not usable. Exit code 2.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UsageError {
    /// The URL is wrong.
    #[error(transparent)]
    Target(#[from] TargetError),
    /// Remote workers were asked for.
    #[error(
        "--worker-addr is not built yet: this tool loads from one machine; one process carries tens of thousands \
         of clients, and several machines can each run their own bench"
    )]
    WorkerAddr,
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
        "--sub-protocol {sub_protocol} means the encoding {meant}, but --action-cable-encoding is {encoding}; leave \
         --sub-protocol out"
    )]
    SubProtocol {
        /// What is to be offered.
        sub_protocol: String,
        /// The encoding that goes with it.
        meant: Encoding,
        /// The encoding that was asked for.
        encoding: Encoding,
    },
    /// A header without a colon.
    #[error(
        "--header {0:?} is no header; expected a name, a colon and a value, for example \"Cookie: uid=1\""
    )]
    Header(String),
    /// The server type cannot do what the workload needs.
    #[error("--server-type {server_type} cannot {workload}; {advice}")]
    ServerType {
        /// The type.
        server_type: ServerType,
        /// What was asked for.
        workload: &'static str,
        /// What to do instead.
        advice: &'static str,
    },
    /// A flag that says what a search decides.
    #[error(
        "{0}: a search decides how many clients there are, in steps of their own; leave it out, and see --start and --max"
    )]
    Searched(&'static str),
    /// `--interactive` without anyone to press Enter.
    #[error("--interactive waits for Enter, but standard input is not a terminal; use --steps-delay instead")]
    NoTerminal,
}

/// What all workloads need to know.
#[derive(Debug, Clone)]
pub(crate) struct Common {
    pub(crate) target: Target,
    pub(crate) server_type: ServerType,
    pub(crate) encoding: Encoding,
    pub(crate) channel: String,
    pub(crate) origin: String,
    pub(crate) sub_protocol: Option<String>,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) local_addresses: Vec<IpAddr>,
    pub(crate) connect_timeout: Duration,
    pub(crate) n_workers: usize,
    pub(crate) seed: u64,
    pub(crate) watch: WatchArgs,
    pub(crate) pacing: Pacing,
    pub(crate) between_steps: BetweenSteps,
}

/// Delays before single commands.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pacing {
    pub(crate) delay: Duration,
    /// How many percent of the commands get it.
    pub(crate) chance_percent: u8,
}

/// What happens between two steps.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BetweenSteps {
    pub(crate) is_interactive: bool,
    pub(crate) delay: Duration,
}

/// How many clients come in which steps.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Steps {
    pub(crate) n_first: usize,
    pub(crate) n_more: usize,
    /// `None`: until a limit is reached.
    pub(crate) n_steps: Option<usize>,
    /// How many clients connect at the same time.
    pub(crate) connect_width: usize,
}

/// Options of `broadcast` and `echo`.
#[derive(Debug, Clone)]
pub struct Exchange {
    pub(crate) common: Common,
    pub(crate) steps: Steps,
    pub(crate) command: Command,
    pub(crate) n_samples: usize,
    pub(crate) width: usize,
    pub(crate) limit_percentile: u8,
    pub(crate) limit_rtt: Duration,
    pub(crate) n_padding_bytes: usize,
    /// For deliveries, after the last answer; zero for echoes.
    pub(crate) wait: Duration,
    pub(crate) answer_limit: Duration,
}

/// Options of `connect`.
#[derive(Debug, Clone)]
pub struct Connect {
    pub(crate) common: Common,
    pub(crate) steps: Steps,
}

impl Exchange {
    pub(crate) fn workload(&self) -> Workload {
        match self.command {
            Command::Broadcast => Workload::Broadcast,
            Command::Echo => Workload::Echo,
        }
    }

    /// What is to be done. What a step comes to depends on all of it.
    pub(crate) fn plan(&self) -> Plan {
        let (command, padding) = (self.workload().name(), self.n_padding_bytes);
        let end = match self.steps.n_steps {
            Some(_) => String::new(),
            None => format!(
                " until p{} of rtt is over {} ms",
                self.limit_percentile,
                self.limit_rtt.as_millis()
            ),
        };
        let work = format!(
            "{} {command} messages with {padding} B of padding each, {} in flight",
            self.n_samples, self.width
        );
        self.common
            .plan(self.workload(), &self.steps, &format!("{work}{end}"))
    }
}

impl Connect {
    /// What is to be done.
    pub(crate) fn plan(&self) -> Plan {
        let work = format!("{} connecting at a time", self.steps.connect_width);
        self.common.plan(Workload::Connect, &self.steps, &work)
    }
}

impl Common {
    fn plan(&self, workload: Workload, steps: &Steps, work: &str) -> Plan {
        let Steps {
            n_first,
            n_more,
            n_steps,
            ..
        } = *steps;
        let n_steps = match n_steps {
            None => "steps".to_owned(),
            Some(1) => "1 step".to_owned(),
            Some(n) => format!("{n} steps"),
        };
        let n_clients = if n_first == n_more {
            n_more.to_string()
        } else {
            format!("{n_first}, then {n_more}")
        };
        let pause = if self.pacing.delay.is_zero() {
            String::new()
        } else {
            format!(
                ", {} % of them {:.1} s later",
                self.pacing.chance_percent,
                self.pacing.delay.as_secs_f64()
            )
        };
        let most = steps.n_clients().and_then(|n| u32::try_from(n).ok());
        Plan {
            scenarios: vec![PlannedScenario {
                name: workload.name().to_owned(),
                executor: "steps".to_owned(),
                description: format!(
                    "{n_steps} of {n_clients} more {} clients: {work}{pause}",
                    self.server_type
                ),
                start_seconds: 0.0,
                max_vus: most.unwrap_or(u32::MAX),
                duration_seconds: None,
            }],
        }
    }
}

impl Steps {
    /// How many clients the step numbered `step_idx` (from 0) adds.
    pub(crate) fn n_added(&self, step_idx: usize) -> usize {
        if step_idx == 0 { self.n_first } else { self.n_more }
    }

    /// How many clients there will be in the end, if that is known.
    pub(crate) fn n_clients(&self) -> Option<usize> {
        let n_later_steps = self.n_steps?.saturating_sub(1);
        Some(
            self.n_first
                .saturating_add(self.n_more.saturating_mul(n_later_steps)),
        )
    }
}

impl TryFrom<BroadcastArgs> for Exchange {
    type Error = UsageError;

    fn try_from(args: BroadcastArgs) -> Result<Self, UsageError> {
        let n_more = args.common.step_size;
        let n_first = if args.initial_clients > 0 {
            args.initial_clients
        } else {
            n_more
        };
        let n_steps = (args.total_steps > 0).then_some(args.total_steps);
        let common = Common::try_from(args.common)?;
        common.refuse(
            ServerType::Echo,
            "broadcast",
            "it only sends messages back to their sender: use `bench echo`, or a server of another type",
        )?;
        common.refuse(
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
            n_samples: args.sample_size,
            width: args.concurrent,
            limit_percentile: args.limit_percentile,
            limit_rtt: args.limit_rtt,
            n_padding_bytes: args.payload_padding,
            wait: args.wait_broadcasts,
            answer_limit: args.answer_timeout,
        })
    }
}

impl TryFrom<EchoArgs> for Exchange {
    type Error = UsageError;

    fn try_from(args: EchoArgs) -> Result<Self, UsageError> {
        let n_more = args.common.step_size;
        let n_steps = (args.total_steps > 0).then_some(args.total_steps);
        let common = Common::try_from(args.common)?;
        common.refuse(
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
            n_samples: args.sample_size,
            width: args.concurrent,
            limit_percentile: args.limit_percentile,
            limit_rtt: args.limit_rtt,
            n_padding_bytes: args.payload_padding,
            wait: Duration::ZERO,
            answer_limit: args.answer_timeout,
        })
    }
}

impl TryFrom<ConnectArgs> for Connect {
    type Error = UsageError;

    fn try_from(args: ConnectArgs) -> Result<Self, UsageError> {
        let n = args.common.step_size;
        let n_steps = (args.total_steps > 0).then_some(args.total_steps);
        Ok(Self {
            common: Common::try_from(args.common)?,
            steps: Steps {
                n_first: n,
                n_more: n,
                n_steps,
                connect_width: args.concurrent,
            },
        })
    }
}

impl TryFrom<CommonArgs> for Common {
    type Error = UsageError;

    fn try_from(args: CommonArgs) -> Result<Self, UsageError> {
        if !args.worker_addr.is_empty() {
            return Err(UsageError::WorkerAddr);
        }
        let (server_type, encoding) = (args.server_type, args.action_cable_encoding);
        if encoding.is_binary() && !server_type.is_cable() {
            return Err(UsageError::Encoding {
                encoding,
                server_type,
            });
        }
        let sub_protocol = args.sub_protocol.filter(|name| !name.is_empty());
        let n_cores = thread::available_parallelism().map_or(1, NonZero::get);
        Ok(Self {
            target: Target::parse(&args.url)?,
            server_type,
            encoding,
            channel: args.channel,
            origin: args.origin,
            sub_protocol: if server_type.is_cable() {
                offered(sub_protocol, encoding)?
            } else {
                sub_protocol
            },
            headers: args
                .header
                .into_iter()
                .map(parse_header)
                .collect::<Result<_, _>>()?,
            local_addresses: args.local_addr,
            connect_timeout: args.connect_timeout,
            n_workers: args.workers.unwrap_or(n_cores),
            // Short enough to be typed again, and exact in every JSON reader.
            seed: args.seed.unwrap_or_else(|| fastrand::u32(..).into()),
            watch: args.watch,
            pacing: Pacing {
                delay: args.command_delay,
                chance_percent: args.command_delay_chance,
            },
            between_steps: BetweenSteps {
                is_interactive: args.interactive,
                delay: args.steps_delay,
            },
        })
    }
}

impl Common {
    fn refuse(
        &self,
        refused: ServerType,
        workload: &'static str,
        advice: &'static str,
    ) -> Result<(), UsageError> {
        match self.server_type {
            server_type if server_type == refused => Err(UsageError::ServerType {
                server_type,
                workload,
                advice,
            }),
            _ => Ok(()),
        }
    }
}

/// What is offered to an Action Cable server. A binary encoding needs its sub-protocol, or the server speaks JSON.
fn offered(sub_protocol: Option<String>, encoding: Encoding) -> Result<Option<String>, UsageError> {
    let Some(sub_protocol) = sub_protocol else {
        let dialect = Dialect {
            encoding,
            is_extended: false,
        };
        let needed = dialect.subprotocol().filter(|_| encoding.is_binary());
        return Ok(needed.map(str::to_owned));
    };
    let meant = Dialect::of(Some(&sub_protocol)).encoding;
    if meant == encoding {
        Ok(Some(sub_protocol))
    } else {
        Err(UsageError::SubProtocol {
            sub_protocol,
            meant,
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
