//! What one agent did, and its part of the clients.

use plimsoll_load::{
    generator::Evidence,
    run::{AgentProgress, Glances},
};

use super::{Clocks, Member};

/// What one agent did in a run.
#[derive(Debug, Clone)]
pub struct Share {
    /// How it stood when the run was over. Its virtual users are the clients that were connected at the same time; in `http`
    /// the requests that may be in progress. Its iterations are the messages that its clients had answered; in `connect` the
    /// attempts to get ready, in `http` the requests that ended.
    pub agent: AgentProgress,
    /// The evidence about its generator.
    pub evidence: Evidence,
}

impl Member {
    /// How an agent stands that has told this of itself, the agent number `agent` of these clocks. Its part of the load is
    /// to be filled in.
    pub(crate) fn progress(&self, generator: Glances, clocks: &dyn Clocks, agent: usize) -> AgentProgress {
        AgentProgress {
            name: self.name.clone(),
            version: self.version.clone(),
            n_cores: self.n_cores,
            share: 0.0,
            active_vus: 0,
            max_vus: 0,
            n_iterations_complete: 0,
            generator,
            clock: clocks.offset(agent),
            // The coordinator gives each order itself.
            start_skew_ns: None,
            lost_at: None,
        }
    }
}

/// How many of `n_clients` clients, which take turns at the agents, are on the agent number `agent` of `n_agents`.
pub fn of_clients(n_clients: usize, agent: usize, n_agents: usize) -> usize {
    let n_agents = n_agents.max(1);
    n_clients / n_agents + usize::from(agent < n_clients % n_agents)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_are_spread_evenly() {
        let shares = |n_clients, n_agents| -> Vec<_> {
            (0..n_agents)
                .map(|agent| of_clients(n_clients, agent, n_agents))
                .collect()
        };
        assert_eq!(shares(10, 3), [4, 3, 3]);
        assert_eq!(shares(2, 3), [1, 1, 0]);
        assert_eq!(shares(57_000, 3), [19_000; 3]);
        assert_eq!(of_clients(5, 0, 0), 5);
    }
}
