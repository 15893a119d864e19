//! Conditions that must be equal on both sides before a difference says something about the target.

use plimsoll_load::generator::{LATE_TICKS, NO_IDLE_SHARE};

use super::{advice::Series, estimate::Order, figure::Company, in_flight, judgement::Circumstances};
use crate::{
    Summary, readable,
    summary::{End, Environment},
};

/// The share of the machine's cores from which on other programs affect latencies. Reason: a task that waits for one of
/// two cores finds it busy half of the time then.
const FOREIGN_SHARE: f64 = 0.25;

/// The difference up to which memory sizes belong to one machine, after an update of its kernel.
const MEMORY_TOLERANCE: f64 = 0.02;

/// Why noisy figures cannot be compared.
pub(super) fn obstacles(baseline: &[&Summary], candidate: &[&Summary]) -> Vec<String> {
    let mut obstacles = Vec::new();
    let first = baseline.first();
    for run in baseline.iter().skip(1).chain(candidate) {
        let Some(first) = first else { continue };
        let id = &run.metadata.id;
        if run.metadata.kind != first.metadata.kind || run.plan != first.plan {
            obstacles.push(format!(
                "{id} had a different plan from {}: {}",
                first.metadata.id,
                plans(first, run)
            ));
        }
        obstacles.extend(in_flight::obstacle(first, run));
        if let Some(difference) = machine(&first.environment, &run.environment) {
            obstacles.push(format!(
                "{id} ran on a different machine from {}: {difference}",
                first.metadata.id
            ));
        }
        if let Some(difference) = fleets(first, run) {
            obstacles.push(format!(
                "{id} ran on a different fleet from {}: {difference}",
                first.metadata.id
            ));
        }
    }
    for run in baseline.iter().chain(candidate) {
        let id = &run.metadata.id;
        match &run.end {
            End::Complete => {}
            End::Shutdown => obstacles.push(format!("{id} was interrupted")),
            End::ThresholdsCrossed => obstacles.push(format!("{id} was ended by a threshold")),
            End::Aborted { reason } => obstacles.push(format!("{id} was aborted: {reason}")),
            End::SetupFailed { reason } => obstacles.push(format!("{id} did not start: {reason}")),
        }
        let n_lost = run.n_lost_agents();
        if n_lost > 0 {
            obstacles.push(format!("{id} lost {n_lost} of {} agents", run.agents.len()));
        }
        if let Some(doubt) = run.generator.doubt().filter(|_| !takes_replies_late(run)) {
            obstacles.push(format!(
                "in {id} {doubt}, so its figures do not describe the target alone"
            ));
        }
    }
    obstacles
}

/// Further messages: conditions that may explain differences.
pub(super) fn notices(baseline: &[&Summary], candidate: &[&Summary]) -> Vec<String> {
    let mut notices = Vec::new();
    let all = || baseline.iter().chain(candidate);
    if let Some(first) = baseline.first() {
        let differs = |of: fn(&Summary) -> &str| all().map(|run| of(run)).find(|text| *text != of(first));
        if let Some(other) = differs(|run| &run.metadata.plimsoll) {
            notices.push(format!(
                "different versions of Plimsoll: {} and {other}",
                first.metadata.plimsoll
            ));
        }
        if let Some(other) = differs(|run| &run.environment.kernel) {
            notices.push(format!(
                "different kernels: {} and {other}",
                first.environment.kernel
            ));
        }
    }
    notices.extend(all().filter_map(|run| neighbours(run)));
    notices.extend(all().filter(|run| takes_replies_late(run)).map(|run| late(run)));
    notices
}

/// Whether the only fault of a doubtful generator is that it took replies late. The load was as planned then, and the
/// lateness of its ticks shows by how much the figures may be wrong.
pub(super) fn takes_replies_late(run: &Summary) -> bool {
    let reasons = &run.generator.reasons;
    run.generator.doubtful && !reasons.is_empty() && reasons.iter().all(|reason| reason.contains(LATE_TICKS))
}

fn late(run: &Summary) -> String {
    let lateness = &run.generator.lateness;
    format!(
        "in {} the generator took replies late (median {}, p95 {}), so the intervals are wider by as much",
        run.metadata.id,
        readable::duration(lateness.p50 as f64),
        readable::duration(lateness.p95 as f64)
    )
}

/// The circumstances of all runs together; each side in the order of time.
pub(super) fn circumstances(baseline: &[&Summary], candidate: &[&Summary]) -> Circumstances {
    let seconds = baseline
        .iter()
        .chain(candidate)
        .map(|run| run.metadata.duration_seconds);
    let n_runs = (baseline.len() + candidate.len()).max(1) as f64;
    Circumstances {
        company: company(baseline, candidate),
        order: order(baseline, candidate),
        given: Series {
            runs: baseline.len().min(candidate.len()),
            seconds: (seconds.sum::<f64>() / n_runs).round() as u64,
        },
    }
}

