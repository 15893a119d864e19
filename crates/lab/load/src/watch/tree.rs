//! The resource use of a process and its children: CPU time, memory, threads and open files of the whole tree.
//!
//! Each sample finds the tree anew (pre-forking servers start and lose workers) and adds up all its processes. CPU time
//! comes from [`crate::cpu_clock`]; the rest from `/proc`, whose text is parsed by pure functions in the child modules.

use std::{collections::HashSet, fs, io, time::Instant};

mod descriptors;
mod ledger;
mod listener;
mod network;
mod own;
mod peers;
pub(crate) mod process;

use self::{
    ledger::CpuLedger,
    process::{Process, ProcessId},
};
pub(crate) use self::{listener::holders, peers::Peers};
pub use self::{own::OwnProcess, process::own_rss_bytes};
use super::{
    Sample, WatchError,
    figure::{self, Figure, Reading},
    paced::Paced,
};
use crate::cpu_clock;

/// The processes at the root of a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Root {
    /// The process with this id.
    Process(u32),
    /// The processes on this machine that listen on this TCP port.
    Port(u16),
}

/// Follows the processes of one target.
#[derive(Debug)]
pub(super) struct ProcessTree {
    roots: Vec<ProcessId>,
    /// The processes that were alive at the last sample.
    live: Vec<u32>,
    cpu: CpuLedger,
    pss: Paced,
    sockets: Paced,
}

impl ProcessTree {
    /// Finds the current processes of `root`. A port stands for every process that holds its listening socket (several
    /// with a pre-forking server or `SO_REUSEPORT`).
    ///
    /// # Errors
    /// There is no such process or listener.
    pub(super) fn attach(root: Root) -> Result<Self, WatchError> {
        let pids = match root {
            Root::Process(pid) => vec![pid],
            Root::Port(port) => holders(port)?,
        };
        let roots = pids.iter().filter_map(|&pid| process::read(pid));
        let roots: Vec<_> = roots.map(|process| process.id).collect();
        match root {
            Root::Process(pid) if roots.is_empty() => Err(WatchError::NoProcess { pid }),
            Root::Port(port) if roots.is_empty() => Err(WatchError::NoListener {
                port,
                listening: true,
            }),
            _ => Ok(Self {
                roots,
                live: Vec::new(),
                cpu: CpuLedger::default(),
                pss: Paced::default(),
                sockets: Paced::default(),
            }),
        }
    }

    /// The ids of the processes that the tree began with, without their children.
    pub(super) fn pids(&self) -> impl Iterator<Item = u32> {
        self.roots.iter().map(|root| root.pid)
    }

    /// The first process's own name (`/proc/PID/comm`), as far as it can be shown.
    pub(super) fn program(&self) -> Option<String> {
        let pid = self.pids().next()?;
        let comm = fs::read(format!("/proc/{pid}/comm")).ok()?;
        process::shown(&String::from_utf8_lossy(&comm))
    }

    /// Samples the tree. Reads one small file per process of the machine and two per process of the tree, a few
    /// milliseconds in all: call it at most a few times per second.
    ///
    /// # Errors
    /// [`WatchError::Ended`] if no process of the initial tree is left.
    pub(super) fn sample(&mut self) -> Result<Sample, WatchError> {
        let all = process::all()?;
        let tree = process::tree(&self.roots, &all);
        if !tree.iter().any(|process| self.is_live_root(process)) {
            return Err(WatchError::Ended {
                reason: gone(self.pids()),
            });
        }
        for process in &tree {
            if let Some(cpu) = cpu_clock::of_process(process.id.pid) {
                self.cpu.note(process.id, cpu);
            }
        }
        let existing: HashSet<ProcessId> = all.iter().map(|process| process.id).collect();
        self.cpu.settle(|process| existing.contains(&process));
        let live = || tree.iter().filter(|process| process.is_live());
        self.live = live().map(|process| process.id.pid).collect();
        Ok(Sample {
            taken_at: Instant::now(),
            cpu: self.cpu.total(),
            rss_bytes: self.live.iter().map(|&pid| rss_bytes(pid)).sum(),
            n_threads: Some(live().map(|process| process.n_threads).sum()),
            n_open_files: self.live.iter().map(|&pid| descriptors::count(pid)).sum(),
            n_processes: Some(self.live.len()),
        })
    }

    /// Makes the next reading complete, however long that takes.
    pub(super) fn hurry(&mut self) {
        self.pss = Paced::default();
        self.sockets = Paced::default();
    }

    /// A sample and the slower figures, which are not in every reading.
    ///
    /// # Errors
    /// As for [`Self::sample`].
    pub(super) fn read(&mut self) -> Result<Reading, WatchError> {
        let mut reading = Reading::from(&self.sample()?);
        let live = &self.live;
        let mut level = |name: &'static str, value: Option<u64>| {
            let figure = value.map(|value| (name.into(), Figure::Level(value as f64)));
            reading.figures.extend(figure);
        };
        let pss_bytes = || live.iter().map(|&pid| pss_bytes(pid)).sum();
        level(figure::PSS_BYTES, self.pss.take(pss_bytes).flatten());
        let sockets = || live.iter().map(|&pid| descriptors::count_sockets(pid)).sum();
        level(figure::SOCKETS, self.sockets.take(sockets).flatten());
        let traffic = live.first().and_then(|&pid| network::traffic(pid));
        if let Some(traffic) = traffic {
            let total = |bytes: u64| Figure::Total(bytes as f64);
            reading.figures.extend([
                (
                    figure::NETWORK_RECEIVED_BYTES.into(),
                    total(traffic.received_bytes),
                ),
                (figure::NETWORK_SENT_BYTES.into(), total(traffic.sent_bytes)),
            ]);
        }
        Ok(reading)
    }

    fn is_live_root(&self, process: &Process) -> bool {
        process.is_live() && self.roots.contains(&process.id)
    }
}

/// Zero for a process that ended since it was found: it holds no memory any more.
fn rss_bytes(pid: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    process::parse_rss_bytes(&status).unwrap_or(0)
}

/// Proportional memory of a process. Zero if it ended since it was found. `None` if this user may not inspect it, or if
/// the kernel has no `smaps_rollup` (before Linux 4.14). The kernel walks all pages of the process for it.
fn pss_bytes(pid: u32) -> Option<u64> {
    match fs::read_to_string(format!("/proc/{pid}/smaps_rollup")) {
        Ok(text) => Some(process::parse_pss_bytes(&text).unwrap_or(0)),
        // ESRCH: a process that has ended has no pages. A missing file may mean either, so the process itself is
        // checked.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => None,
        Err(_) => process::read(pid)
            .is_none_or(|process| !process.is_live())
            .then_some(0),
    }
}

fn gone(pids: impl Iterator<Item = u32>) -> String {
    let pids: Vec<_> = pids.map(|pid| pid.to_string()).collect();
    match pids.as_slice() {
        [pid] => format!("process {pid} is gone"),
        _ => format!("processes {} are gone", pids.join(", ")),
    }
}

#[cfg(test)]
mod tests;
