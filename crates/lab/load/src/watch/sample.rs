//! A target's resource use, at one moment and between two.

use std::time::{Duration, Instant};

use super::figure::{self, Figure, Reading};

/// The state of a target's processes at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// When the sample was taken.
    pub taken_at: Instant,
    /// User and system time of all processes that were ever seen in the tree, in nanoseconds and never running
    /// backwards. A child process's CPU time after its last sample is missed; that of threads, and of control groups,
    /// is complete.
    pub cpu: Duration,
    /// Resident memory (`VmRSS`) summed over the processes. Pages shared by forked processes count once per process, so
    /// that a pre-forking server reads higher than its real use. For a control group, in which each page counts once:
    /// anonymous memory and mapped files.
    pub rss_bytes: u64,
    /// Threads of all processes; `None` for a control group without the `pids` controller.
    pub n_threads: Option<u64>,
    /// Open file descriptors of all processes. `None` if they belong to a user whose processes may not be inspected,
    /// and for control groups.
    pub n_open_files: Option<u64>,
    /// Live processes in the tree; `None` for control groups.
    pub n_processes: Option<usize>,
}

/// What a target used between two samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Usage {
    /// Time between the samples.
    pub elapsed: Duration,
    /// CPU time spent between them.
    pub cpu: Duration,
}

impl Sample {
    /// The use since `earlier`, a sample of the same watch.
    pub fn since(&self, earlier: &Self) -> Usage {
        Usage {
            elapsed: self.taken_at.saturating_duration_since(earlier.taken_at),
            cpu: self.cpu.saturating_sub(earlier.cpu),
        }
    }
}

impl From<&Sample> for Reading {
    fn from(sample: &Sample) -> Self {
        let level = |name: &'static str, n: Option<u64>| n.map(|n| (name.into(), Figure::Level(n as f64)));
        let cpu = (figure::CPU_CORES.into(), Figure::Total(sample.cpu.as_secs_f64()));
        let levels = [
            level(figure::RSS_BYTES, Some(sample.rss_bytes)),
            level(figure::THREADS, sample.n_threads),
            level(figure::OPEN_FILES, sample.n_open_files),
            level(figure::PROCESSES, sample.n_processes.map(|n| n as u64)),
        ];
        Self {
            taken_at: sample.taken_at,
            figures: [Some(cpu)].into_iter().chain(levels).flatten().collect(),
        }
    }
}

impl Usage {
    /// CPU time per wall time: 1.0 is one core kept busy all the time.
    pub fn cores(&self) -> f64 {
        if self.elapsed.is_zero() {
            0.0
        } else {
            self.cpu.as_secs_f64() / self.elapsed.as_secs_f64()
        }
    }
}
