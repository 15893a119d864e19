//! What a run cost this program itself.

use plimsoll_load::generator::{Evidence, Health};
use serde::Serialize;

use crate::Distribution;

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
