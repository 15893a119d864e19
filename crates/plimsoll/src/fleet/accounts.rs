//! What the agents of a run did, as the summary shows it.

use std::time::Duration;

use plimsoll_fleet::{AgentAccount, Outcome};
use plimsoll_load::{
    generator::{self, Evidence, Health},
    run::RunResult,
};
use plimsoll_report::summary::{Agent, AgentClock};

use super::Outing;

/// A run that is over, wherever it ran.
pub(crate) struct Ran {
    pub(crate) result: RunResult,
    /// Threads that virtual users ran on.
    pub(crate) n_workers: usize,
    /// Whether the figures are the target's alone, as the agents' own figures have it. `None`: the result says so.
    pub(crate) health: Option<Health>,
    /// The agents. Empty: the run was in this process.
    pub(crate) agents: Vec<Agent>,
}

impl Ran {
    /// A run in this process.
    pub(crate) fn here(result: RunResult, n_workers: usize) -> Self {
        Self {
            result,
            n_workers,
            health: None,
            agents: Vec::new(),
        }
    }

    /// A run on a fleet. `latency` is the latency against which the agents' own lateness is judged.
    pub(crate) fn elsewhere(
        outcome: Outcome,
        outing: &Outing,
        latency: impl Fn(&RunResult) -> Option<Duration>,
    ) -> Self {
        let Outcome {
            result,
            agents,
            incomplete,
        } = outcome;
        if let Some(reason) = incomplete {
            outing.misses(reason);
        }
        let latency = latency(&result);
        let judged: Vec<_> = agents
            .iter()
            .map(|agent| (agent, health_of(agent, latency)))
            .collect();
        let healths = judged
            .iter()
            .map(|(agent, health)| (agent.name.as_str(), health.clone()));
        Self {
            health: Some(Health::of_agents(healths)),
            n_workers: agents.iter().map(|agent| agent.cores).sum(),
            agents: judged
                .iter()
                .map(|(agent, health)| account(agent, health))
                .collect(),
            result,
        }
    }
}

/// The health of one agent. An agent that was lost has told nothing of itself.
fn health_of(agent: &AgentAccount, latency: Option<Duration>) -> Health {
    let last = agent.last.as_ref();
    last.map_or_else(Health::default, |last| {
        generator::judge(&last.evidence, last.rest.standing.schedule, latency)
    })
}

/// What the summary says of an agent.
fn account(agent: &AgentAccount, health: &Health) -> Agent {
    let evidence = agent.last.as_ref().map(|last| &last.evidence);
    Agent {
        name: agent.name.clone(),
        version: agent.version.clone(),
        machine_cores: agent.cores,
        share: agent.share,
        vus_max: agent.vus_max,
        iterations: agent.n_complete,
        cpu_seconds: evidence.map_or(0.0, |evidence| evidence.cpu.as_secs_f64()),
        cores: evidence.map_or(0.0, Evidence::cores),
        busiest_worker_share: evidence.map_or(0.0, |evidence| evidence.busiest_share),
        lateness_bound_ms: health.lateness_bound_ms,
        waiting_share: evidence.and_then(|evidence| evidence.waiting_share),
        rss_bytes: agent.rss_bytes,
        clock: clock(agent),
        lost_at_seconds: agent.lost_at.map(|at| at.as_secs_f64()),
        doubtful: health.doubtful,
        reasons: health.reasons.clone(),
    }
}

fn clock(agent: &AgentAccount) -> AgentClock {
    let ms = |ns: f64| ns / 1e6;
    let reading = agent.clock;
    AgentClock {
        offset_ms: reading.map_or(0.0, |reading| ms(reading.offset_ns as f64)),
        uncertainty_ms: reading.map_or(0.0, |reading| ms(reading.uncertainty_ns as f64)),
        start_skew_ms: agent.start_skew_ns.map(|ns| ms(ns as f64)),
    }
}
