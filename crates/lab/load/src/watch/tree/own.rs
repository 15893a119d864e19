//! The resource use of this process, for a page of its own metrics.

use std::{fs, process};

use rustix::process::{Resource, getrlimit};

use super::{
    descriptors,
    process::{Process, TICKS_PER_SECOND, own_rss_bytes, read},
};

/// The resource use of this process at one moment. A field is None if `/proc` does not provide it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OwnProcess {
    /// User and system time since the start, in seconds.
    pub cpu_seconds: Option<f64>,
    /// Resident memory in bytes.
    pub rss_bytes: Option<u64>,
    /// Open file descriptors.
    pub n_open_files: Option<u64>,
    /// The limit of open file descriptors. None without a limit.
    pub max_open_files: Option<u64>,
    /// The start, in seconds since 1970.
    pub started: Option<f64>,
}

impl OwnProcess {
    /// Reads all figures, in less than a millisecond. Before Linux 6.2 open files are counted one by one.
    pub fn read() -> Self {
        let pid = process::id();
        let process = read(pid);
        Self {
            cpu_seconds: process.map(|process| process.cpu_ticks as f64 / TICKS_PER_SECOND),
            rss_bytes: own_rss_bytes(),
            n_open_files: descriptors::count(pid).filter(|&n| n > 0),
            max_open_files: getrlimit(Resource::Nofile).current,
            started: process.and_then(|process| started(&fs::read_to_string("/proc/stat").ok()?, process)),
        }
    }
}

/// The start of a process, in seconds since 1970. `stat` is the text of `/proc/stat`, which has the time of the boot.
fn started(stat: &str, process: Process) -> Option<f64> {
    let boot = stat.lines().find_map(|line| line.strip_prefix("btime "))?;
    let boot: f64 = boot.trim().parse().ok()?;
    Some(boot + process.id.started_ticks as f64 / TICKS_PER_SECOND)
}

#[cfg(test)]
mod tests {
    use super::super::process::ProcessId;
    use super::*;

    #[test]
    fn the_start_counts_from_the_boot() {
        let process = Process {
            id: ProcessId {
                pid: 1,
                started_ticks: 250,
            },
            parent: 0,
            state: 'R',
            n_threads: 1,
            cpu_ticks: 0,
        };
        let check =
            |stat: &str, expected: Option<f64>| assert_eq!(started(stat, process), expected, "{stat}");
        check(
            "cpu  1 2 3\nbtime 1700000000\nprocesses 9\n",
            Some(1_700_000_002.5),
        );
        check("cpu  1 2 3\n", None);
        check("btime x\n", None);
    }

    #[test]
    fn this_process_has_all_figures() {
        let own = OwnProcess::read();
        let is_positive = |figure: Option<f64>| figure.is_some_and(|figure| figure > 0.0);
        assert!(own.cpu_seconds.is_some(), "{own:?}");
        assert!(is_positive(own.started), "{own:?}");
        assert!(own.rss_bytes > Some(1 << 20), "{own:?}");
        assert!(own.n_open_files >= Some(3), "{own:?}");
    }
}
