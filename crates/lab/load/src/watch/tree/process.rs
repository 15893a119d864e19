//! Processes in `/proc`: identity, parent, state, threads, memory (proc(5)).

use std::{
    collections::{HashMap, HashSet},
    fs, io,
};

/// The kernel's clock ticks in a second for programs (`USER_HZ`): 100 on every architecture that Linux has today.
pub(crate) const TICKS_PER_SECOND: f64 = 100.0;

/// The longest name of a program, in characters. Reason: three names fit into a line.
const MAX_NAME_CHARS: usize = 40;

/// A process id together with the start time. The kernel reuses an id alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ProcessId {
    pub(crate) pid: u32,
    /// Clock ticks between boot and the start of the process.
    pub(crate) started_ticks: u64,
}

/// The fields of `/proc/PID/stat` that a watch needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Process {
    pub(crate) id: ProcessId,
    pub(crate) parent: u32,
    pub(crate) state: char,
    pub(crate) n_threads: u64,
    /// User and system time of all its threads since it began, in ticks of [`TICKS_PER_SECOND`].
    pub(crate) cpu_ticks: u64,
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
            cpu_ticks: {
                let [user, system] = [11, 12].map(|at| fields.get(at)?.parse::<u64>().ok());
                user?.saturating_add(system?)
            },
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
pub(crate) fn read(pid: u32) -> Option<Process> {
    let stat = fs::read(format!("/proc/{pid}/stat")).ok()?;
    Process::parse(&String::from_utf8_lossy(&stat))
}

/// The name of the program that a process runs, for people: the file name of its command, or the kernel's name for it.
/// `None` for a process that has ended.
pub(crate) fn name(pid: u32) -> Option<String> {
    let read = |file| {
        let bytes = fs::read(format!("/proc/{pid}/{file}")).ok()?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    };
    // The kernel's name is that of the main thread, which runtimes rename ("MainThread").
    read("cmdline")
        .and_then(|command| command_name(&command))
        .or_else(|| shown(&read("comm")?))
}

/// The file name in the first argument of a command. A title such as `puma 6.4 (tcp://[::]:80)` is cut after its first
/// word. `None` for a kernel thread, which has no command.
fn command_name(command: &str) -> Option<String> {
    let first = command.split(['\0', ' ']).next()?;
    shown(first.rsplit('/').next()?.trim_end_matches(':'))
}

/// A name as far as it can be shown: without control characters and not longer than a line has room for.
pub(crate) fn shown(name: &str) -> Option<String> {
    let name: String = name
        .chars()
        .filter(|character| !character.is_control())
        .take(MAX_NAME_CHARS)
        .collect();
    Some(name.trim().to_owned()).filter(|name| !name.is_empty())
}

/// All processes of the machine, except those that end meanwhile.
pub(crate) fn all() -> io::Result<Vec<Process>> {
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
pub(crate) fn tree(roots: &[ProcessId], all: &[Process]) -> Vec<Process> {
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
                n_threads: 9,
                cpu_ticks: 15,
            })
        );
    }

    #[test]
    fn a_program_is_named_after_its_command() {
        for (command, expected) in [
            ("/usr/bin/node\0-e\0for(;;);\0", Some("node")),
            ("busy-neighbour\0", Some("busy-neighbour")),
            ("puma 6.4 (tcp://[::]:80) [app]\0", Some("puma")),
            ("postgres: walwriter\0", Some("postgres")),
            ("\u{1b}[2J\0", Some("[2J")),
            ("/\0", None),
            ("", None),
        ] {
            assert_eq!(command_name(command).as_deref(), expected, "{command:?}");
        }
        assert!(name(std::process::id()).is_some());
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
            cpu_ticks: 0,
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
