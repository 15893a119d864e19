//! The checked options of `broadcast`, `echo` and `connect`.

use std::{net::IpAddr, time::Duration};

use plimsoll_cable::encoding::Encoding;
use plimsoll_clients::target::Target;
use plimsoll_load::watch;
use plimsoll_report::summary::{Plan, PlannedScenario};

use crate::{limit::Limit, outcome::Workload, pause::BetweenSteps, server_type::ServerType, wire::Command};

/// The options that all three workloads share.
#[derive(Debug, Clone)]
pub struct Common {
    /// The server.
    pub target: Target,
    /// The type of the server.
    pub server_type: ServerType,
    /// The encoding of Action Cable messages; JSON for other server types.
    pub encoding: Encoding,
    /// The Action Cable identifier, which is sent unchanged.
    pub channel: String,
    /// The `Origin` header.
    pub origin: String,
    /// The WebSocket sub-protocol to offer.
    pub sub_protocol: Option<String>,
    /// Further headers of the upgrade.
    pub headers: Vec<(String, String)>,
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
    /// Messages of each step.
    pub n_samples: usize,
    /// The number of messages in flight.
    pub width: usize,
    /// The percentile that is printed first and compared with `limit_rtt`, 0 to 100.
    pub limit_percentile: u8,
    /// Without a number of steps, the first step above this round-trip time is the last one.
    pub limit_rtt: Duration,
    /// Bytes of padding in each message.
    pub n_padding_bytes: usize,
    /// How long to wait for missing deliveries after the last answer, and for missing answers once a person has ended
    /// the run.
    pub wait: Duration,
    /// The time limit of an answer.
    pub answer_limit: Duration,
}

/// Options of `connect`.
#[derive(Debug, Clone)]
pub struct Connect {
    /// The common options of all workloads.
    pub common: Common,
    /// The steps of clients.
    pub steps: Steps,
}

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
    /// The description of the plan.
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
