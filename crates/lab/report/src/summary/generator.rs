//! What this program itself used, whether its own delay shaped the figures, and what other programs on its machine used.

use plimsoll_load::generator::{Evidence, Health, too_high};
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
    /// By how much the 95th percentile of latencies may be too high because the generator read replies late, in ms: the
    /// 99th percentile of `lateness`, or the percentile itself if that is less. Null without ticks, and in summaries of
    /// older versions.
    #[serde(default)]
    pub lateness_bound_ms: Option<f64>,
    /// Share of the time in which a worker was ready to run and no CPU took it, of the worker that waited longest. Null
    /// if the kernel does not count it.
    #[serde(default)]
    pub waiting_share: Option<f64>,
    /// Whether the figures are doubtful: not the target's alone. Summaries of older versions call it `saturated`.
    #[serde(alias = "saturated")]
    pub doubtful: bool,
    /// Why they are doubtful. Null if they are not.
    #[serde(default)]
    pub doubt: Option<Doubted>,
    /// How that is known.
    pub reasons: Vec<String>,
    /// Its figures over time.
    pub series: GeneratorSeries,
    /// The machine that it ran on. Null in summaries of older versions.
    #[serde(default)]
    pub machine: Option<Neighbours>,
}

/// Why figures are doubtful.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Doubted {
    /// `busy`: the generator had no room for more load. `late`: it read replies late. `dropped`: it started less than
    /// planned.
    pub kind: String,
    /// The same for people, as a clause.
    pub text: String,
}

/// What else happened on the generator's machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Neighbours {
    /// CPU of other programs, in cores: neither this one with its children, nor the targets.
    pub other_cores: f64,
    /// Those that took most, at most three.
    pub programs: Vec<OtherProgram>,
    /// The other programs in one sentence. Null if they took little.
    pub other_programs: Option<String>,
    /// Share of the time in which a program on the machine waited for a CPU. Null if the kernel does not tell it.
    pub pressure_share: Option<f64>,
    /// The same for the programs of this program's control group. Null if the kernel does not tell it.
    pub group_pressure_share: Option<f64>,
}

/// All processes of a program on the generator's machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OtherProgram {
    /// The file name of its command.
    pub name: String,
    /// CPU time per second.
    pub cores: f64,
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
            lateness_bound_ms: health.lateness_bound_ms,
            waiting_share: evidence.waiting_share.map(rounded),
            doubtful: health.doubtful,
            doubt: health.doubt.map(|doubt| Doubted {
                kind: doubt.name().to_owned(),
                text: doubt.clause(health.lateness_bound_ms),
            }),
            reasons: health.reasons.clone(),
            series,
            machine: Some(Neighbours::new(evidence, health)),
        }
    }

    /// Why the figures are doubtful, as a clause that begins with a small letter. `None` if they are not.
    pub fn doubt(&self) -> Option<&str> {
        // Older versions had one name for all doubts.
        const OF_OLDER_VERSIONS: &str = "the load generator was the bottleneck";
        self.doubtful
            .then(|| self.doubt.as_ref().map_or(OF_OLDER_VERSIONS, |doubt| &doubt.text))
    }

    /// By how much latencies may be too high, for people. `None` if unknown.
    pub fn bound(&self) -> Option<String> {
        self.lateness_bound_ms.map(too_high)
    }
}

impl Neighbours {
    fn new(evidence: &Evidence, health: &Health) -> Self {
        let named = evidence.others.named.iter().map(|program| OtherProgram {
            name: program.name.clone(),
            cores: rounded(program.cores),
        });
        Self {
            other_cores: rounded(evidence.others.cores),
            programs: named.collect(),
            other_programs: health.other_programs.clone(),
            pressure_share: evidence.pressure.machine.map(rounded),
            group_pressure_share: evidence.pressure.group.map(rounded),
        }
    }
}

/// To four decimals: more say nothing.
fn rounded(value: f64) -> f64 {
    (value * 1e4).round() / 1e4
}
