//! What the target of a load run costs, beside the load: CPU time, memory, threads, open files, or what it says itself.
//!
//! A [`Target`] is what was typed: a process, a port, a control group or a page of metrics. [`Sampling`] looks at all of
//! them once per second, each on a thread of its own, and comes to one [`Account`] for each. A [`Watch`] is for who
//! wants to know a cost between two moments of its own choice. Processes are found and read in `tree`, groups in
//! `cgroup`, pages in `endpoint`; what is read is added to a [`Record`], whose memory is bounded.

use std::{
    io,
    time::{Duration, Instant},
};

mod cgroup;
mod choice;
mod endpoint;
mod exposition;
pub mod figure;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod latest;
mod paced;
mod record;
mod sampler;
mod sampling;
mod target;
mod tree;

use self::{
    cgroup::Cgroup,
    figure::{Figure, Reading},
    tree::{ProcessTree, Root},
};
pub use self::{
    cgroup::{CgroupError, MEMORY_CURRENT_BYTES},
    choice::MAX_SERIES,
    endpoint::{Fetch, OpenPage},
    latest::Latest,
    record::Record,
    sampler::{Account, Ended},
    sampling::{MAX_TARGETS, Sampling, SamplingError},
    target::{Page, ParseTargetError, Place, Target},
    tree::own_rss_bytes,
};

/// The state of a target's processes at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// When the sample was taken.
    pub taken_at: Instant,
    /// User and system time of all processes that were ever seen in the tree, in nanoseconds and never running
    /// backwards. What a child process spends between the last sample and its end is missed; of threads, and of
    /// control groups, nothing is missed.
    pub cpu: Duration,
    /// Resident memory (`VmRSS`) summed over the processes. Pages shared by forked processes count once
    /// per process, so that a pre-forking server reads higher than what it takes from the machine. Of a control group,
    /// in which each page counts once: anonymous memory and mapped files.
    pub rss_bytes: u64,
    /// Threads of all processes; `None` for a control group without the `pids` controller.
    pub n_threads: Option<u64>,
    /// Open file descriptors of all processes; `None` when they belong to a user whose processes we may not
    /// inspect, and for control groups.
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
    /// Not a control group that can be watched.
    #[error(transparent)]
    Cgroup(#[from] CgroupError),
    /// The page of metrics cannot be had, or is none.
    #[error("no metrics from {url}: {reason}")]
    Page {
        /// Where it should be.
        url: String,
        /// Why not.
        reason: String,
    },
    /// What the watch began with has ended.
    #[error("the target has ended: {reason}")]
    Ended {
        /// How that is known.
        reason: String,
    },
    /// The system does not tell, or gives no thread.
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

/// Looks at the processes of one target whenever it is asked to.
#[derive(Debug)]
pub struct Watch(Local);

/// What can be had at any moment.
#[derive(Debug)]
enum Local {
    Tree(ProcessTree),
    Cgroup(Cgroup),
}

impl Watch {
    /// Finds what is at `place` now; `None` for a page of metrics, which cannot be had at a given moment.
    ///
    /// # Errors
    /// When there is nothing at this place.
    pub fn attach(place: &Place) -> Result<Option<Self>, WatchError> {
        let local = match place {
            Place::Process(pid) => Local::Tree(ProcessTree::attach(Root::Process(*pid))?),
            Place::Port(port) => Local::Tree(ProcessTree::attach(Root::Port(*port))?),
            Place::Cgroup(path) => Local::Cgroup(Cgroup::attach(path)?),
            Place::Metrics(_) => return Ok(None),
        };
        Ok(Some(Self(local)))
    }

    /// Measures now, in a few milliseconds.
    ///
    /// # Errors
    /// [`WatchError::Ended`] when what the watch began with is gone.
    pub fn sample(&mut self) -> Result<Sample, WatchError> {
        match &mut self.0 {
            Local::Tree(tree) => tree.sample(),
            Local::Cgroup(group) => group.sample(),
        }
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
