//! Will this machine let us open that many connections, and has it the memory for all users? Asked, and answered in
//! words, before the run starts.
//!
//! Two limits end large runs early and with errors that do not name them: open files per process, and local
//! ports per source address. [`plan`] is pure; [`System::read`] and [`raise_open_file_limit`] are the edge.

use std::net::IpAddr;

mod memory;
mod open_files;
mod ports;
mod problem;
mod record_memory;
mod user_memory;

pub use self::{
    memory::Memory,
    open_files::{OpenFileLimit, raise_open_file_limit},
    ports::PortRange,
    problem::Problem,
    record_memory::{RecordNeed, Records},
    user_memory::{Fit, MemoryNeed, UserKind},
};

/// What a run wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Needs {
    /// Connections open at the same time.
    pub n_connections: u64,
    /// Where they all go.
    pub destination: IpAddr,
}

/// What this process and this machine allow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct System {
    /// Limit of open files of this process, after it was raised.
    pub open_files: OpenFileLimit,
    /// Local ports that the kernel assigns. `None` if unknown; ports are not planned then.
    pub ports: Option<PortRange>,
}

impl System {
    /// Raises the open-file limit as far as allowed and reads the rest.
    pub fn read() -> Self {
        Self {
            open_files: raise_open_file_limit(),
            ports: PortRange::read(),
        }
    }
}

/// How to open the connections, and the problems with that.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// Addresses to bind connections to, in turn. Empty if the kernel's choice suffices.
    ///
    /// Set `IP_BIND_ADDRESS_NO_PORT` on a bound socket: otherwise the kernel takes the port at `bind`, for all
    /// destinations at once.
    pub source_addresses: Vec<IpAddr>,
    /// Problems that will make the run fail, and their solutions. Empty if there are none.
    pub problems: Vec<Problem>,
}

/// Compares the needs of a run with the limits of the system.
pub fn plan(needs: &Needs, system: &System) -> Plan {
    let mut plan = Plan::default();
    plan.problems
        .extend(system.open_files.shortage(needs.n_connections));
    let Some(ports) = system.ports else {
        return plan;
    };
    let n_addresses = ports.n_addresses(needs.n_connections);
    if n_addresses <= 1 {
        return plan;
    }
    match ports::loopback_addresses(needs.destination, n_addresses) {
        Some(addresses) => plan.source_addresses = addresses,
        None => plan.problems.push(Problem::Ports {
            n_connections: needs.n_connections,
            destination: needs.destination,
            n_addresses,
            usable: ports.n_usable(),
            ports,
        }),
    }
    plan
}

#[cfg(test)]
mod tests;
