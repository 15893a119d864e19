//! The resource use of a target during a load run: CPU time, memory, threads, open files, or its own metrics.
//!
//! A [`Target`] is parsed from the command line: a process, a port, a control group or a page of metrics. [`Sampling`]
//! samples all of them once per second, each on a thread of its own, and makes one [`Account`] for each. A [`Watch`] is
//! for callers that need the use between two moments of their own choice. Processes are found and read in `tree`,
//! groups in `cgroup`, pages in `endpoint`; what other programs sample is kept in a [`Ledger`]. Readings are added to a [`Record`], whose memory is bounded.

mod account;
mod cgroup;
mod choice;
mod endpoint;
mod error;
mod exposition;
pub mod figure;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod latest;
mod paced;
mod record;
mod remote;
mod sample;
mod sampler;
mod sampling;
mod sighting;
mod target;
pub(crate) mod tree;

pub use self::{
    account::{Account, Ended},
    cgroup::MEMORY_CURRENT_BYTES,
    choice::MAX_SERIES,
    endpoint::{Fetch, OpenPage},
    error::{CgroupError, WatchError},
    latest::Latest,
    record::Record,
    remote::{Ledger, MAX_REMOTE_ORDERS, Remote, RemoteOrder},
    sample::{Sample, Usage},
    sampling::{MAX_TARGETS, Sampling, SamplingError},
    sighting::{Look, Report, Sighting},
    target::{Page, ParseTargetError, Place, Target},
    tree::{OwnProcess, own_rss_bytes},
};
use self::{
    cgroup::Cgroup,
    tree::{ProcessTree, Root},
};

/// Samples the processes of one target on request.
#[derive(Debug)]
pub struct Watch(Local);

/// A target that can be sampled at any moment.
#[derive(Debug)]
enum Local {
    Tree(ProcessTree),
    Cgroup(Cgroup),
}

impl Watch {
    /// Finds the target at `place`. `None` for a page of metrics, which cannot be sampled at a given moment.
    ///
    /// # Errors
    /// There is no such target.
    pub fn attach(place: &Place) -> Result<Option<Self>, WatchError> {
        let local = match place {
            Place::Process(pid) => Local::Tree(ProcessTree::attach(Root::Process(*pid))?),
            Place::Port(port) => Local::Tree(ProcessTree::attach(Root::Port(*port))?),
            Place::Cgroup(path) => Local::Cgroup(Cgroup::attach(path)?),
            Place::Metrics(_) => return Ok(None),
        };
        Ok(Some(Self(local)))
    }

    /// Takes a sample, in a few milliseconds.
    ///
    /// # Errors
    /// [`WatchError::Ended`] if the target of the watch is gone.
    pub fn sample(&mut self) -> Result<Sample, WatchError> {
        match &mut self.0 {
            Local::Tree(tree) => tree.sample(),
            Local::Cgroup(group) => group.sample(),
        }
    }
}
