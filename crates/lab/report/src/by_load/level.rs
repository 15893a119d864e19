//! The figures of a part of a run, for one load or for loads in a range.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Distribution, summary::Losses};

/// The part of a run at one load, or at loads in a range.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Level {
    /// The lowest load; of a plateau, the lowest peak of a second.
    pub least: f64,
    /// The highest load.
    pub most: f64,
    /// The load on average.
    pub mean: f64,
    /// The start since that of the run; of a band, of its first part.
    pub start_seconds: f64,
    /// The length; of a band, of all its parts together.
    pub seconds: f64,
    /// Iterations that ran to their end; in a bench, messages that were sent.
    pub iterations: u64,
    /// Failed iterations, and other failures of virtual users; in a bench, messages without an answer.
    pub failed_iterations: u64,
    /// Checks that were made.
    pub checks: u64,
    /// Checks that failed.
    pub failed_checks: u64,
    /// HTTP requests that were made.
    pub requests: u64,
    /// HTTP requests that failed.
    pub failed_requests: u64,
    /// The samples of [`ByLoad::latency`](super::ByLoad::latency). `None` without any.
    pub latency: Option<Distribution>,
    /// The counts of messages, if they are known for this part.
    pub losses: Option<Losses>,
    /// What the targets used.
    pub targets: Vec<Usage>,
}

/// What a target used during a part of a run. `None` where that is not known.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Usage {
    /// The name of the target.
    pub name: String,
    /// CPU time per second, on average.
    pub cores: Option<f64>,
    /// Resident memory, on average; only while no earlier load was higher, because memory of a higher load may remain.
    pub rss_bytes: Option<f64>,
}
