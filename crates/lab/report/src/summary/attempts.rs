//! How much of a run failed, as the summary tells it.

use plimsoll_load::{
    attempts::{Attempts, Kind as AttemptKind},
    metrics::Rate,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Kind, Summary, Values};
use crate::readable;

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

    /// Whether nothing succeeded: there were attempts, and every request and every connection failed. In a run with
    /// neither, every iteration failed, and nothing was timed.
    pub fn has_no_success(&self) -> bool {
        let [iterations, exchanges @ ..] = self.attempts();
        let mut made = exchanges.iter().filter(|attempts| attempts.n > 0).peekable();
        if made.peek().is_some() {
            return made.all(Attempts::have_all_failed);
        }
        iterations.have_all_failed() && !self.has_timed_exchange()
    }

    /// Whether a user has timed anything besides its own iterations.
    fn has_timed_exchange(&self) -> bool {
        let is_own = |name: &str| OF_USERS.iter().any(|prefix| name.starts_with(prefix));
        self.metrics.iter().any(|(name, metric)| match &metric.values {
            Values::Trend(found) => found.count > 0 && !is_own(name),
            _ => false,
        })
    }
}

/// The beginnings of the names of trends that time a user, not an exchange with the target.
const OF_USERS: [&str; 3] = ["iteration_", "group_duration", "vusers_"];

/// `all 160 iterations failed`, for attempts of which none succeeded.
pub fn all_failed(attempts: &Attempts) -> String {
    match attempts.n {
        1 => format!("the only {} failed", attempts.kind.singular()),
        n => format!("all {} {} failed", readable::count(n), attempts.kind),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summary::{
        Contains, Metric,
        tests::{run, summary},
    };

    /// A run with 10 iterations, and with the given (failed, all) requests and connections.
    fn check(
        n_failed: u64,
        requests: Option<(u64, u64)>,
        connections: Option<(u64, u64)>,
        timed: bool,
    ) -> bool {
        let mut summary = summary(&run());
        summary.iterations.complete = 10;
        summary.iterations.failed = n_failed;
        let is_kept = |name: &str| timed || OF_USERS.iter().any(|prefix| name.starts_with(prefix));
        summary
            .metrics
            .retain(|name, metric| is_kept(name) || !matches!(metric.values, Values::Trend(_)));
        summary.metrics.remove("http_req_failed");
        if let Some((failed, all)) = requests {
            let values = Values::Rate {
                rate: failed as f64 / all as f64,
                passes: failed,
                fails: all - failed,
            };
            let metric = Metric {
                contains: Contains::Default,
                values,
                figures: Vec::new(),
                histogram: None,
                exact: Vec::new(),
            };
            summary.metrics.insert("http_req_failed".to_owned(), metric);
        }
        summary.connections = connections.map(|(failed, attempted)| Connections { attempted, failed });
        summary.has_no_success()
    }

    #[test]
    fn nothing_succeeded_if_no_exchange_did() {
        // Failed iterations, requests, connections, whether something was timed.
        for (n_failed, requests, connections, timed, expected) in [
            (0, None, None, false, false),
            (10, None, None, false, true),
            (9, None, None, false, false),
            // Something answered, although each iteration threw afterwards.
            (10, None, None, true, false),
            (10, Some((0, 10)), None, true, false),
            (10, None, Some((3, 10)), true, false),
            (0, Some((10, 10)), None, true, true),
            (0, None, Some((10, 10)), true, true),
            (0, Some((10, 10)), Some((10, 10)), true, true),
            (0, Some((10, 10)), Some((0, 10)), true, false),
        ] {
            assert_eq!(
                check(n_failed, requests, connections, timed),
                expected,
                "{n_failed} {requests:?} {connections:?} {timed}"
            );
        }
    }
}