/// Whether the sides, each in the order of time, ran in turn.
fn order(baseline: &[&Summary], candidate: &[&Summary]) -> Order {
    let started_at = |run: &Summary| run.metadata.started_at.clone();
    let pairs = baseline.iter().zip(candidate).map(|(before, after)| {
        let (before, after) = (started_at(before), started_at(after));
        if before <= after {
            [before, after]
        } else {
            [after, before]
        }
    });
    let times: Vec<_> = pairs.flatten().collect();
    if baseline.len() == candidate.len() && times.is_sorted() {
        Order::InTurn
    } else {
        Order::Apart
    }
}

/// Whether other programs may have shaped the figures of any run.
fn company(baseline: &[&Summary], candidate: &[&Summary]) -> Company {
    let is_shared = baseline
        .iter()
        .chain(candidate)
        .any(|run| neighbours(run).is_some());
    if is_shared {
        Company::Shared
    } else {
        Company::Alone
    }
}

/// Who else used the machine, when that is much.
fn neighbours(run: &Summary) -> Option<String> {
    let (id, n_cores, generator) = (&run.metadata.id, cores(run), &run.generator);
    let others = generator
        .machine
        .as_ref()
        .filter(|machine| machine.other_cores > FOREIGN_SHARE * cores(run));
    if let Some(others) = others.and_then(|machine| machine.other_programs.as_ref()) {
        return Some(format!(
            "in {id} {others}, so only larger differences are reported; run nothing else on the machine"
        ));
    }
    if let Some(foreign) = foreign_cores(run) {
        return (foreign > FOREIGN_SHARE * cores(run)).then(|| {
            format!(
                "in {id} other programs used {foreign:.1} of {n_cores} cores, so only larger differences are \
                 reported; run nothing else on the machine"
            )
        });
    }
    let is_busy = generator
        .machine_idle_share
        .is_some_and(|idle| idle < NO_IDLE_SHARE);
    (is_busy && generator.cores < cores(run) / 2.0).then(|| {
        format!(
            "in {id} all cores were busy, and the generator used {:.1} of {n_cores}, so only larger differences are \
             reported; --watch shows whether the target used them",
            generator.cores
        )
    })
}

/// Cores of the machine that made the load, or of all machines of a fleet.
fn cores(run: &Summary) -> f64 {
    if run.agents.is_empty() {
        return run.environment.cores as f64;
    }
    run.agents.iter().map(|agent| agent.machine_cores as f64).sum()
}

/// CPU that neither the generator nor the targets used. `None` if no target with CPU figures was watched.
fn foreign_cores(run: &Summary) -> Option<f64> {
    let of_targets: f64 = run.targets.iter().filter_map(|target| target.cores).sum();
    let idle = run.generator.machine_idle_share?;
    (of_targets > 0.0).then(|| ((1.0 - idle) * cores(run) - run.generator.cores - of_targets).max(0.0))
}

fn plans(one: &Summary, other: &Summary) -> String {
    let (kind, other_kind) = (one.metadata.kind, other.metadata.kind);
    if kind != other_kind {
        return format!("{}, not {}", other_kind.name(), kind.name());
    }
    let text = |run: &Summary| {
        let scenarios = run.plan.scenarios.iter();
        let texts: Vec<_> = scenarios
            .map(|scenario| format!("{}: {}", scenario.name, scenario.description))
            .collect();
        texts.join("; ")
    };
    match (text(one), text(other)) {
        (one, other) if one == other => "its scenarios begin or end at different times".to_owned(),
        (one, other) => format!("{other}, not {one}"),
    }
}

fn fleets(one: &Summary, other: &Summary) -> Option<String> {
    let fleet = |run: &Summary| {
        let n_cores = cores(run);
        match run.agents.len() {
            0 => "one machine without agents".to_owned(),
            1 => format!("1 agent with {n_cores} cores"),
            n => format!("{n} agents with {n_cores} cores"),
        }
    };
    let (one, other) = (fleet(one), fleet(other));
    (one != other).then(|| format!("{other}, not {one}"))
}

fn machine(one: &Environment, other: &Environment) -> Option<String> {
    let model = |environment: &Environment| {
        let known = environment.cpu_model.clone();
        known.unwrap_or_else(|| "an unknown processor".to_owned())
    };
    let memory = |environment: &Environment| environment.memory_bytes as f64;
    let is_same_memory = (memory(one) - memory(other)).abs() <= MEMORY_TOLERANCE * memory(one);
    let differences = [
        (one.os != other.os || one.arch != other.arch)
            .then(|| format!("{} {}, not {} {}", other.os, other.arch, one.os, one.arch)),
        (model(one) != model(other)).then(|| format!("{}, not {}", model(other), model(one))),
        (one.cores != other.cores).then(|| format!("{} cores, not {}", other.cores, one.cores)),
        (one.workers != other.workers).then(|| format!("{} workers, not {}", other.workers, one.workers)),
        (!is_same_memory).then(|| {
            format!(
                "{:.1} GB of memory, not {:.1}",
                memory(other) / 1e9,
                memory(one) / 1e9
            )
        }),
    ];
    let differences: Vec<_> = differences.into_iter().flatten().collect();
    (!differences.is_empty()).then(|| differences.join(", "))
}

#[cfg(test)]
mod tests;
