//! What a run cost: the target and this program itself.

use plimsoll_load::{
    generator::{Evidence, Health},
    watch::Sample,
};
use serde::Serialize;

use crate::Distribution;

/// What the watched target used.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Target {
    /// What was watched: a name for people.
    pub name: String,
    /// CPU time of its process tree.
    pub cpu_seconds: f64,
    /// CPU time per second.
    pub cores: f64,
    /// Highest sampled resident memory.
    pub rss_max_bytes: u64,
    /// Growth of the resident memory per virtual user.
    pub rss_per_user_bytes: u64,
}

impl Target {
    /// What was used between two samples, `before` the first of `n_users` came and at the end; `rss_max_bytes` is
    /// the highest resident memory of all samples between them.
    pub fn new(name: &str, before: &Sample, end: &Sample, rss_max_bytes: u64, n_users: u32) -> Self {
        let usage = end.since(before);
        let growth_bytes = rss_max_bytes.saturating_sub(before.rss_bytes);
        Self {
            name: name.to_owned(),
            cpu_seconds: usage.cpu.as_secs_f64(),
            cores: usage.cores(),
            rss_max_bytes,
            rss_per_user_bytes: growth_bytes / u64::from(n_users.max(1)),
        }
    }
}

/// What the generator used, and its health.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Generator {
    /// CPU time of this program.
    pub cpu_seconds: f64,
    /// CPU time per second.
    pub cores: f64,
    /// Busiest second of any worker, as a share of one core.
    pub busiest_worker_share: f64,
    /// Idle share of all cores of the machine, where known.
    pub machine_idle_share: Option<f64>,
    /// How late its clock ticks fired.
    pub lateness: Distribution,
    /// Whether the figures are not the target's alone.
    pub saturated: bool,
    /// How that is known.
    pub reasons: Vec<String>,
}

impl Generator {
    /// The evidence with the verdict over it.
    pub fn new(evidence: &Evidence, health: &Health) -> Self {
        let seconds = evidence.elapsed.as_secs_f64();
        let cpu_seconds = evidence.cpu.as_secs_f64();
        Self {
            cpu_seconds,
            cores: if seconds > 0.0 { cpu_seconds / seconds } else { 0.0 },
            busiest_worker_share: evidence.busiest_share,
            machine_idle_share: evidence.machine_idle_share,
            lateness: Distribution::from(&evidence.lateness),
            saturated: health.saturated,
            reasons: health.reasons.clone(),
        }
    }
}
