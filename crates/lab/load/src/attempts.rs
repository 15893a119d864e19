//! How much of a run failed: iterations, requests and connections, each as a share of all attempts of their kind.

use std::fmt;

use crate::metrics::{MetricSet, Rate, Value};

/// A kind of attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Iterations that ran to their end.
    Iterations,
    /// HTTP requests of scripts: those that `http_req_failed` counts.
    Requests,
    /// WebSocket connections, with Action Cable's welcome and subscription where there are any.
    Connections,
}

/// The number of attempts of one kind, and of the failed ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attempts {
    /// The kind.
    pub kind: Kind,
    /// All attempts.
    pub n: u64,
    /// The failed ones.
    pub n_failed: u64,
}

impl Kind {
    /// One attempt of this kind: `iteration`.
    pub fn singular(self) -> &'static str {
        match self {
            Self::Iterations => "iteration",
            Self::Requests => "request",
            Self::Connections => "connection",
        }
    }
}

/// Writes the plural.
impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}s", self.singular())
    }
}

impl Attempts {
    /// The attempts of a run: `n_failed` of `n_complete` iterations, and the requests and connections in `metrics`.
    pub fn of_run(metrics: &MetricSet, n_complete: u64, n_failed: u64) -> [Self; 3] {
        let requests = metrics.registry().find("http_req_failed");
        let requests = match requests.and_then(|id| metrics.value(id)) {
            Some(Value::Rate(rate)) => rate,
            _ => Rate::default(),
        };
        let of = |kind, rate: Rate| Self {
            kind,
            n: rate.n_total,
            n_failed: rate.n_true,
        };
        [
            Self {
                kind: Kind::Iterations,
                n: n_complete,
                n_failed,
            },
            of(Kind::Requests, requests),
            of(Kind::Connections, metrics.failed_connections()),
        ]
    }

    /// The share of failed attempts, from 0 to 1. Zero without attempts.
    pub fn share(&self) -> f64 {
        if self.n == 0 {
            0.0
        } else {
            self.n_failed as f64 / self.n as f64
        }
    }

    /// Whether there were attempts, and all of them failed.
    pub fn have_all_failed(&self) -> bool {
        self.n > 0 && self.n_failed >= self.n
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::metrics::Registry;

    #[test]
    fn each_kind_has_its_own_share() {
        let mut registry = Registry::new();
        let failed = registry.rate("http_req_failed").unwrap();
        let mut set = MetricSet::new(Arc::new(registry));
        (0..4).for_each(|n| set.rate(failed, n == 0));
        (0..3).for_each(|_| set.connection(false));
        set.connection_lost();
        let attempts = Attempts::of_run(&set, 5, 5);
        let found = attempts.map(|it| (it.n, it.n_failed, it.have_all_failed()));
        assert_eq!(found, [(5, 5, true), (4, 1, false), (3, 1, false)]);
        let nothing = Attempts::of_run(&MetricSet::new(Arc::default()), 0, 0);
        assert!(
            nothing
                .iter()
                .all(|it| !it.have_all_failed() && it.share() == 0.0)
        );
    }
}
