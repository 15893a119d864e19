//! The CPU that other programs took: neither this one with its children, nor the targets.
//!
//! A program is a target if `--watch` names it, or if it listens on a port of this machine to which this process is
//! connected. Everything else in `/proc` that used CPU is another program. A process that begins and ends between two
//! looks is missed, and the last part of one that ends, so the sums are lower bounds. In a container without the host's
//! process ids, programs outside are invisible; [the pressure](super::pressure) shows them.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    fs,
    time::Duration,
};

use serde::{Deserialize, Deserializer, Serialize};

use crate::watch::{
    Place,
    tree::{
        Peers, holders,
        process::{self, Process, ProcessId, TICKS_PER_SECOND},
    },
};

/// The most processes that are followed; further ones are not counted. Reason: they take 2 MB, and names as much again.
const MAX_PROCESSES: usize = 32_768;

/// The most programs of a period that keep their names; the CPU of further ones counts without a name. Reason: a build
/// starts thousands of processes, but few programs.
const MAX_NAMES: usize = 512;

/// The number of programs that are named.
const MAX_NAMED: usize = 3;

/// How often a process that uses CPU is checked for being the target in a period, and how many looks of the period read
/// this process's connections. Reason: the first connections may be made after the first look.
const MAX_CHECKS: u8 = 5;
const LOOKS_FOR_PEERS: u32 = 5;

/// The most processes that are kept as found targets. Reason: the listeners of a pre-forking server are fewer.
const MAX_FOUND: usize = 64;

/// CPU that other programs took in a period.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct OtherPrograms {
    /// All of them together, in cores.
    pub cores: f64,
    /// Those that took most, the greatest first.
    #[serde(deserialize_with = "few")]
    pub named: Vec<Program>,
}

/// All processes of one program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Program {
    /// The file name of its command.
    pub name: String,
    /// CPU time per wall time; 1.0 is one core.
    pub cores: f64,
}

/// Follows the processes of the machine.
#[derive(Debug, Default)]
pub(super) struct Programs {
    /// The targets that the user named.
    targets: Vec<Place>,
    /// Their processes, without children.
    roots: Vec<ProcessId>,
    /// Processes that listen where this process is connected to, at most [`MAX_FOUND`].
    found: Vec<ProcessId>,
    peers: Peers,
    n_looks: u32,
    seen: HashMap<ProcessId, Seen>,
    /// Whether `seen` had room for all processes, so that a process that is not in it is new.
    is_complete: bool,
    /// Clock ticks that processes took in the period and that have ended, by program.
    ended: Ticks,
}

/// A process at the last look.
#[derive(Clone, Debug, Default)]
struct Seen {
    cpu_ticks: u64,
    /// Clock ticks in the period.
    used: u64,
    /// `None` until it used CPU.
    name: Option<String>,
    n_checks: u8,
}

/// Clock ticks by program.
#[derive(Clone, Debug, Default)]
struct Ticks {
    by_name: BTreeMap<String, u64>,
    /// Those of programs beyond [`MAX_NAMES`].
    unnamed: u64,
}

impl Programs {
    /// The user named these as targets: they and their children are not other programs.
    pub(super) fn leave_out(&mut self, targets: &[Place]) {
        self.targets.extend_from_slice(targets);
        self.find_targets();
    }

    /// Looks at all processes, and at this process's connections: one small file for each process, and some more while
    /// the target is not known. Takes milliseconds.
    pub(super) fn look(&mut self) {
        if self.n_looks < LOOKS_FOR_PEERS {
            self.peers.update();
        }
        self.n_looks = self.n_looks.saturating_add(1);
        self.note_all();
    }

    /// The use since the last call; begins a new period.
    pub(super) fn take(&mut self, elapsed: Duration) -> OtherPrograms {
        self.note_all();
        let mut ticks = std::mem::take(&mut self.ended);
        for seen in self.seen.values_mut() {
            ticks.add(seen.name.as_deref(), std::mem::take(&mut seen.used));
            seen.n_checks = 0;
        }
        // A target that was restarted has new processes.
        self.find_targets();
        self.n_looks = 0;
        ticks.over(elapsed)
    }

    fn find_targets(&mut self) {
        let pids = self.targets.iter().flat_map(|place| match place {
            Place::Process(pid) => vec![*pid],
            Place::Port(port) => holders(*port).unwrap_or_default(),
            Place::Cgroup(_) | Place::Metrics(_) => Vec::new(),
        });
        let roots = pids.filter_map(|pid| Some(process::read(pid)?.id));
        self.roots = roots.collect();
    }

    fn note_all(&mut self) {
        // Without /proc there is nothing to tell.
        if let Ok(all) = process::all() {
            self.note(&all);
        }
    }

