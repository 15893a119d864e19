//! The machine of a run: facts that people need before they compare its figures with others.

use std::{env::consts, fs, thread};

use crate::preflight::{PortRange, System};

/// Facts about this machine, and the limits of this process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Machine {
    /// Operating system, for example `linux`.
    pub os: String,
    /// Release of its kernel. Empty if unknown.
    pub kernel: String,
    /// Architecture of the processor, for example `x86_64`.
    pub arch: String,
    /// Name of the processor.
    pub cpu_model: Option<String>,
    /// Cores that this process may use.
    pub cores: usize,
    /// Memory of the whole machine. Zero if unknown.
    pub memory_bytes: u64,
    /// Files that this process may open.
    pub open_files_limit: u64,
    /// The range of local ports that the kernel assigns.
    pub local_ports: Option<PortRange>,
}

impl Machine {
    /// Reads it. Raises the limit of open files as far as allowed, as every load command does.
    pub fn read() -> Self {
        let System { open_files, ports } = System::read();
        let read = |path| fs::read_to_string(path).unwrap_or_default();
        Self {
            os: consts::OS.to_owned(),
            kernel: read("/proc/sys/kernel/osrelease").trim().to_owned(),
            arch: consts::ARCH.to_owned(),
            cpu_model: cpu_model(&read("/proc/cpuinfo")),
            cores: thread::available_parallelism().map_or(1, usize::from),
            memory_bytes: memory_bytes(&read("/proc/meminfo")),
            open_files_limit: open_files.soft,
            local_ports: ports,
        }
    }
}

/// The model of the first core. ARM has no such line.
fn cpu_model(cpuinfo: &str) -> Option<String> {
    let line = cpuinfo.lines().find(|line| line.starts_with("model name"))?;
    let (_, name) = line.split_once(':')?;
    Some(name.trim().to_owned()).filter(|name| !name.is_empty())
}

fn memory_bytes(meminfo: &str) -> u64 {
    let total = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"));
    let kb = total.and_then(|total| total.trim().strip_suffix("kB")?.trim().parse::<u64>().ok());
    kb.unwrap_or_default().saturating_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_processors_are_found() {
        for (cpuinfo, expected) in [
            (
                "processor\t: 0\nmodel\t\t: 85\nmodel name\t: Xeon @ 2.10GHz\nmodel name\t: other\n",
                Some("Xeon @ 2.10GHz"),
            ),
            ("processor\t: 0\nBogoMIPS\t: 48.00\n", None),
            ("model name\t:\n", None),
            ("", None),
        ] {
            assert_eq!(cpu_model(cpuinfo).as_deref(), expected);
        }
    }

    #[test]
    fn memory_is_in_bytes() {
        for (meminfo, expected) in [
            ("MemTotal:        2048 kB\nMemFree: 1 kB\n", 2_097_152),
            ("MemTotal: lots\n", 0),
            ("", 0),
        ] {
            assert_eq!(memory_bytes(meminfo), expected);
        }
    }

    #[test]
    fn this_machine_has_cores_and_memory() {
        let machine = Machine::read();
        assert!(machine.cores > 0 && machine.memory_bytes > 0 && machine.open_files_limit > 0);
    }
}
