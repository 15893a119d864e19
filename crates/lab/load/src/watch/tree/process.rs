//! Processes in `/proc`: identity, parent, state, threads, memory (proc(5)).

use std::{
    collections::{HashMap, HashSet},
    fs, io,
};

/// A process id together with the start time. The kernel reuses an id alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct ProcessId {
    pub(super) pid: u32,
    /// Clock ticks between boot and the start of the process.
    pub(super) started_ticks: u64,
}

/// The fields of `/proc/PID/stat` that a watch needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Process {
    pub(super) id: ProcessId,
    pub(super) parent: u32,
    pub(super) state: char,
    pub(super) n_threads: u64,
}

impl Process {
    /// False for a process that has ended and waits for its parent to ask for the exit status.
    pub(super) fn is_live(&self) -> bool {
        !matches!(self.state, 'Z' | 'X')
    }

    /// Parses the text of `/proc/PID/stat`. The name in parentheses may itself contain spaces and parentheses, so
    /// fields are counted from the last closing one.
    fn parse(stat: &str) -> Option<Self> {
        let (before, after) = stat.rsplit_once(')')?;
        let pid = before.split_once(' ')?.0.parse().ok()?;
        let fields: Vec<&str> = after.split_ascii_whitespace().collect();
        Some(Self {
            id: ProcessId {
                pid,
                started_ticks: fields.get(19)?.parse().ok()?,
            },
            parent: fields.get(1)?.parse().ok()?,
            state: fields.first()?.chars().next()?,
            n_threads: fields.get(17)?.parse().ok()?,
        })
    }
}

/// Resident bytes from the text of `/proc/PID/status`; `None` for kernel threads and ended processes.
///
/// `VmRSS` is exact, whereas the field in `/proc/PID/stat` may lag by some pages per thread (proc(5)).
pub(super) fn parse_rss_bytes(status: &str) -> Option<u64> {
    parse_bytes(status, "VmRSS:")
}

/// Proportional bytes from the text of `/proc/PID/smaps_rollup`.
pub(super) fn parse_pss_bytes(rollup: &str) -> Option<u64> {
    parse_bytes(rollup, "Pss:")
}

/// From a line such as `VmRSS:     1500 kB`.
fn parse_bytes(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kilobytes.checked_mul(1024)
}

/// Resident memory of this process in bytes. `None` if `/proc` does not provide it.
pub fn own_rss_bytes() -> Option<u64> {
    parse_rss_bytes(&fs::read_to_string("/proc/self/status").ok()?)
}

/// One process; `None` when it does not exist.
pub(super) fn read(pid: u32) -> Option<Process> {
    let stat = fs::read(format!("/proc/{pid}/stat")).ok()?;
    Process::parse(&String::from_utf8_lossy(&stat))
}

/// All processes of the machine, except those that end meanwhile.
pub(super) fn all() -> io::Result<Vec<Process>> {
    Ok(pids()?.filter_map(read).collect())
}

/// The ids of all processes of the machine.
pub(super) fn pids() -> io::Result<impl Iterator<Item = u32>> {
    Ok(fs::read_dir("/proc")?
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok()))
}

/// The processes of `all` that are `roots` or descend from them, each once.
///
/// A child whose parent has ended is adopted by another process and leaves the tree.
pub(super) fn tree(roots: &[ProcessId], all: &[Process]) -> Vec<Process> {
    let mut children: HashMap<u32, Vec<&Process>> = HashMap::new();
    for process in all {
        children.entry(process.parent).or_default().push(process);
    }
    let mut open: Vec<&Process> = all.iter().filter(|process| roots.contains(&process.id)).collect();
    let mut seen = HashSet::new();
    let mut tree = Vec::new();
    while let Some(process) = open.pop() {
        if seen.insert(process.id) {
            tree.push(*process);
            open.extend(children.get(&process.id.pid).into_iter().flatten().copied());
        }
    }
    tree
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Captured from a Puma master, with a name that is hard to parse.
    const STAT: &str = "4733 (pu) ma (1) R 4725 4725 2909 0 -1 4194304 103 0 0 0 12 3 0 0 20 0 9 0 87541 \
                        3133440 390 18446744073709551615 1 1 0 0 0 0 0 0 0 0 0 0 17 0 0 0 0 0 0 0 0 0 0 0 0 0 0";

    #[test]
    fn reads_the_stat_line_of_a_process_with_a_nasty_name() {
        let id = ProcessId {
            pid: 4733,
            started_ticks: 87541,
        };
        assert_eq!(
            Process::parse(STAT),
            Some(Process {
                id,
                parent: 4725,
                state: 'R',
                n_threads: 9
            })
        );
    }

    #[test]
    fn refuses_what_is_not_a_stat_line() {
        for text in [
            "",
            "1",
            "1 (init",
            "1 (init)",
            "1 (init) S 0 1",
            "x (init) S 0 1 1 0 -1",
        ] {
            assert_eq!(Process::parse(text), None, "{text}");
        }
    }

    #[test]
    fn reads_resident_memory() {
        let status = "Name:\tpuma\nVmHWM:\t    1740 kB\nVmRSS:\t    1500 kB\nThreads:\t1\n";
        for (text, expected) in [
            (status, Some(1_536_000)),
            ("Name:\tkthreadd\n", None),
            ("VmRSS:\tmany kB\n", None),
        ] {
            assert_eq!(parse_rss_bytes(text), expected, "{text}");
        }
    }

    #[test]
    fn reads_proportional_memory() {
        let rollup = "55d0-7ffd ---p 00000000 00:00 0    [rollup]\nRss:   3192 kB\nPss:   1071 kB\nPss_Dirty:  96 kB\n";
        assert_eq!(parse_pss_bytes(rollup), Some(1_071 * 1024));
        assert_eq!(parse_pss_bytes("Pss_Dirty: 96 kB\n"), None);
    }

    fn process(pid: u32, parent: u32) -> Process {
        Process {
            id: ProcessId {
                pid,
                started_ticks: 1,
            },
            parent,
            state: 'S',
            n_threads: 1,
        }
    }

    #[test]
    fn a_tree_has_all_descendants_once() {
        let all = [
            process(1, 0),
            process(2, 1),
            process(3, 2),
            process(4, 3),
            process(5, 1),
            process(6, 5),
        ];
        let roots = [all[1].id, all[2].id];
        let mut pids: Vec<_> = tree(&roots, &all).iter().map(|process| process.id.pid).collect();
        pids.sort_unstable();
        assert_eq!(pids, [2, 3, 4]);
    }

    #[test]
    fn a_process_with_a_reused_id_is_not_a_root() {
        let root = ProcessId {
            pid: 2,
            started_ticks: 99,
        };
        assert_eq!(tree(&[root], &[process(2, 1), process(3, 2)]), []);
    }

    #[test]
    fn a_loop_of_parents_ends() {
        let all = [process(2, 3), process(3, 2)];
        assert_eq!(tree(&[all[0].id], &all).len(), 2);
    }
}
