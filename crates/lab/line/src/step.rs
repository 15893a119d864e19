//! One step: a load that was put on the target for a while, and its result.

use std::time::Duration;

use plimsoll_load::{
    attempts::{Attempts, Kind},
    generator::{self, Evidence, Health, Ms, Schedule},
    metrics::MetricSet,
};
use serde::Serialize;

use crate::{
    objective::{Concern, Finding, Objective, Samples},
    search::Vote,
};

/// What was measured in the steady part of a step.
#[derive(Clone, Copy, Debug)]
pub struct Measured<'a> {
    /// What objectives are judged by.
    pub samples: Samples<'a>,
    /// Evidence about the generator's health; that of all agents together if they made the load.
    pub generator: &'a Evidence,
    /// What became of planned arrivals.
    pub schedule: Schedule,
    /// The agents that made the load. Empty: this process made it.
    pub agents: &'a [AgentMeasure],
    /// Reasons of failed iterations, most frequent first.
    pub failures: &'a [Failure],
    /// What the target used, in the order in which targets were named.
    pub targets: &'a [TargetUse],
}

/// What one agent of a fleet says of itself in the steady part.
#[derive(Clone, Debug)]
pub struct AgentMeasure {
    /// Its name.
    pub name: String,
    /// Evidence about its health.
    pub evidence: Evidence,
    /// What became of the arrivals that were planned for it.
    pub schedule: Schedule,
}

/// Failed iterations with one reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Failure {
    /// The reason.
    pub reason: String,
    /// How many did.
    pub count: u64,
}

/// What a watched target used in the steady part.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TargetUse {
    /// The target's name as typed.
    pub name: String,
    /// CPU time per wall time; 1.0 is one core.
    pub cpu_cores: f64,
    /// Resident memory at the end.
    pub rss_bytes: u64,
    /// Cores of the machine.
    pub cores: u32,
    /// Memory of the machine. `None` if unknown.
    pub memory_bytes: Option<u64>,
}

/// A finished step.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Step {
    /// The load.
    pub load: u64,
    /// How it went.
    #[serde(serialize_with = "vote_name")]
    pub verdict: Vote,
    /// The results of the objectives, in their given order.
    pub objectives: Vec<Judged>,
    /// The failed objectives, in sentences; or the symptoms of a saturated generator.
    pub reasons: Vec<String>,
    /// The subjects of the failed objectives. Empty unless the verdict is that the step failed.
    pub broke: Vec<Concern>,
    /// The probable cause of the failure.
    pub likely_cause: Option<Cause>,
    /// Reasons of failed iterations, most frequent first.
    pub failures: Vec<Failure>,
    /// What the target used.
    pub targets: Vec<TargetUse>,
    /// CPU of the generator, in cores.
    pub generator_cpu_cores: f64,
    /// How late the generator read replies: the 99th percentile, in ms. `None` if unknown.
    pub lateness_bound_ms: Option<f64>,
    /// Other programs on this machine that took CPU, in one sentence. `None` if they took little.
    pub other_programs: Option<String>,
    /// Length of the steady part in seconds.
    pub seconds: f64,
}

/// One objective after a step.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Judged {
    /// As it was written.
    pub objective: String,
    /// What was compared: milliseconds, bytes, plain numbers or shares.
    pub value: Option<f64>,
    /// The value for people.
    pub shown: String,
    /// Whether it holds.
    pub held: bool,
}

/// The probable cause when a step broke: a resource of the target that was exhausted, or what remains. The generator is
/// never a cause here: a step that it spoiled did not break.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum Cause {
    /// The target's CPU.
    TargetCpu {
        /// Which target.
        name: String,
        /// Cores that it used.
        cpu_cores: f64,
        /// Cores that there are.
        cores: u32,
    },
    /// The memory of the target's machine.
    TargetMemory {
        /// Which target.
        name: String,
        /// What it has.
        rss_bytes: u64,
        /// What there is.
        memory_bytes: u64,
    },
    /// What remains when the generator was on time: the target, or the network before it.
    Target {
        /// How late the generator read replies: the 99th percentile, in ms.
        lateness_bound_ms: f64,
    },
}