    fn note(&mut self, all: &[Process]) {
        let own = std::process::id();
        let own = all.iter().map(|process| process.id).filter(|id| id.pid == own);
        let roots: Vec<_> = own
            .chain(self.roots.iter().copied())
            .chain(self.found.iter().copied())
            .collect();
        let left_out: HashSet<_> = process::tree(&roots, all).iter().map(|it| it.id).collect();
        let mut before = std::mem::take(&mut self.seen);
        for process in all.iter().take(MAX_PROCESSES) {
            let known = before.remove(&process.id);
            // What a process used before the first look is not of the period.
            let base = match &known {
                Some(seen) => seen.cpu_ticks,
                None if self.is_complete => 0,
                None => process.cpu_ticks,
            };
            let used = process.cpu_ticks.saturating_sub(base);
            let mut seen = Seen {
                cpu_ticks: process.cpu_ticks,
                ..known.unwrap_or_default()
            };
            if left_out.contains(&process.id) {
                seen.used = 0;
            } else if used > 0 {
                self.count(process.id, &mut seen, used);
            }
            self.seen.insert(process.id, seen);
        }
        for seen in before.into_values() {
            self.ended.add(seen.name.as_deref(), seen.used);
        }
        self.is_complete = all.len() <= MAX_PROCESSES;
    }

    /// Counts what a process used, unless it turns out to be a target.
    fn count(&mut self, id: ProcessId, seen: &mut Seen, used: u64) {
        if seen.n_checks < MAX_CHECKS {
            seen.n_checks += 1;
            if self.is_target(id.pid) {
                seen.used = 0;
                self.found.truncate(MAX_FOUND - 1);
                self.found.push(id);
                return;
            }
        }
        seen.used += used;
        if seen.name.is_none() {
            seen.name = process::name(id.pid);
        }
    }

    fn is_target(&self, pid: u32) -> bool {
        self.peers.has(pid) || self.is_in_group(pid)
    }

    /// Whether the process belongs to a control group that is a target.
    fn is_in_group(&self, pid: u32) -> bool {
        let groups = self.targets.iter().filter_map(|place| match place {
            Place::Cgroup(path) => path.to_str(),
            Place::Process(_) | Place::Port(_) | Place::Metrics(_) => None,
        });
        let mut groups = groups.map(|group| group.trim_matches('/')).peekable();
        if groups.peek().is_none() {
            return false;
        }
        let of_process = fs::read_to_string(format!("/proc/{pid}/cgroup")).unwrap_or_default();
        groups.any(|group| is_below(&of_process, group))
    }
}

impl Ticks {
    fn add(&mut self, name: Option<&str>, ticks: u64) {
        if ticks == 0 {
            return;
        }
        let name = name.unwrap_or("a program that has ended");
        let has_room = self.by_name.len() < MAX_NAMES;
        match self.by_name.get_mut(name) {
            Some(sum) => *sum += ticks,
            None if has_room => {
                self.by_name.insert(name.to_owned(), ticks);
            }
            None => self.unnamed += ticks,
        }
    }

    fn over(self, elapsed: Duration) -> OtherPrograms {
        let seconds = elapsed.as_secs_f64();
        if seconds <= 0.0 {
            return OtherPrograms::default();
        }
        let cores = |ticks: u64| ticks as f64 / TICKS_PER_SECOND / seconds;
        let n_ticks = self.by_name.values().sum::<u64>() + self.unnamed;
        let mut by_name: Vec<_> = self.by_name.into_iter().collect();
        // Names in order where the use is equal.
        by_name.sort_by_key(|(_, ticks)| std::cmp::Reverse(*ticks));
        let named = by_name.into_iter().take(MAX_NAMED).map(|(name, ticks)| Program {
            name,
            cores: cores(ticks),
        });
        OtherPrograms {
            cores: cores(n_ticks),
            named: named.collect(),
        }
    }
}

impl OtherPrograms {
    /// Makes this the use in both periods together, which were this long.
    pub(super) fn join(&mut self, own: Duration, later: &Self, others: Duration) {
        let (own, others) = (own.as_secs_f64(), others.as_secs_f64());
        let whole = own + others;
        if whole <= 0.0 {
            return;
        }
        let mut by_name: BTreeMap<&str, f64> = BTreeMap::new();
        for (programs, seconds) in [(&self.named, own), (&later.named, others)] {
            for Program { name, cores } in programs {
                *by_name.entry(name).or_default() += cores * seconds / whole;
            }
        }
        let mut named: Vec<_> = by_name
            .into_iter()
            .map(|(name, cores)| Program {
                name: name.to_owned(),
                cores,
            })
            .collect();
        named.sort_by(|one, other| other.cores.total_cmp(&one.cores));
        named.truncate(MAX_NAMED);
        self.cores = (self.cores * own + later.cores * others) / whole;
        self.named = named;
    }
}

/// Reads at most [`MAX_NAMED`] programs.
fn few<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Program>, D::Error> {
    let mut named = Vec::deserialize(deserializer)?;
    named.truncate(MAX_NAMED);
    Ok(named)
}

/// Whether the text of `/proc/PID/cgroup` names the group of version 2 or one below it.
fn is_below(of_process: &str, group: &str) -> bool {
    let path = of_process.lines().find_map(|line| line.strip_prefix("0::/"));
    // With the mount point of cgroup v2 before it, the group is named by its end.
    path.is_some_and(|path| {
        group.ends_with(path) && !path.is_empty()
            || path
                .strip_prefix(group)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    })
}

#[cfg(test)]
mod tests;
