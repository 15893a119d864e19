//! A k6 script on a fleet: the coordinator packs it, and each agent runs its segment of it.

use std::{path::PathBuf, sync::Arc};

use plimsoll_fleet::{Task, take_part};
use plimsoll_load::{
    plan::{Options as PlanOptions, Plan},
    preflight::UserKind,
    segment::Split,
    threshold::Rules,
};
use plimsoll_script::{
    Program, Redaction, Script, Users,
    source::{Archive, Entry},
};
use serde_json::{Map, Value, json};

use super::{
    fleet_secrets::FleetSecrets,
    layers::{Consolidated, Layers},
    line::{SteadyLoad, judged},
    mistake::Mistake,
    options::ReadingFlags,
    script,
    secret_source::PackedSecrets,
};
use crate::{
    exit::Failure,
    fleet::{Errand, FleetFlags, Package, ScriptPackage, Wanted},
    session::{Crowd, check_memory},
    surroundings::Surroundings,
};

/// The options of a segment.
const SEGMENT: [&str; 2] = ["executionSegment", "executionSegmentSequence"];

/// A fleet for a script, and the secrets for it.
pub(super) type Supplied = (Wanted, PackedSecrets);

/// The fleet that runs a script with these flags. `None`: the run stays in this process.
///
/// # Errors
/// Those of the flags, or the script needs secrets that must not be sent.
pub(super) fn wanted(
    flags: &FleetFlags,
    secrets: FleetSecrets,
    reading: &ReadingFlags,
    surroundings: &Surroundings<'_>,
    redaction: &Redaction,
) -> Result<Option<Supplied>, Failure> {
    let Some(wanted) = flags.wanted(surroundings)? else {
        return Ok(None);
    };
    if reading.secret_source.is_empty() {
        return Ok(Some((wanted, PackedSecrets::default())));
    }
    if !secrets.is_given() {
        return Err(Failure::Usage(
            "--secret-source and --fleet exclude each other without --fleet-secrets, which sends the secrets to all agents"
                .to_owned(),
        ));
    }
    let wanted = wanted.with_secrets()?;
    let packed = PackedSecrets::pack(&reading.secret_source, surroundings, redaction);
    let packed = packed.map_err(|mistake| Failure::Usage(mistake.to_string()))?;
    Ok(Some((wanted, packed)))
}

/// Packs a script for a fleet.
///
/// # Errors
/// The script is a part of a split test already, or cannot be packed.
pub(super) fn errand(
    (wanted, secrets): Supplied,
    name: &str,
    script: &Script,
    consolidated: &Consolidated,
    breaks_down: bool,
    no_thresholds: bool,
) -> Result<Errand, Mistake> {
    let options = json!(consolidated.options);
    if let Some(key) = SEGMENT.iter().find(|key| !options[**key].is_null()) {
        let problem =
            format!("`{key}` and --fleet exclude each other: a fleet gives each agent its own segment");
        return Err(Mistake::new(name, problem));
    }
    let n_agents = wanted.n_agents();
    let segments = (0..n_agents).map(|at| {
        let plan = segment(&options, at, n_agents).and_then(|options| Plan::from_options(&options));
        plan.map_err(|error| Mistake::of_file(name, &error))
    });
    let segments = segments.collect::<Result<Vec<_>, _>>()?;
    let package = ScriptPackage {
        name: name.to_owned(),
        no_thresholds,
        breaks_down,
        secrets,
        steady: None,
    };
    Ok(Errand {
        wanted,
        segments,
        package: pack(script, &options, package)?,
    })
}

/// Packs a step of a search for a fleet. `options` are those of the script, and `plan` is the whole plan of the step.
///
/// # Errors
/// The script cannot be packed.
pub(super) fn errand_of_step(
    (wanted, secrets): Supplied,
    name: &str,
    script: &Script,
    options: &PlanOptions,
    plan: &Plan,
    steady: SteadyLoad,
) -> Result<Errand, Mistake> {
    let package = ScriptPackage {
        name: name.to_owned(),
        no_thresholds: true,
        breaks_down: false,
        secrets,
        steady: Some(steady),
    };
    let package = pack(script, &json!(options), package)?;
    Ok(Errand::equal(wanted, plan, package))
}

