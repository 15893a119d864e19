//! What this program itself used, and whether it was the bottleneck.

use plimsoll_load::generator::{Evidence, Health};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Distribution;

/// What the generator used, and its health.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Generator {
    /// CPU time of this program.
    pub cpu_seconds: f64,
    /// CPU time per second.
    pub cores: f64,
    /// Busiest second of any worker, as a share of one core.
    pub busiest_worker_share: f64,
    /// Idle share of all cores of the machine, if known.
    pub machine_idle_share: Option<f64>,
    /// How late its timer ticks fired.
    pub lateness: Distribution,
    /// Whether the figures are not the target's alone.
    pub saturated: bool,
    /// How that is known.
    pub reasons: Vec<String>,
    /// Its figures over time.
    pub series: GeneratorSeries,
}

/// The generator in each interval of the timeline; null where it was not sampled.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GeneratorSeries {
    /// CPU time per second.
    pub cpu_cores: Vec<Option<f64>>,
    /// Highest resident memory.
    pub rss_bytes: Vec<Option<f64>>,
    /// How late the latest timer tick fired.
    pub lateness_max_us: Vec<Option<f64>>,
}

impl Generator {
    /// The evidence with the verdict over it.
    pub fn new(evidence: &Evidence, health: &Health, series: GeneratorSeries) -> Self {
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
            series,
        }
    }
}
