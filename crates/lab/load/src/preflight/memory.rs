//! The memory that this process may use: the machine's, less the limits of control groups and `ulimit -v`.

use std::{
    fs,
    path::{Path, PathBuf},
};

use rustix::process::{Resource, getrlimit};

/// The total and the available memory. The tightest limit counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory {
    /// The most that this process could ever use, in bytes. `u64::MAX` if unknown.
    pub total_bytes: u64,
    /// The unused part of that, in bytes.
    pub available_bytes: u64,
}

impl Memory {
    /// Reads `/proc`, the control groups that this process is in, and its limit of address space (`RLIMIT_AS`).
    pub fn read() -> Self {
        let text = |path: &str| fs::read_to_string(path).unwrap_or_default();
        let groups = groups(&text("/proc/self/cgroup"));
        let of_groups = groups.iter().filter_map(|folder| of_group(folder));
        let of_process = of_address_space(getrlimit(Resource::As).current, &text("/proc/self/status"));
        of_machine(&text("/proc/meminfo"))
            .into_iter()
            .chain(of_groups)
            .chain(of_process)
            .fold(Self::UNKNOWN, Self::tighter)
    }

    /// Half of the total, in bytes: the limit for one purpose among others.
    pub fn half(&self) -> usize {
        usize::try_from(self.total_bytes / 2).unwrap_or(usize::MAX)
    }

    const UNKNOWN: Self = Self {
        total_bytes: u64::MAX,
        available_bytes: u64::MAX,
    };

    fn tighter(self, other: Self) -> Self {
        Self {
            total_bytes: self.total_bytes.min(other.total_bytes),
            available_bytes: self.available_bytes.min(other.available_bytes),
        }
    }

    fn of_limit(limit: u64, used: u64) -> Self {
        Self {
            total_bytes: limit,
            available_bytes: limit.saturating_sub(used),
        }
    }
}

fn of_machine(meminfo: &str) -> Option<Memory> {
    Some(Memory {
        total_bytes: kilobytes(meminfo, "MemTotal:")?,
        available_bytes: kilobytes(meminfo, "MemAvailable:")?,
    })
}

fn of_address_space(limit: Option<u64>, status: &str) -> Option<Memory> {
    // The program's own file and its threads' stacks occupy addresses, too.
    let used = kilobytes(status, "VmSize:").unwrap_or_default();
    let left = limit?.saturating_sub(used);
    Some(Memory::of_limit(left, 0))
}

/// The number after `name` in a file of lines such as `MemTotal:  2048 kB`, in bytes.
fn kilobytes(text: &str, name: &str) -> Option<u64> {
    let value = text.lines().find_map(|line| line.strip_prefix(name))?;
    let number: u64 = value.trim().strip_suffix("kB")?.trim().parse().ok()?;
    number.checked_mul(1024)
}

/// The folders of the groups that limit this process, from the text of `/proc/self/cgroup`: its own and all above it,
/// of version 2 and of version 1. In a container the path may be the outside one, so the root is always included.
fn groups(cgroup: &str) -> Vec<PathBuf> {
    let mut folders = Vec::new();
    for line in cgroup.lines() {
        let mut fields = line.splitn(3, ':');
        let (Some(_), Some(controllers), Some(path)) = (fields.next(), fields.next(), fields.next()) else {
            continue;
        };
        let mount = match controllers {
            "" => "/sys/fs/cgroup",
            "memory" => "/sys/fs/cgroup/memory",
            _ => continue,
        };
        let ancestors = Path::new(path.trim_start_matches('/')).ancestors();
        folders.extend(ancestors.map(|ancestor| Path::new(mount).join(ancestor)));
    }
    folders
}

/// What a group allows; `None` when it has no limit.
fn of_group(folder: &Path) -> Option<Memory> {
    let number = |file: &str| {
        let text = fs::read_to_string(folder.join(file)).ok()?;
        text.trim().parse::<u64>().ok()
    };
    let limit = number("memory.max").or_else(|| number("memory.limit_in_bytes"))?;
    let used = number("memory.current").or_else(|| number("memory.usage_in_bytes"));
    Some(Memory::of_limit(limit, used.unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tightest_limit_counts() {
        let machine = of_machine("MemTotal: 4000 kB\nMemFree: 1 kB\nMemAvailable: 3000 kB\n").unwrap();
        assert_eq!(
            machine,
            Memory {
                total_bytes: 4_096_000,
                available_bytes: 3_072_000
            }
        );
        let space = of_address_space(Some(2_048_000), "VmPeak: 9 kB\nVmSize:\t  1000 kB\n").unwrap();
        assert_eq!(
            space,
            Memory {
                total_bytes: 1_024_000,
                available_bytes: 1_024_000
            }
        );
        assert_eq!(machine.tighter(space), space);
        assert_eq!(Memory::UNKNOWN.tighter(machine), machine);
        assert_eq!(of_address_space(None, ""), None);
        assert_eq!(of_machine("MemTotal: lots\n"), None);
    }

    #[test]
    fn all_groups_above_the_process_count() {
        let folders = groups("0::/a/b\n5:cpu,cpuacct:/x\n4:memory:/docker/c\n");
        let expected = [
            "/sys/fs/cgroup/a/b",
            "/sys/fs/cgroup/a",
            "/sys/fs/cgroup/",
            "/sys/fs/cgroup/memory/docker/c",
            "/sys/fs/cgroup/memory/docker",
            "/sys/fs/cgroup/memory/",
        ];
        assert_eq!(folders, expected.map(PathBuf::from));
    }

    #[test]
    fn limits_of_groups_are_read_in_both_versions() {
        let folder = std::env::temp_dir().join(format!("plimsoll-group-memory-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let write = |file: &str, text: &str| fs::write(folder.join(file), text).unwrap();
        assert_eq!(of_group(&folder), None);
        write("memory.max", "max\n");
        assert_eq!(of_group(&folder), None, "a group without a limit");
        write("memory.max", "1000\n");
        write("memory.current", "400\n");
        assert_eq!(of_group(&folder), Some(Memory::of_limit(1000, 400)));
        fs::remove_file(folder.join("memory.max")).unwrap();
        fs::remove_file(folder.join("memory.current")).unwrap();
        write("memory.limit_in_bytes", "2000\n");
        write("memory.usage_in_bytes", "3000\n");
        assert_eq!(
            of_group(&folder),
            Some(Memory {
                total_bytes: 2000,
                available_bytes: 0
            })
        );
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn this_machine_has_memory() {
        let memory = Memory::read();
        assert!(memory.available_bytes > 0 && memory.available_bytes <= memory.total_bytes);
        assert!(memory.total_bytes < u64::MAX);
    }
}
