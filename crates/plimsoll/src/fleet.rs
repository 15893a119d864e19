//! Runs from several machines: `plimsoll agent`, `plimsoll agents`, and the flags with which a load test becomes the
//! coordinator of a fleet.

mod accounts;
mod agent;
mod agents;
mod errand;
mod file_set;
mod flags;
mod package;
mod runner;

pub(crate) use self::{
    accounts::Ran,
    agent::Options as AgentOptions,
    agents::Options as AgentsOptions,
    errand::{Errand, Field, Outing, Undone},
    file_set::{FileEntry, FileSet},
    flags::{FleetFlags, Wanted},
    package::{ArtilleryPackage, BenchPackage, Package, ScriptPackage, WsdirectorPackage},
};

/// The version that all members of a fleet must have: that of `plimsoll --version` without the kind of machine.
fn version() -> String {
    let full = env!("PLIMSOLL_VERSION");
    full.rsplit_once(", ")
        .map_or_else(|| full.to_owned(), |(version, _)| format!("{version})"))
}
