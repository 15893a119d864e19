//! What is known of a target when the load is over.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::Record;

/// The results of a target when the load is over.
#[derive(Clone, Debug)]
pub struct Account {
    /// The name for people: as typed, or the program's own.
    pub name: String,
    /// What was watched: `process 123`, `port 8080`, `cgroup a/b`, `metrics http://localhost:9090/metrics`.
    pub what: String,
    /// What it did.
    pub record: Record,
    /// Whether it was gone before the load was over.
    pub ended: Option<Ended>,
    /// CPU time that watching it took of this program.
    pub cpu: Duration,
    /// Looks at which a page of metrics did not come.
    pub n_missed: u64,
    /// Series of a page beyond the limit.
    pub n_left_out: usize,
}

/// The end of a target.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ended {
    /// The time since the start of the load at which it was noticed: up to a second late.
    pub after: Duration,
    /// How that is known.
    pub reason: String,
}