/// From this share of all cores on, a target's CPU is exhausted. Reason: the rest goes to the kernel's own work.
const CPU_FULL: f64 = 0.95;

/// The CPU use, in cores, up to which a target may be limited to one core, like a single thread or an interpreter with
/// one lock. Such programs also have helper threads, for garbage or for I/O.
const ONE_THREAD: f64 = 1.1;

/// From this share of the machine's memory on, it is exhausted. Reason: below, the kernel still finds caches to drop.
const MEMORY_FULL: f64 = 0.9;

impl Cause {
    /// Whether it names an exhausted resource, which is worth a place in a table.
    pub fn is_specific(&self) -> bool {
        !matches!(self, Self::Target { .. })
    }
}

/// The least delay of a generator that may let every request and every connection of a step fail, by timeouts: a tenth of
/// this latency.
const LATENCY_OF_TIMEOUTS: Duration = Duration::from_secs(1);

/// The requests or the connections, if all of them failed.
fn all_failed(all: &MetricSet) -> impl Iterator<Item = Attempts> {
    let attempts = Attempts::of_run(all, 0, 0);
    attempts.into_iter().filter(Attempts::have_all_failed)
}

/// Says that every request or every connection failed. `None` if one did not, and if an objective judges failed requests
/// itself.
fn futile(objectives: &[Objective], all: &MetricSet) -> Option<String> {
    let is_judged = |kind| {
        let mut texts = objectives.iter().map(Objective::text);
        kind == Kind::Requests && texts.any(|text| text.starts_with("http_req_failed"))
    };
    let found = all_failed(all).find(|attempts| !is_judged(attempts.kind))?;
    Some(format!("all {} {} failed", found.n, found.kind))
}

impl Step {
    /// Judges a step.
    ///
    /// A saturated generator counts first. Overloaded workers spoil any step, except one that failed because every request
    /// or every connection did: only a generator that was late can have let them time out. Starts that came in bunches spoil a step that
    /// failed, because a target may refuse a bunch that it would have served in its turn. Late measurements spoil a step that
    /// failed by latencies alone, and only if they explain a tenth of these; a step that held in spite of them would
    /// have held without. A step in which every request or every connection failed has not held, whatever the
    /// objectives say, because the target did nothing. Iterations without a free user, while the workers had room, waited for the target: they spoil
    /// only a step that otherwise held, because it had less load than planned.
    pub fn judge(load: u64, objectives: &[Objective], measured: &Measured<'_>) -> Self {
        let findings: Vec<_> = objectives
            .iter()
            .map(|objective| (objective, objective.judge(measured.samples)))
            .collect();
        let broken: Vec<_> = findings.iter().filter(|(_, finding)| !finding.held).collect();
        let futile = futile(objectives, measured.samples.all);
        let has_failed = !broken.is_empty() || futile.is_some();
        let is_failed_by_target = has_failed && measured.is_failed_by_target();
        let spoiled = if is_failed_by_target {
            None
        } else {
            spoiled(&broken, measured)
        };
        let health = measured.health();
        let verdict = match (&spoiled, has_failed) {
            (Some(_), _) => Vote::Generator,
            (None, false) => Vote::Held,
            (None, true) => Vote::Broke,
        };
        let concerns = broken.iter().map(|(objective, _)| objective.concern());
        let mut concerns: Vec<_> = concerns
            .chain(futile.is_some().then_some(Concern::Errors))
            .collect();
        concerns.sort_unstable();
        concerns.dedup();
        Self {
            load,
            reasons: match (verdict, spoiled) {
                (_, Some(reason)) => vec![reason],
                _ => broken
                    .iter()
                    .map(|(objective, finding)| complaint(objective, finding, measured.failures))
                    .chain(futile)
                    .collect(),
            },
            broke: match verdict {
                Vote::Broke => concerns,
                Vote::Held | Vote::Generator => Vec::new(),
            },
            likely_cause: (verdict == Vote::Broke)
                .then(|| cause(measured, shortest(&broken)))
                .flatten(),
            objectives: findings
                .into_iter()
                .map(|(objective, finding)| Judged {
                    objective: objective.text().to_owned(),
                    value: finding.value,
                    shown: finding
                        .value
                        .map_or_else(|| "–".to_owned(), |value| objective.shown(value)),
                    held: finding.held,
                })
                .collect(),
            failures: measured.failures.to_vec(),
            targets: measured.targets.to_vec(),
            generator_cpu_cores: measured.generator.cores(),
            lateness_bound_ms: health.lateness_bound_ms,
            other_programs: health.other_programs,
            seconds: measured.samples.elapsed.as_secs_f64(),
            verdict,
        }
    }

