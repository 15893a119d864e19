//! A wsdirector scenario on a fleet: the coordinator fills its templates in, and each agent runs its clients.

use plimsoll_fleet::{Task, WHOLE, take_part};
use plimsoll_load::{
    plan::Plan,
    preflight::{self, UserKind},
    run::planned_vus,
    segment::Split,
};
use plimsoll_scenario::{
    document::Document,
    wsdirector::{Connect, Scenario, Users as Clients, Voice},
};

use super::{super::line::shortage, ClientFlags};
use crate::{
    exit::{Failure, TestFailure},
    fleet::{Errand, Package, Wanted, WsdirectorPackage},
    session::{Crowd, check_memory},
    trust::Insecure,
};

/// A scenario as it goes to agents.
pub(in crate::run) struct Packed<'a> {
    /// The scenario as the user named it.
    pub(in crate::run) name: String,
    /// Its text without templates.
    pub(in crate::run) text: &'a str,
    /// The server.
    pub(in crate::run) url: String,
    pub(in crate::run) scale: u32,
    /// Whether all messages of clients are logged.
    pub(in crate::run) shows_messages: bool,
}

/// Packs a scenario for a fleet. `plan` is that of all its clients.
///
/// # Errors
/// It cannot be packed.
pub(in crate::run) fn errand(
    wanted: Wanted,
    clients: &ClientFlags,
    packed: Packed<'_>,
    plan: &Plan,
) -> Result<Errand, Failure> {
    let package = WsdirectorPackage {
        name: packed.name,
        scale: packed.scale,
        url: packed.url,
        subprotocol: clients.subprotocol.clone(),
        is_insecure: clients.insecure.is_set(),
        timeout: clients.timeout,
        shows_messages: packed.shows_messages,
    };
    let package = Package::Wsdirector(package).write(packed.text.as_bytes());
    let package = package.map_err(|problem| Failure::Usage(format!("--fleet: {problem}")))?;
    Ok(Errand::equal(wanted, plan, package))
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
                WHOLE,
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
    // Each client has a connection.
    let n_connections = preflight::raise_open_file_limit().n_connections();
    if let Some(reason) = shortage(planned_vus(&plan), n_connections) {
        return Err(Failure::Usage(reason));
    }
    check_memory(Crowd::of(UserKind::Scenario, &plan))?;
    Ok((plan, clients))
}
