//! What the watched targets of a run used.

use std::collections::BTreeMap;

use plimsoll_load::watch::Sample;
use serde::{Deserialize, Serialize};

/// What one watched target used.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Target {
    /// What was watched: a name for people.
    pub name: String,
    /// How it was found, for example `process 123` or `port 8080`.
    pub what: String,
    /// CPU time of its process tree.
    pub cpu_seconds: f64,
    /// CPU time per second.
    pub cores: f64,
    /// Highest sampled resident memory.
    pub rss_max_bytes: u64,
    /// Growth of the resident memory per virtual user.
    pub rss_per_user_bytes: u64,
    /// Highest sampled proportional memory: pages that processes share count once. Null where the kernel does not tell.
    pub pss_max_bytes: Option<u64>,
    /// Levels over time, by name, with a value per interval of the timeline; null where nobody looked.
    pub series: BTreeMap<String, Vec<Option<f64>>>,
    /// How what it used depends on the load.
    pub fits: Vec<Fit>,
    /// When and why it could not be watched any more; null when it was watched to the end.
    pub ended: Option<Ended>,
}

/// A straight line through what a target used and the load that it had: `of` = intercept + slope · `against`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fit {
    /// Name of a series of the target.
    pub of: String,
    /// The load, for example `vus`.
    pub against: String,
    /// What is used without load.
    pub intercept: f64,
    /// What each unit of load adds.
    pub slope: f64,
    /// Standard error of the slope.
    pub slope_error: f64,
    /// Points that the line goes through.
    pub n: usize,
}

/// The end of a watch before its time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ended {
    /// When, since the start of the run.
    pub seconds: f64,
    /// Why.
    pub reason: String,
}

impl Target {
    /// What was used between two samples, `before` the first of `n_users` came and at the end; `rss_max_bytes` is
    /// the highest resident memory of all samples between them.
    pub fn new(
        name: &str,
        what: &str,
        before: &Sample,
        end: &Sample,
        rss_max_bytes: u64,
        n_users: u32,
    ) -> Self {
        let usage = end.since(before);
        let growth_bytes = rss_max_bytes.saturating_sub(before.rss_bytes);
        Self {
            name: name.to_owned(),
            what: what.to_owned(),
            cpu_seconds: usage.cpu.as_secs_f64(),
            cores: usage.cores(),
            rss_max_bytes,
            rss_per_user_bytes: growth_bytes / u64::from(n_users.max(1)),
            pss_max_bytes: None,
            series: BTreeMap::new(),
            fits: Vec::new(),
            ended: None,
        }
    }
}
