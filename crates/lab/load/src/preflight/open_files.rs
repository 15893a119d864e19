//! The limit of open files of this process (`RLIMIT_NOFILE`, getrlimit(2)).

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::Problem;

/// Files that a load generator opens besides its connections: standard streams, a few per worker for its event
/// loop, output files, and short-lived ones in `/proc`. Reason: 64 is enough for 8 workers and some room.
const N_OTHER_FILES: u64 = 64;

/// The limit before and after raising it. `u64::MAX` means unlimited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenFileLimit {
    /// The soft limit that the process was started with.
    pub soft_before: u64,
    /// The current soft limit, which the kernel enforces.
    pub soft: u64,
    /// The hard limit: how far a process without privileges can raise it.
    pub hard: u64,
}

impl OpenFileLimit {
    /// The number of connections that fit beside the other files of a load generator.
    pub fn n_connections(&self) -> u64 {
        self.soft.saturating_sub(N_OTHER_FILES)
    }

    pub(super) fn shortage(&self, n_connections: u64) -> Option<Problem> {
        let needed = n_connections.saturating_add(N_OTHER_FILES);
        (needed > self.soft).then_some(Problem::OpenFiles {
            n_connections,
            needed,
            hard: self.hard,
        })
    }
}

/// Raises the soft limit to the hard limit, which needs no privileges. Keeps it if the kernel refuses.
///
/// The soft limit is low by tradition (1024) for programs that use `select(2)`, which this program does not.
pub fn raise_open_file_limit() -> OpenFileLimit {
    let before = getrlimit(Resource::Nofile);
    let raised = Rlimit {
        current: before.maximum,
        maximum: before.maximum,
    };
    let after = match setrlimit(Resource::Nofile, raised) {
        Ok(()) => raised,
        Err(_) => before,
    };
    OpenFileLimit {
        soft_before: before.current.unwrap_or(u64::MAX),
        soft: after.current.unwrap_or(u64::MAX),
        hard: after.maximum.unwrap_or(u64::MAX),
    }
}
