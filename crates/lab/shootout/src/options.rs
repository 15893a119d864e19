//! The checked options of `broadcast`, `echo` and `connect`.

use std::{net::IpAddr, sync::Arc, time::Duration};

use plimsoll_cable::subprotocol::Dialect;
use plimsoll_clients::{target::Target, tls::Tls};
use plimsoll_load::{
    executor::{Arrivals, ArrivalsError},
    watch,
};
use plimsoll_report::summary::{Plan, PlannedScenario};

use crate::{
    limit::Limit, outcome::Workload, pause::BetweenSteps, rate::Rate, server_type::ServerType, wire::Command,
};

/// The options that all three workloads share.
#[derive(Debug, Clone)]
pub struct Common {
    /// The server.
    pub target: Target,
    /// Further servers of the same cluster. Clients take turns at all servers; those of [`Self::target`] send.
    pub nodes: Vec<Target>,
    /// The type of the server.
    pub server_type: ServerType,
    /// The dialect of Action Cable messages; other server types do not use it.
    pub dialect: Dialect,
    /// The Action Cable identifier, which is sent unchanged.
    pub channel: String,
    /// The `Origin` header.
    pub origin: String,
    /// The WebSocket sub-protocol to offer.
    pub sub_protocol: Option<String>,
    /// Further headers of the upgrade.
    pub headers: Vec<(String, String)>,
    /// The TLS options of all connections. None for the defaults.
    pub tls: Option<Arc<Tls>>,
    /// Source addresses, used in turn. Without any, the system chooses, and a server on this machine gets several when one
    /// has too few ports.
    pub local_addresses: Vec<IpAddr>,
    /// A client that is not ready by then has failed.
    pub connect_timeout: Duration,
    /// Threads that carry the clients, at least one.
    pub n_workers: usize,
    /// Decides which clients send.
    pub seed: u64,
    /// The targets of which the first with processes is measured step by step.
    pub watched: Vec<watch::Target>,
    /// The thresholds of the whole run, on metrics that the workload has.
    pub limits: Vec<Limit>,
    /// Delays before single commands.
    pub pacing: Pacing,
    /// The pause between two steps.
    pub between_steps: BetweenSteps,
}

/// Delays before single commands.
#[derive(Debug, Clone, Copy)]
pub struct Pacing {
    /// The length of the delay.
    pub delay: Duration,
    /// The percentage of the commands with a delay.
    pub chance_percent: u8,
}

/// The number of clients in each step.
#[derive(Debug, Clone, Copy)]
pub struct Steps {
    /// Clients of the first step.
    pub n_first: usize,
    /// Clients that each further step adds.
    pub n_more: usize,
    /// `None`: until a limit is reached.
    pub n_steps: Option<usize>,
    /// The number of clients that connect concurrently.
    pub connect_width: usize,
}

/// Options of `broadcast` and `echo`.
#[derive(Debug, Clone)]
pub struct Exchange {
    /// The common options of all workloads.
    pub common: Common,
    /// The steps of clients.
    pub steps: Steps,
    /// The messages of clients. Servers of type `echo` cannot broadcast, and `actioncable-connect` has no messages at
    /// all.
    pub command: Command,
    /// When messages are sent.
    pub model: Model,
    /// The percentile that is printed first and compared with `limit_rtt`, 0 to 100.
    pub limit_percentile: u8,
    /// Without a number of steps, the first step above this time is the last one: of deliveries to listeners in `broadcast`,
    /// of round trips in `echo`.
    pub limit_rtt: Duration,
    /// Bytes of padding in each message.
    pub n_padding_bytes: usize,
    /// How long to wait for what does not come.
    pub waits: Waits,
}

/// When the messages of a step are sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Model {
    /// The next message is sent when one is answered.
    Closed {
        /// Messages of each step.
        n_samples: usize,
        /// The number of messages that await their answers.
        width: usize,
    },
    /// Messages are sent at fixed times, whatever the target answers.
    Open(Schedule),
}

/// The schedule of an open model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schedule {
    rate: Rate,
    arrivals: Arrivals,
}

/// How long to wait for what does not come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Waits {
    /// The silence after which a step ends, and after which missing answers are given up once a person has ended the run.
    pub quiet: Duration,
    /// The longest time to wait for deliveries after the last message of a step was sent or answered.
    pub drain: Duration,
    /// The time limit of an answer.
    pub answer: Duration,
}

