//! The load generator's own resource use.

use std::fs;

use plimsoll_load::{generator::Glance, run::Progress};
use rustix::process::{Resource, getrlimit};

/// CPU, lateness, and open files against their limit.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Generator {
    /// The health of the last second, of all agents together if there are any.
    pub(crate) glance: Glance,
    /// Cores that this process may use, or those of all agents that are not lost.
    pub(crate) n_cores: usize,
    /// `None` if the kernel does not provide it cheaply, or if agents make the load.
    pub(crate) n_open_files: Option<u64>,
    /// `None` for no limit.
    pub(crate) open_files_limit: Option<u64>,
}

impl Generator {
    /// The generator in the last second.
    pub(crate) fn of(progress: &Progress<'_>) -> Self {
        let glance = progress.recent.generator;
        if progress.agents.is_empty() {
            return Self {
                glance,
                n_cores: std::thread::available_parallelism().map_or(1, Into::into),
                n_open_files: n_open_files(),
                open_files_limit: getrlimit(Resource::Nofile).current,
            };
        }
        let living = progress.agents.iter().filter(|agent| agent.lost_at.is_none());
        Self {
            glance,
            n_cores: living.map(|agent| agent.n_cores).sum(),
            ..Self::default()
        }
    }
}

/// The number of open files. Since Linux 6.2 it is the size of this folder. Before, the size is zero, and counting the
/// entries would take time that grows with the load.
fn n_open_files() -> Option<u64> {
    let size = fs::metadata("/proc/self/fd").ok()?.len();
    (size > 0).then_some(size)
}

#[cfg(test)]
impl Generator {
    /// One that is near its limits.
    pub(crate) fn example() -> Self {
        use std::time::Duration;
        Self {
            glance: Glance {
                elapsed: Duration::from_secs(1),
                cpu: Duration::from_millis(1_850),
                lateness_max: Some(Duration::from_millis(31)),
                rss_bytes: Some(50_000_000),
            },
            n_cores: 2,
            n_open_files: Some(312),
            open_files_limit: Some(65_536),
        }
    }
}