    /// A step that did not run, because this machine cannot make its load.
    pub fn impossible(load: u64, reason: String) -> Self {
        Self {
            load,
            verdict: Vote::Generator,
            objectives: Vec::new(),
            reasons: vec![reason],
            broke: Vec::new(),
            likely_cause: None,
            failures: Vec::new(),
            targets: Vec::new(),
            generator_cpu_cores: 0.0,
            lateness_bound_ms: None,
            other_programs: None,
            seconds: 0.0,
        }
    }

    /// A step that failed completely, for example because its setup failed.
    pub fn failed(load: u64, reason: String) -> Self {
        Self {
            verdict: Vote::Broke,
            broke: vec![Concern::Errors],
            ..Self::impossible(load, reason)
        }
    }
}

impl Measured<'_> {
    /// What the generator did besides, or all agents.
    fn health(&self) -> Health {
        if self.agents.is_empty() {
            return Health::calm(self.generator, None);
        }
        let agents = self.agents.iter();
        Health::of_agents(agents.map(|agent| (agent.name.as_str(), Health::calm(&agent.evidence, None))))
    }

    /// Whether every request or every connection failed, and not by timeouts of a late generator.
    fn is_failed_by_target(&self) -> bool {
        let late = |evidence: &Evidence, _| generator::late(evidence, Some(LATENCY_OF_TIMEOUTS));
        all_failed(self.samples.all).next().is_some() && self.symptom(late).is_none()
    }

    /// The first symptom that a look at the generator finds, or at one of the agents, which is named then.
    fn symptom(&self, look: impl Fn(&Evidence, Schedule) -> Option<String>) -> Option<String> {
        if self.agents.is_empty() {
            return look(self.generator, self.schedule);
        }
        self.agents.iter().find_map(|agent| {
            let symptom = look(&agent.evidence, agent.schedule)?;
            Some(format!("agent {}: {symptom}", agent.name))
        })
    }
}

/// The symptoms of a saturated generator.
fn spoiled(broken: &[&(&Objective, Finding)], measured: &Measured<'_>) -> Option<String> {
    if let Some(reason) = measured.symptom(|evidence, _| generator::busy(evidence)) {
        return Some(reason);
    }
    if broken.is_empty() {
        return generator::dropped(measured.schedule);
    }
    if let Some(reason) = measured.symptom(generator::bunched) {
        return Some(reason);
    }
    let is_of_latency = |(objective, _): &&(&Objective, Finding)| objective.concern() == Concern::Latency;
    if !broken.iter().all(is_of_latency) {
        return None;
    }
    let shortest = shortest(broken)?;
    measured.symptom(|evidence, _| generator::late(evidence, Some(shortest)))
}

