//! What the agents of a run did, as the summary shows it.

use std::time::Duration;

use plimsoll_fleet::{AgentAccount, Outcome};
use plimsoll_load::{
    generator::{self, Health},
    run::RunResult,
};
use plimsoll_report::summary::Agent;

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
        let healths: Vec<_> = agents.iter().map(|agent| health_of(agent, latency)).collect();
        let named = agents.iter().zip(&healths);
        let named = named.map(|(account, health)| (account.agent.name.as_str(), health.clone()));
        Self {
            health: Some(Health::of_agents(named)),
            n_workers: agents.iter().map(|account| account.agent.n_cores).sum(),
            agents: agents
                .iter()
                .zip(healths)
                .map(|(AgentAccount { agent, last }, health)| {
                    Agent::judged(agent, last.as_ref().map(|last| &last.evidence), health)
                })
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
