//! What one agent did, and its part of the clients.

use std::time::Duration;

use plimsoll_load::generator::Evidence;

use super::Offset;

/// What one agent did in a run.
#[derive(Debug, Clone)]
pub struct Share {
    /// Its name.
    pub name: String,
    /// Its part of the clients, from 0 to 1.
    pub share: f64,
    /// The most clients that were connected at the same time; in `http` the requests that may be in progress.
    pub n_most: usize,
    /// Messages that its clients had answered; in `connect` the attempts to get ready, in `http` the requests that ended.
    pub n_complete: u64,
    /// The evidence about its generator.
    pub evidence: Evidence,
    /// The most resident memory, in bytes. `None`: it is unknown.
    pub rss_bytes: Option<u64>,
    /// Its clock. `None`: it was never compared.
    pub offset: Option<Offset>,
    /// When it was lost, since the start of the run. `None`: it stayed.
    pub lost_at: Option<Duration>,
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
