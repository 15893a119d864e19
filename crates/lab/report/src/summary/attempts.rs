//! How much of a run failed, as the summary tells it.

use plimsoll_load::{
    attempts::{Attempts, Kind as AttemptKind},
    metrics::Rate,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Kind, Summary, Values};

/// WebSocket connections of scripts and benches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Connections {
    /// Attempts to connect.
    pub attempted: u64,
    /// Attempts that failed, and open connections that were lost.
    pub failed: u64,
}

impl Connections {
    /// `None` without attempts.
    pub(super) fn of(failed: Rate) -> Option<Self> {
        (failed.n_total > 0).then_some(Self {
            attempted: failed.n_total,
            failed: failed.n_true,
        })
    }
}

impl Summary {
    /// The iterations, requests and connections of the run, with the failed ones.
    pub fn attempts(&self) -> [Attempts; 3] {
        let requests = match self.metrics.get("http_req_failed").map(|metric| &metric.values) {
            Some(Values::Rate { passes, fails, .. }) => (passes + fails, *passes),
            _ => (0, 0),
        };
        let connections = self.connections.map_or((0, 0), |it| (it.attempted, it.failed));
        // The journal of a bench counts failed connections among the failures.
        let of_connections = if self.metadata.kind == Kind::Bench {
            connections.1
        } else {
            0
        };
        let iterations = (
            self.iterations.complete,
            self.iterations.failed.saturating_sub(of_connections),
        );
        let of = |kind, (n, n_failed)| Attempts { kind, n, n_failed };
        [
            of(AttemptKind::Iterations, iterations),
            of(AttemptKind::Requests, requests),
            of(AttemptKind::Connections, connections),
        ]
    }
}
