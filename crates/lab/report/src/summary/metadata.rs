//! The test, its time, and its machine.

use std::time::SystemTime;

use plimsoll_load::machine::Machine;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Origin;
use crate::timestamp;

/// What was run, and when.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Metadata {
    /// Unique among runs; in the order of text, ids are in the order of their runs' starts.
    pub id: String,
    /// What was run, for people: a file's name or a workload's.
    pub name: String,
    /// Whose way of testing it is.
    pub kind: Kind,
    /// Version of the program.
    pub plimsoll: String,
    /// The command line as it was typed, beginning with `plimsoll`, without the secrets of URLs and flags.
    pub command: Vec<String>,
    /// RFC 3339, UTC.
    pub started_at: String,
    /// From the start to the end of the last iteration.
    pub duration_seconds: f64,
    /// Unit of all durations in metrics: `us`.
    pub time_unit: String,
}

impl Metadata {
    /// The metadata of a run that began then and took this many `seconds`.
    pub(super) fn new(origin: Origin<'_>, started_at: SystemTime, seconds: f64) -> Self {
        Self {
            id: run_id(started_at, origin.salt),
            name: origin.name.to_owned(),
            kind: origin.kind,
            plimsoll: origin.plimsoll.to_owned(),
            command: origin.command,
            started_at: timestamp::rfc3339(started_at),
            duration_seconds: seconds,
            time_unit: "us".to_owned(),
        }
    }
}

/// Whose way of testing a run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A script for k6.
    K6,
    /// An Artillery file.
    Artillery,
    /// A wsdirector scenario.
    Wsdirector,
    /// `plimsoll demo`.
    Demo,
    /// `plimsoll bench`.
    Bench,
}

impl Kind {
    /// The name in the JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::K6 => "k6",
            Self::Artillery => "artillery",
            Self::Wsdirector => "wsdirector",
            Self::Demo => "demo",
            Self::Bench => "bench",
        }
    }
}

/// The generator's machine, and its limits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Environment {
    /// Operating system, for example `linux`.
    pub os: String,
    /// Release of its kernel. Empty if unknown.
    pub kernel: String,
    /// Architecture of the processor, for example `x86_64`.
    pub arch: String,
    /// Name of the processor, if known.
    pub cpu_model: Option<String>,
    /// Cores that the program could use.
    pub cores: usize,
    /// Memory of the machine. Zero if unknown.
    pub memory_bytes: u64,
    /// Files that the program could open; null is without a limit.
    pub open_files_limit: Option<u64>,
    /// The lowest and the highest local port that the kernel assigns, if known.
    pub local_ports: Option<[u16; 2]>,
    /// Threads that virtual users ran on.
    pub workers: usize,
}

impl Environment {
    /// `machine` with this many `workers`.
    pub fn new(machine: &Machine, workers: usize) -> Self {
        Self {
            os: machine.os.clone(),
            kernel: machine.kernel.clone(),
            arch: machine.arch.clone(),
            cpu_model: machine.cpu_model.clone(),
            cores: machine.cores,
            memory_bytes: machine.memory_bytes,
            open_files_limit: Some(machine.open_files_limit).filter(|&limit| limit != u64::MAX),
            local_ports: machine.local_ports.map(|ports| [ports.first, ports.last]),
            workers,
        }
    }
}

/// The id of a run that began then, for example `20261121T194903.120Z-00c0ffee`. `salt` distinguishes runs that began
/// in the same millisecond.
pub fn run_id(started_at: SystemTime, salt: u32) -> String {
    let start = timestamp::rfc3339(started_at).replace(['-', ':'], "");
    format!("{start}-{salt:08x}")
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use super::*;

    #[test]
    fn ids_are_in_the_order_of_time() {
        let at = |ms| UNIX_EPOCH + Duration::from_millis(ms);
        let first = run_id(at(1_795_290_543_120), 0xffff_ffff);
        assert_eq!(first, "20261121T194903.120Z-ffffffff");
        assert!(first < run_id(at(1_795_290_543_121), 0));
    }
}
