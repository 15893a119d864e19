//! What the target of a load run costs: CPU time, memory, threads and open files of its whole process tree.
//!
//! A [`Target`] names a process, or the port that it listens on. Each [`Watch::sample`] finds the tree anew
//! (pre-forking servers start and lose workers) and adds up all its processes. CPU time comes from
//! [`crate::cpu_clock`]; the rest from `/proc`, whose text is parsed by pure functions in the child modules.

use std::{
    collections::HashSet,
    fs, io,
    time::{Duration, Instant},
};

mod ledger;
mod listener;
mod process;
mod target;

use self::{
    ledger::CpuLedger,
    process::{Process, ProcessId},
};
pub use self::{
    process::own_rss_bytes,
    target::{ParseTargetError, Target},
};
use crate::cpu_clock;

/// Follows the processes of one target.
#[derive(Debug)]
pub struct Watch {
    target: Target,
    roots: Vec<ProcessId>,
    cpu: CpuLedger,
    peak_rss_bytes: u64,
}

/// The state of a target's process tree at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// When the sample was taken.
    pub taken_at: Instant,
    /// User and system time of all processes that this watch has ever seen in the tree, in nanoseconds and
    /// never running backwards. What a child process spends between the last sample and its end is missed;
    /// of threads nothing is missed.
    pub cpu: Duration,
    /// Resident memory (`VmRSS`) summed over the processes. Pages shared by forked processes count once
    /// per process, so that a pre-forking server reads higher than what it takes from the machine.
    pub rss_bytes: u64,
    /// Threads of all processes.
    pub n_threads: u64,
    /// Open file descriptors of all processes; `None` when they belong to a user whose processes we may not
    /// inspect.
    pub n_open_files: Option<u64>,
    /// Live processes in the tree.
    pub n_processes: usize,
}

/// What a target used between two samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Usage {
    /// Time between the samples.
    pub elapsed: Duration,
    /// CPU time spent between them.
    pub cpu: Duration,
}

/// Why a target cannot be watched.
#[derive(Debug, thiserror::Error)]
pub enum WatchError {
    /// No process has this id.
    #[error("no process has the id {pid}; `ps` lists the processes of this machine")]
    NoProcess {
        /// The id that was asked for.
        pid: u32,
    },
    /// No process is known to listen on this port.
    #[error("{}", no_listener(*port, *listening))]
    NoListener {
        /// The port that was asked for.
        port: u16,
        /// Whether the port is in the listening state, although its owner was not found.
        listening: bool,
    },
    /// The processes that the watch began with have ended.
    #[error("the watched target {target} has ended: process {pids} is gone", pids = join(pids))]
    Ended {
        /// What was watched.
        target: Target,
        /// The processes that the target meant when the watch began.
        pids: Vec<u32>,
    },
    /// `/proc` cannot be read at all.
    #[error("cannot read /proc, which `--watch` needs (Linux only): {0}")]
    Proc(#[from] io::Error),
}

fn no_listener(port: u16, listening: bool) -> String {
    if listening {
        format!(
            "port {port} is open, but its process belongs to another user or container; \
             run as that user or as root, or name the process by its id"
        )
    } else {
        format!(
            "no process listens on port {port} of this machine; start the target first, or check the port"
        )
    }
}

fn join(pids: &[u32]) -> String {
    pids.iter().map(u32::to_string).collect::<Vec<_>>().join(", ")
}

impl Watch {
    /// Finds the processes that `target` means now. A port stands for every process that holds its listening
    /// socket (several with a pre-forking server or `SO_REUSEPORT`).
    ///
    /// # Errors
    /// When there is no such process or listener.
    pub fn attach(target: Target) -> Result<Self, WatchError> {
        let pids = match target {
            Target::Process(pid) => vec![pid],
            Target::Port(port) => listener::holders(port)?,
        };
        let roots: Vec<_> = pids
            .iter()
            .filter_map(|&pid| process::read(pid))
            .map(|process| process.id)
            .collect();
        match target {
            Target::Process(pid) if roots.is_empty() => Err(WatchError::NoProcess { pid }),
            Target::Port(port) if roots.is_empty() => Err(WatchError::NoListener {
                port,
                listening: true,
            }),
            _ => Ok(Self {
                target,
                roots,
                cpu: CpuLedger::default(),
                peak_rss_bytes: 0,
            }),
        }
    }

    /// The ids of the processes that the target meant when the watch began, without their children.
    pub fn pids(&self) -> impl Iterator<Item = u32> {
        self.roots.iter().map(|root| root.pid)
    }

    /// Measures the tree now. Reads one small file per process of the machine and two per process of the tree,
    /// a few milliseconds in all: call it at most a few times per second.
    ///
    /// # Errors
    /// [`WatchError::Ended`] when none of the processes that the watch began with is left.
    pub fn sample(&mut self) -> Result<Sample, WatchError> {
        let all = process::all()?;
        let tree = process::tree(&self.roots, &all);
        if !tree.iter().any(|process| self.is_live_root(process)) {
            return Err(WatchError::Ended {
                target: self.target,
                pids: self.pids().collect(),
            });
        }
        let live = || tree.iter().filter(|process| process.is_live());
        for process in &tree {
            if let Some(cpu) = cpu_clock::of_process(process.id.pid) {
                self.cpu.note(process.id, cpu);
            }
        }
        let existing: HashSet<ProcessId> = all.iter().map(|process| process.id).collect();
        self.cpu.settle(|process| existing.contains(&process));
        let rss_bytes = live().map(|process| rss_bytes(process.id.pid)).sum();
        self.peak_rss_bytes = self.peak_rss_bytes.max(rss_bytes);
        Ok(Sample {
            taken_at: Instant::now(),
            cpu: self.cpu.total(),
            rss_bytes,
            n_threads: live().map(|process| process.n_threads).sum(),
            n_open_files: live().map(|process| n_open_files(process.id.pid)).sum(),
            n_processes: live().count(),
        })
    }

    /// The highest [`Sample::rss_bytes`] so far.
    pub fn peak_rss_bytes(&self) -> u64 {
        self.peak_rss_bytes
    }

    fn is_live_root(&self, process: &Process) -> bool {
        process.is_live() && self.roots.contains(&process.id)
    }
}

impl Sample {
    /// What was used since `earlier`, a sample of the same watch.
    pub fn since(&self, earlier: &Self) -> Usage {
        Usage {
            elapsed: self.taken_at.saturating_duration_since(earlier.taken_at),
            cpu: self.cpu.saturating_sub(earlier.cpu),
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

/// Zero for a process that ended since it was found: it holds no memory any more.
fn rss_bytes(pid: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    process::parse_rss_bytes(&status).unwrap_or(0)
}

/// Since Linux 6.2 the size of the directory is the number of descriptors; before that it is zero, and the
/// entries are counted.
fn n_open_files(pid: u32) -> Option<u64> {
    let path = format!("/proc/{pid}/fd");
    match fs::read_dir(&path) {
        Ok(entries) => match fs::metadata(&path).map(|metadata| metadata.len()) {
            Ok(0) | Err(_) => Some(entries.count() as u64),
            Ok(n) => Some(n),
        },
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => None,
        Err(_) => Some(0),
    }
}

#[cfg(test)]
mod tests;