/// The shortest latency that broke an objective. `None` if only other objectives broke.
fn shortest(broken: &[&(&Objective, Finding)]) -> Option<Duration> {
    let of_latency = broken
        .iter()
        .filter(|(objective, _)| objective.concern() == Concern::Latency);
    let least = of_latency
        .filter_map(|(_, finding)| finding.value)
        .min_by(f64::total_cmp)?;
    Some(Duration::try_from_secs_f64(least / 1e3).unwrap_or_default())
}

fn complaint(objective: &Objective, finding: &Finding, failures: &[Failure]) -> String {
    let complaint = objective.complaint(finding.value);
    match failures.first().filter(|_| objective.is_about_errors()) {
        Some(Failure { reason, count }) => format!("{complaint} ({count} × {reason})"),
        None => complaint,
    }
}

/// The cause, of which `shortest` is the shortest broken latency. `None` if the generator was late, so that nothing
/// points to the target.
fn cause(measured: &Measured<'_>, shortest: Option<Duration>) -> Option<Cause> {
    let by_cpu = |is_full: fn(&TargetUse) -> bool| {
        let full = measured.targets.iter().find(|target| is_full(target));
        full.map(|target| Cause::TargetCpu {
            name: target.name.clone(),
            cpu_cores: target.cpu_cores,
            cores: target.cores,
        })
    };
    if let Some(cause) = by_cpu(|target| target.cpu_cores >= CPU_FULL * f64::from(target.cores)) {
        return Some(cause);
    }
    let out_of_memory = measured.targets.iter().find_map(|target| {
        let memory_bytes = target.memory_bytes?;
        (target.rss_bytes as f64 >= MEMORY_FULL * memory_bytes as f64).then(|| Cause::TargetMemory {
            name: target.name.clone(),
            rss_bytes: target.rss_bytes,
            memory_bytes,
        })
    });
    // Only if there was CPU left that the target could have used: else it may have been given just as much.
    let had_room = || {
        measured
            .generator
            .machine_idle_share
            .is_none_or(|idle| idle >= generator::NO_IDLE_SHARE)
    };
    let of_one_thread = || by_cpu(|target| (CPU_FULL..=ONE_THREAD).contains(&target.cpu_cores));
    out_of_memory
        .or_else(|| had_room().then(of_one_thread).flatten())
        .or_else(|| {
            let lateness_bound_ms = measured.health().lateness_bound_ms?;
            let was_late = match shortest {
                Some(latency) => measured
                    .symptom(|evidence, _| generator::late(evidence, Some(latency)))
                    .is_some(),
                None => lateness_bound_ms >= generator::LATENESS.as_secs_f64() * 1e3,
            };
            (!was_late).then_some(Cause::Target { lateness_bound_ms })
        })
}

impl std::fmt::Display for Cause {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::TargetCpu {
                name,
                cpu_cores,
                cores,
            } => {
                let share = cpu_cores / f64::from(*cores);
                if share >= CPU_FULL {
                    write!(f, "CPU of {name} {:.0} % of {cores} cores", share * 100.0)
                } else {
                    write!(
                        f,
                        "CPU of {name} {cpu_cores:.2} cores, all that a single thread can have; {cores} are there"
                    )
                }
            }
            Self::TargetMemory {
                name,
                rss_bytes,
                memory_bytes,
            } => {
                let [rss, memory] =
                    [*rss_bytes, *memory_bytes].map(|bytes| plimsoll_report::quantity::bytes(bytes as f64));
                write!(f, "memory of {name} {rss} of the machine's {memory}")
            }
            Self::Target { lateness_bound_ms } => write!(
                f,
                "the target or the network, because the generator read 99 % of the replies less than {} late",
                Ms(*lateness_bound_ms)
            ),
        }
    }
}

fn vote_name<S: serde::Serializer>(vote: &Vote, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(match vote {
        Vote::Held => "held",
        Vote::Broke => "broke",
        Vote::Generator => "generator",
    })
}

#[cfg(test)]
mod tests;
