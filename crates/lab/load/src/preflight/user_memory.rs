//! Will all virtual users fit into memory? Asked before a run, because a process that the kernel kills has no report.

use super::Memory;

/// Kinds of virtual users, by the memory of one user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UserKind {
    /// A script: an engine of its own with the script loaded.
    Script,
    /// A user of a scenario file (Artillery, wsdirector).
    Scenario,
    /// A client of a native workload.
    Native,
}

/// The memory for a run's users compared with the available memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fit {
    /// They leave at least a quarter of it.
    Well,
    /// They may fit, but use most of it.
    Narrow(MemoryNeed),
    /// They need more than is available.
    Not(MemoryNeed),
}

/// The memory for a run's users, and the available memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{n_users} virtual users need about {} of memory ({} each), and {} are available",
    readable(*.needed_bytes), readable(.kind.bytes_each()), readable(*.available_bytes)
)]
pub struct MemoryNeed {
    /// The most virtual users of the run.
    pub n_users: u64,
    /// What kind they are.
    pub kind: UserKind,
    /// Their memory, in bytes.
    pub needed_bytes: u64,
    /// The available memory, in bytes.
    pub available_bytes: u64,
}

impl UserKind {
    /// Resident memory of one user, in bytes. Measured, see `benchmarks/README.md`: scripts of a chat 150 to 154 KB,
    /// users of files 4.9 to 6.8 KB. Answers and the script's own data come on top.
    pub fn bytes_each(self) -> u64 {
        match self {
            Self::Script => 150_000,
            Self::Scenario => 6_500,
            Self::Native => 4_000,
        }
    }

    /// Compares the memory for this many users with the available memory.
    pub fn fit(self, n_users: u64, memory: &Memory) -> Fit {
        let available_bytes = memory.available_bytes;
        let needed_bytes = n_users.saturating_mul(self.bytes_each());
        let need = MemoryNeed {
            n_users,
            kind: self,
            needed_bytes,
            available_bytes,
        };
        match needed_bytes {
            _ if needed_bytes > available_bytes => Fit::Not(need),
            _ if needed_bytes > available_bytes / 4 * 3 => Fit::Narrow(need),
            _ => Fit::Well,
        }
    }
}

/// With one digit after the point, in the largest unit that gives at least 1.
pub(super) fn readable(bytes: u64) -> String {
    let bytes = bytes as f64;
    for (unit, size) in [("GB", 1e9), ("MB", 1e6), ("KB", 1e3)] {
        if bytes >= size {
            return format!("{:.1} {unit}", bytes / size);
        }
    }
    format!("{bytes} bytes")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(kind: UserKind, n_users: u64, available_bytes: u64, expected: &str) {
        let memory = Memory {
            total_bytes: u64::MAX,
            available_bytes,
        };
        let words = match kind.fit(n_users, &memory) {
            Fit::Well => "well".to_owned(),
            Fit::Narrow(need) => format!("narrow: {need}"),
            Fit::Not(need) => format!("not: {need}"),
        };
        assert_eq!(words, expected);
    }

    #[test]
    fn users_are_compared_with_the_memory_that_is_left() {
        check(UserKind::Script, 1000, 200_000_000, "well");
        check(
            UserKind::Script,
            1001,
            200_000_000,
            "narrow: 1001 virtual users need about 150.2 MB of memory (150.0 KB each), and 200.0 MB are available",
        );
        check(
            UserKind::Script,
            1_000_000,
            24_000_000_000,
            "not: 1000000 virtual users need about 150.0 GB of memory (150.0 KB each), and 24.0 GB are available",
        );
        check(UserKind::Scenario, 1_000_000, 24_000_000_000, "well");
        check(
            UserKind::Scenario,
            1_000_000,
            6_499_999_999,
            "not: 1000000 virtual users need about 6.5 GB of memory (6.5 KB each), and 6.5 GB are available",
        );
        check(UserKind::Native, 1_000_000, 5_400_000_000, "well");
        check(
            UserKind::Native,
            u64::MAX,
            u64::MAX,
            "narrow: 18446744073709551615 virtual users need about 18446744073.7 GB of memory (4.0 KB each), and 18446744073.7 GB are available",
        );
        check(UserKind::Script, 0, 0, "well");
    }
}