/// Options of `connect`.
#[derive(Debug, Clone)]
pub struct Connect {
    /// The common options of all workloads.
    pub common: Common,
    /// The steps of clients.
    pub steps: Steps,
}

/// The executor of workloads that wait for the target. `report` knows it.
const CLOSED: &str = "steps";

impl Exchange {
    pub(crate) fn workload(&self) -> Workload {
        match self.command {
            Command::Broadcast => Workload::Broadcast,
            Command::Echo => Workload::Echo,
        }
    }

    /// The description of the plan. The results of a step depend on all parts of it.
    pub(crate) fn plan(&self) -> Plan {
        let (command, padding) = (self.workload().name(), self.n_padding_bytes);
        let end = match self.steps.n_steps {
            Some(_) => String::new(),
            None => format!(
                " until p{} of {} is over {} ms",
                self.limit_percentile,
                match self.command {
                    Command::Broadcast => "deliveries",
                    Command::Echo => "rtt",
                },
                self.limit_rtt.as_millis()
            ),
        };
        let work = match &self.model {
            Model::Closed { n_samples, width } => {
                format!("{n_samples} {command} messages with {padding} B of padding each, {width} in flight")
            }
            Model::Open(schedule) => format!(
                "{command} messages with {padding} B of padding at {} for {} s each",
                schedule.rate,
                schedule.duration().as_secs_f64()
            ),
        };
        let executor = match self.model {
            Model::Closed { .. } => CLOSED,
            Model::Open(_) => "scheduled steps",
        };
        self.common
            .plan(self.workload(), executor, &self.steps, &format!("{work}{end}"))
    }
}

impl Model {
    /// The number of messages of each step.
    pub fn n_messages(&self) -> usize {
        match self {
            Self::Closed { n_samples, .. } => *n_samples,
            Self::Open(schedule) => schedule.n_messages(),
        }
    }
}

impl Schedule {
    /// Messages at this rate for `duration`, the first one at once.
    ///
    /// # Errors
    /// Nothing would be sent, or the numbers are far too large.
    pub fn new(rate: Rate, duration: Duration) -> Result<Self, ArrivalsError> {
        Ok(Self {
            rate,
            arrivals: rate.arrivals(duration)?,
        })
    }

    /// Messages per second.
    pub fn rate(&self) -> Rate {
        self.rate
    }

    /// The time in which messages are sent.
    pub fn duration(&self) -> Duration {
        self.arrivals.duration()
    }

    pub(crate) fn n_messages(&self) -> usize {
        usize::try_from(self.arrivals.n_total()).unwrap_or(usize::MAX)
    }

    /// When the message with this index (from 0) is due, since the first one. `None` after the last message.
    pub(crate) fn start(&self, idx: usize) -> Option<Duration> {
        self.arrivals.start(idx as u64)
    }
}

impl Connect {
    /// The description of the plan.
    pub(crate) fn plan(&self) -> Plan {
        let work = format!("{} connecting at a time", self.steps.connect_width);
        self.common.plan(Workload::Connect, CLOSED, &self.steps, &work)
    }
}

impl Common {
    /// The title of a run of this workload.
    pub(crate) fn title(&self, workload: Workload) -> String {
        workload.title(&self.target, self.nodes.len())
    }

    fn plan(&self, workload: Workload, executor: &str, steps: &Steps, work: &str) -> Plan {
        let Steps {
            n_first,
            n_more,
            n_steps,
            ..
        } = *steps;
        let servers = match self.nodes.len() {
            0 => String::new(),
            n => format!(" on {} servers in turn", n + 1),
        };
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
                executor: executor.to_owned(),
                description: format!(
                    "{n_steps} of {n_clients} more {} clients{servers}: {work}{pause}",
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
    /// The number of clients that the step numbered `step_idx` (from 0) adds.
    pub fn n_added(&self, step_idx: usize) -> usize {
        if step_idx == 0 { self.n_first } else { self.n_more }
    }

    /// The final number of clients; `None` without a planned end.
    pub fn n_clients(&self) -> Option<usize> {
        let n_later_steps = self.n_steps?.saturating_sub(1);
        Some(
            self.n_first
                .saturating_add(self.n_more.saturating_mul(n_later_steps)),
        )
    }
}
