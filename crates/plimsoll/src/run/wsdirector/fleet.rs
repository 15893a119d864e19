//! A wsdirector scenario on a fleet: the coordinator fills its templates in, and each agent runs its clients.

use plimsoll_fleet::{Task, take_part};
use plimsoll_load::{plan::Plan, preflight::UserKind, segment::Split};
use plimsoll_scenario::{
    document::Document,
    wsdirector::{Connect, Scenario, Users as Clients, Voice},
};

use super::Options;
use crate::{
    exit::{Failure, TestFailure},
    fleet::{Errand, Package, Wanted, WsdirectorPackage},
    session::{Crowd, check_memory},
    trust::Insecure,
};

/// A scenario as it goes to agents.
pub(super) struct Packed<'a> {
    /// The scenario as the user named it.
    pub(super) name: String,
    /// Its text without templates.
    pub(super) text: &'a str,
    /// The server.
    pub(super) url: String,
}

/// Packs a scenario for a fleet. `plan` is that of all its clients.
///
/// # Errors
/// It cannot be packed.
pub(super) fn errand(
    wanted: Wanted,
    options: &Options,
    packed: Packed<'_>,
    plan: &Plan,
) -> Result<Errand, Failure> {
    let clients = &options.clients;
    let package = WsdirectorPackage {
        name: packed.name,
        scale: options.scale,
        url: packed.url,
        subprotocol: clients.subprotocol.clone(),
        is_insecure: clients.insecure.is_set(),
        timeout: clients.timeout,
        shows_messages: options.verbose > 1,
    };
    let package = Package::Wsdirector(package).write(packed.text.as_bytes());
    let n_agents = wanted.n_agents();
    let segment = |at| plan.clone().segment(&Split::equal(n_agents, at));
    Ok(Errand {
        wanted,
        segments: (0..n_agents).map(segment).collect(),
        package: package.map_err(|problem| Failure::Usage(format!("--fleet: {problem}")))?,
    })
}

/// Carries out an agent's part of a scenario, and tells of it.
pub(crate) async fn take_part_in_wsdirector(package: &WsdirectorPackage, text: &[u8], task: &Task) {
    match prepare(package, text, task).await {
        Ok((plan, clients)) => {
            let mut report = clients.report();
            take_part(
                &task.duty,
                plan,
                clients.registry.clone(),
                clients.factory(),
                &mut report,
            )
            .await;
        }
        Err(failure) => task.duty.refuse(failure.message(), failure.is_of_script()).await,
    }
}

async fn prepare(package: &WsdirectorPackage, text: &[u8], task: &Task) -> Result<(Plan, Clients), Failure> {
    let text = str::from_utf8(text).map_err(|error| Failure::Usage(format!("the scenario: {error}")))?;
    let invalid = |error: &dyn std::fmt::Display| TestFailure::InvalidOptions.because(error);
    let document = Document::read(&package.name, text).map_err(|error| invalid(&error))?;
    let scenario = Scenario::read(&document, package.scale).map_err(|error| invalid(&error))?;
    let connect = Connect {
        url: package.url.clone(),
        subprotocol: package.subprotocol.clone(),
        tls: Insecure::new(package.is_insecure).tls(),
        barrier_timeout: package.timeout,
        voice: Voice::new(
            package.shows_messages,
            |line| tracing::info!(target: "scenario", "{line}"),
        ),
    };
    let split = Split::equal(task.n_instances, task.instance);
    let clients = Clients::part(scenario, &connect, split.clone()).await?;
    let plan = Plan::new(clients.plan()).segment(&split);
    check_memory(Crowd::of(UserKind::Scenario, &plan))?;
    Ok((plan, clients))
}