fn pack(script: &Script, options: &Value, package: ScriptPackage) -> Result<Vec<u8>, Mistake> {
    let name = package.name.clone();
    let wrong = |problem: String| Mistake::new(&name, problem);
    let mut archive = Vec::new();
    script
        .write_archive(options, true, &mut archive)
        .map_err(|error| wrong(format!("cannot be packed: {error}")))?;
    Package::Script(package).write(&archive).map_err(wrong)
}

/// The options of the segment number `at` of `n`.
fn segment(options: &Value, at: usize, n: usize) -> Result<PlanOptions, plimsoll_load::plan::OptionsError> {
    let mut options = options.clone();
    let ends: Vec<_> = (0..=n).map(|end| format!("{end}/{n}")).collect();
    options["executionSegment"] = format!("{}:{}", ends[at], ends[at + 1]).into();
    options["executionSegmentSequence"] = ends.join(",").into();
    Ok(PlanOptions::from_json(&options)?.options)
}

/// Carries out an agent's part of a script, and tells of it.
pub(crate) async fn take_part_in_script(
    package: &ScriptPackage,
    archive: &[u8],
    task: &Task,
    surroundings: &Surroundings<'_>,
    redaction: &Redaction,
) {
    let prepared = prepare(package, archive, task, surroundings, redaction).await;
    match prepared {
        Ok((plan, users)) => {
            let Users {
                registry,
                factory,
                mut stages,
            } = users;
            let judged = judged(package.steady.as_ref());
            take_part(&task.duty, plan, registry, factory, &mut stages, judged).await;
        }
        Err(failure) => task.duty.refuse(failure.message(), failure.is_of_script()).await,
    }
}

async fn prepare(
    package: &ScriptPackage,
    archive: &[u8],
    task: &Task,
    surroundings: &Surroundings<'_>,
    redaction: &Redaction,
) -> Result<(Plan, Users), Failure> {
    let path = PathBuf::from(&package.name);
    let archive = Archive::read(archive).map_err(|error| Failure::Usage(error.to_string()))?;
    let options: Map<String, Value> = archive.options.clone();
    let env = archive.env.clone();
    let sources = script::load(Entry::Archive(Arc::new(archive)), true, surroundings)
        .await
        .map_err(script::unreadable)?;
    let invalid = |error: &dyn std::fmt::Display| Failure::Usage(error.to_string());
    let secrets = package
        .secrets
        .unpack(redaction)
        .map_err(|error| invalid(&error))?;
    let program = Program::from_sources(sources, env, std::env::current_dir()?).with_secrets(secrets);
    let script = Script::read(program).map_err(|error| script::failed(&path, &error, redaction))?;
    let options = match &package.steady {
        None => {
            json!(segment(&options.into(), task.instance, task.n_instances).map_err(|error| invalid(&error))?)
        }
        // A step has another plan than its script, and that one is shared.
        Some(_) => options.into(),
    };
    let consolidated = Layers::default()
        .consolidate(&package.name, &options)
        .map_err(|error| invalid(&error))?;
    let mut plan = consolidated.plan;
    if package.no_thresholds {
        plan.thresholds = Rules::new();
    }
    if let Some(steady) = &package.steady {
        let split = Split::equal(task.n_instances, task.instance);
        plan = steady.segment(steady.plan(&plan)?, &split)?;
    }
    // The coordinator, which has all samples, judges them.
    for rule in plan.thresholds.values_mut().flatten() {
        rule.abort_on_fail = false;
    }
    check_memory(Crowd::of(UserKind::Script, &plan))?;
    let proxies = surroundings.proxies().map_err(|error| invalid(&error))?;
    let mut users = script.users(script::effective(consolidated.options, &plan, proxies));
    if package.breaks_down {
        users.registry.break_down();
    }
    Ok((plan, users))
}
