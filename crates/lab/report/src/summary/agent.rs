//! The agents of a fleet: the machines that made the load together, each with its part of it and its health.

use plimsoll_load::{
    generator::{Evidence, Health},
    run::AgentProgress,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Summary, size};

/// A load generator of a fleet, which made a part of the load on its own machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Agent {
    /// Its name, unique in the fleet.
    pub name: String,
    /// Version of the program on its machine.
    pub version: String,
    /// Cores of its machine.
    pub machine_cores: usize,
    /// Its planned share of the load.
    pub share: f64,
    /// The greatest number of its virtual users.
    pub vus_max: u32,
    /// Iterations that ran to their end on it, including failed ones.
    pub iterations: u64,
    /// CPU time of the program on its machine, in seconds.
    pub cpu_seconds: f64,
    /// CPU time per second: 1.0 is one core kept busy all the time.
    pub cores: f64,
    /// Busiest second of any of its workers, as a share of one core.
    pub busiest_worker_share: f64,
    /// By how much the 95th percentile of its latencies may be too high because it read replies late, in ms. Null without
    /// ticks.
    pub lateness_bound_ms: Option<f64>,
    /// The greatest delay of a tick of any of its workers, in ms. Null without ticks.
    pub lateness_max_ms: Option<f64>,
    /// Share of the time in which a worker was ready to run and no CPU took it, of its worker that waited longest. Null if
    /// the kernel does not count it.
    pub waiting_share: Option<f64>,
    /// Highest resident memory of the program on its machine, in bytes. Null if unknown.
    pub rss_bytes: Option<u64>,
    /// Its clock, and when its load began.
    pub clock: AgentClock,
    /// When the coordinator lost it, in seconds since the start of the first virtual user: its figures end there. Null if
    /// it stayed.
    pub lost_at_seconds: Option<f64>,
    /// Whether its figures are doubtful: not the target's alone.
    pub doubtful: bool,
    /// How that is known. Empty without doubt.
    pub reasons: Vec<String>,
}

/// The clock of an agent against that of the coordinator.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AgentClock {
    /// How far the agent's clock is ahead of the coordinator's, in ms. Negative if it is behind.
    pub offset_ms: f64,
    /// The greatest error of the offset, in ms.
    pub uncertainty_ms: f64,
    /// How long after the common start its load began, in ms. Negative if it began before. Null if it never began.
    pub start_skew_ms: Option<f64>,
}

impl Agent {
    /// An agent in a run that goes on. What can be judged only at the end is empty.
    pub fn so_far(agent: &AgentProgress) -> Self {
        Self::judged(agent, None, Health::default())
    }

    /// An agent in a run that is over. `evidence` is that about its generator; `None`: it was lost, and told only how it
    /// stood each second.
    pub fn judged(agent: &AgentProgress, evidence: Option<&Evidence>, health: Health) -> Self {
        let whole = &agent.generator.whole;
        let cpu = evidence.map_or(whole.cpu, |evidence| evidence.cpu);
        Self {
            name: agent.name.clone(),
            version: agent.version.clone(),
            machine_cores: agent.n_cores,
            share: agent.share,
            vus_max: agent.max_vus,
            iterations: agent.n_iterations_complete,
            cpu_seconds: cpu.as_secs_f64(),
            cores: evidence.map_or_else(|| whole.cores().unwrap_or_default(), Evidence::cores),
            busiest_worker_share: evidence.map_or(0.0, |evidence| evidence.busiest_share),
            lateness_bound_ms: health.lateness_bound_ms,
            lateness_max_ms: whole.lateness_max.map(|late| late.as_secs_f64() * 1e3),
            waiting_share: evidence.and_then(|evidence| evidence.waiting_share),
            rss_bytes: whole.rss_bytes,
            clock: AgentClock::of(agent),
            lost_at_seconds: agent.lost_at.map(|at| at.as_secs_f64()),
            doubtful: health.doubtful,
            reasons: health.reasons,
        }
    }
}

impl AgentClock {
    fn of(agent: &AgentProgress) -> Self {
        let ms = |ns: f64| ns / 1e6;
        let clock = agent.clock.unwrap_or_default();
        Self {
            offset_ms: ms(clock.ns as f64),
            uncertainty_ms: ms(clock.uncertainty_ns as f64),
            start_skew_ms: agent.start_skew_ns.map(|ns| ms(ns as f64)),
        }
    }
}

impl Summary {
    /// The summary of a run that these agents made together.
    #[must_use]
    pub fn with_agents(mut self, agents: Vec<Agent>) -> Self {
        self.agents = agents;
        size::limit(&mut self);
        self
    }

    /// The number of agents that were lost.
    pub(crate) fn n_lost_agents(&self) -> usize {
        let lost = self.agents.iter().filter(|agent| agent.lost_at_seconds.is_some());
        lost.count()
    }
}
